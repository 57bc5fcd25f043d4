package cel

import (
	"context"

	"github.com/google/cel-go/common/types"

	"github.com/bursar-dev/bursar/policy"
)

// CompileUntried is Compile of a policy that may fail on the samples, for tests
// of what happens to a task then.
func CompileUntried(p Policy) (*Hook, error) { return compile(p, Options{}, within, nil) }

// Bare returns a function that evaluates the conditions of a hook as bare
// programs of the library, with nothing around them: the floor of benchmarks.
func Bare(h *Hook) func(*policy.Input) bool {
	return func(in *policy.Input) bool {
		a := &activation{in: in, hook: h}
		for i := range h.rules {
			v, _, err := h.rules[i].when.plain.Eval(a)
			if err != nil || v != types.False {
				return false
			}
		}
		return true
	}
}

// Guarded says for each rule whether its condition runs under accounting.
func Guarded(h *Hook) []bool {
	out := make([]bool, len(h.rules))
	for i := range h.rules {
		out[i] = h.rules[i].when.guarded
	}
	return out
}

// Costs returns the computed worst cost of a hook's first condition and its
// actual cost on an input.
func Costs(h *Hook, in *policy.Input) (worst, actual uint64, err error) {
	e := h.rules[0].when
	a := &activation{in: in, hook: h, ctx: context.Background()}
	_, details, err := e.tracked.ContextEval(a.ctx, a)
	if cost := details.ActualCost(); cost != nil {
		actual = *cost
	}
	return e.worst, actual, err
}
