// Package policy says what a hook sees and what it may say. A hook is a
// further opinion on a question that bursar has answered already (may this
// task start, what may its pod consume, what did it cost), and it can only
// tighten that answer.
//
// A tour:
//
//	night := policy.Func("quiet-hours", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
//		if h := in.Now.Hour(); h >= 22 || h < 6 {
//			return policy.HoldFor(time.Hour, "quiet-hours", "tasks start between 06:00 and 22:00 UTC"), nil
//		}
//		return policy.Pass(), nil
//	})
//	set, err := policy.NewSet(policy.Options{}, policy.Binding{Hook: night})
//	verdict, err := set.Evaluate(ctx, input)
//	if !verdict.Allowed() { ... }
//
// Hooks are written in Go (Func), in CEL (package policy/cel) or in Rego
// (package rego); all three see the same document, Input, which INPUT.md
// describes, and answer with the same Verdict.
//
// Laws:
//
//   - Hooks only tighten. The zero Verdict denies. Deny wins over Hold, Hold
//     over Allow; caps merge by minimum. No order of policies changes a verdict,
//     and no added policy turns a refusal into an admission or raises a cap.
//   - Fail closed. An error, an overrun, a panic, a malformed verdict, an input
//     beyond its bounds and a context that is done all deny, unless a binding
//     says otherwise in so many words.
//   - RecordUsage is never blocked. The money is gone; a hook may warn and label.
//   - A message is for a person: one line, bounded, without control characters.
//     The text of an engine's error is for the operator: it is in Errors alone.
//   - Money is int64 millionths of a US dollar; what was spent is rounded up and
//     what is left is rounded down. There are no floats.
//
// A Set is immutable. A Holder swaps sets atomically and keeps the last good
// one when a reload fails.
//
// What this package does not do: it links no engine, reads no file and keeps
// no state besides the Holder's pointer. The only clock is the deadline of a
// context, which bounds an evaluation and decides nothing else.
package policy

//go:generate go run ../internal/inputgen/cmd/inputgen ..
