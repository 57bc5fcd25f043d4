// Package ledgertest proves that a [usage.Ledger] keeps its promises. Authors of
// a ledger run it from a test of their own:
//
//	func TestLedger(t *testing.T) {
//		ledgertest.Run(t, func() usage.Ledger { return mine.New() })
//	}
//
// [Run] tests each law by itself, and then plays random records, corrections,
// holds and releases while it compares every answer with [usage.Sum] and
// [usage.History]. It asks about random instants, and about those at which
// something turns: the bounds of windows, completions, expiries, each a
// nanosecond earlier and later, too.
//
// What a ledger offers beside the interface is tested where it is offered:
// [Filler], [Remover], [Renewer], [Forgetter] and [Exclusive].
//
// [Property] is the random part alone, for a fuzz target of the author's own.
package ledgertest
