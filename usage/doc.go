// Package usage says what tasks spent: amounts on meters, the record of each
// finished task, the holds of those that run, and the ledger that sums both.
//
// # Tour
//
//   - [Amounts] is an amount per [Meter]: nano-USD for [CostUSD], counts for
//     tokens, seconds and whatever else a host counts. Absent is not zero.
//   - [ParseUSD], [ParseCount] and [ReadResults] read what agents report, and
//     a [PriceList] turns tokens into cost where they report none.
//   - [RecordUsage] makes the [Record] of a finished task, [Correct] one that
//     corrects another. A [Hold] sets amounts aside for a task that runs.
//   - A [Scope] says which records a sum is over, and a [Query] asks for a
//     [Balance]. [Sum] answers by looking at everything, and [History] makes
//     that usable with literals; [Memory] is the [Ledger] that answers without
//     looking at any record.
//
// # Laws
//
// Amounts are integers, are never negative and never overflow: what is finer
// than a nano-USD is rounded up once, when it is read.
//
// What was used in a window is the sum over the records of the namespace whose
// labels at admission match and whose completion lies in the window. How a
// ledger finds that sum never changes it: it depends on the set of records and
// holds, not on their order.
//
// What is not known is a state of its own: the figures of a record say whether
// they were Reported, Priced, only Held, or are Unknown, and no figure is made
// up.
//
// There is one record per UID. It supersedes the hold of its UID, and the same
// record again is nothing new; another one is a conflict, which is reported.
//
// # What it does not do
//
// It decides nothing (package budget does), reads no clock, and knows neither
// clients nor files. It does not store anything: the records themselves are the
// durable form, and a ledger is filled from them, with [Memory.AddAll] at once.
package usage
