// Package budget decides whether a task may start now.
//
// # Tour
//
//   - [Compile] checks a TaskBudget once and gives a [Rule]. It reports every
//     fault with the path of its field, and gives a rule all the same: one that
//     refuses what it matches.
//   - [Admit] takes everything that a decision depends on as an [Input] and
//     gives a [Decision]: allowed or not, a [Verdict] of each matching budget
//     with its figures, and when time alone will make room.
//   - [Reserve] decides and sets the task's estimate aside in one step.
//   - A [Reviewer] does both with policies: those of the host, in Go, CEL or
//     Rego, and those that a TaskBudget carries, which [WithPolicies] compiles.
//     [PolicyInput] is what they see.
//   - A Decision gives the condition, the message and the delay with which a
//     controller answers ([Decision.SetCondition], [Decision.RequeueAfter]), and
//     explains itself as text and as JSON.
//   - [Observe] says how a budget stands, for its status and its thresholds.
//   - [NewTaskRecord], [RecordFrom], [NewTaskHold] and [HoldFrom] turn the values
//     of package usage into stored objects and back.
//
// # Laws
//
// A task is admitted if and only if, for every matching budget that blocks and
// every limit of it, used + held < limit and, where an estimate is known,
// used + held + estimate <= limit. No limit is no limit, and zero refuses
// always. All matching budgets are evaluated, so that the explanation is
// complete; they are sorted by namespace and name.
//
// Every doubt denies. A budget with a fault refuses what it matches, and one
// whose selector can't be compiled might be for any task of its namespace. Usage
// that is not known is not zero: the budget says what becomes of it. The zero
// Decision denies. A budget whose action is Warn only ever warns, also of its own
// faults: who wants a doubt to deny makes it Block.
//
// Policies only tighten. They are asked after the arithmetic, never about what it
// refuses, and outside of the ledger's lock; then the arithmetic decides again.
// Whatever goes wrong with one refuses, and policies that nobody asks do, too.
//
// The same code serves enforcement, explanation, status and simulation over past
// records: only the ledger that it asks differs.
//
// # What it does not do
//
// It reads no clock, knows no client and starts nothing: the adapters of
// budget/controller do. It links no policy engine: the host injects its hooks.
// It does not store holds: whoever admits a task across several processes writes
// the hold first, see package usage.
package budget
