package cel

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"github.com/google/cel-go/parser"

	"github.com/bursar-dev/bursar/policy"
)

// Explain evaluates every rule under full tracing: its state, the values of
// the parts of its condition and its cost. Values of labels, annotations and
// facts are redacted.
func (h *Hook) Explain(ctx context.Context, in *policy.Input) (policy.Trace, error) {
	if err := in.Check(); err != nil {
		return policy.Trace{Policy: h.name}, err
	}
	t := policy.Trace{Policy: h.name, Revision: h.revision}
	v, err := h.EvaluateChecked(ctx, in)
	t.Outcome, t.Caps = v.Outcome, v.Caps
	a := &activation{in: in, hook: h, ctx: ctx}
	for i := range h.rules {
		r := a.trace(&h.rules[i])
		t.Cost += r.Cost
		t.Rules = append(t.Rules, r)
	}
	return t, err
}

// trace evaluates the condition of one rule.
func (a *activation) trace(r *rule) policy.RuleTrace {
	t := policy.RuleTrace{Rule: r.name, Effect: string(r.effect)}
	if r.source.File != "" {
		t.Source = fmt.Sprintf("%s:%d", r.source.File, r.source.Line)
	}
	if !r.match.Matches(a.in) {
		t.State, t.Note = "skipped", "match does not include this call"
		return t
	}
	program, err := a.hook.program(r.when)
	if err != nil {
		t.State, t.Note = "error", err.Error()
		return t
	}
	value, details, err := program.ContextEval(a.ctx, a)
	if details != nil {
		if cost := details.ActualCost(); cost != nil {
			t.Cost = *cost
		}
		t.Values = parts(r.when, details.State())
	}
	switch {
	case err != nil:
		t.State, t.Note = "error", policy.Clean(r.when.fault(err).Error())
	case value == types.True:
		t.State, t.Note = "matched", effectOf(r)
	default:
		t.State = "not matched"
	}
	return t
}

func effectOf(r *rule) string {
	switch r.effect {
	case policy.EffectCap:
		return "caps " + r.field
	case policy.EffectLabel:
		return "labels " + r.key
	default:
		return "code " + r.code
	}
}

// program plans an expression anew with its state recorded.
func (h *Hook) program(e *expression) (cel.Program, error) {
	return h.env.Program(e.checked, cel.EvalOptions(cel.OptTrackState|cel.OptTrackCost), cel.CostTracking(tracker{patternsOf(e.checked.NativeRep())}),
		cel.CostLimit(ruleCostLimit), cel.InterruptCheckFrequency(interruptEvery))
}

// parts lists the values that were looked at: what the document, parameters
// and variables held, and what calls gave.
func parts(e *expression, state interpreter.EvalState) []policy.ValueTrace {
	native := e.checked.NativeRep()
	var out []policy.ValueTrace
	seen := map[string]bool{}
	for _, n := range ast.MatchDescendants(ast.NavigateAST(native), ast.AllMatcher()) {
		value, ok := state.Value(n.ID())
		if !ok || n.Kind() == ast.LiteralKind || n.Kind() == ast.ComprehensionKind || inComprehension(n) {
			continue
		}
		text, err := parser.Unparse(n, native.SourceInfo())
		if err != nil || seen[text] || len(out) == maxParts {
			continue
		}
		seen[text] = true
		out = append(out, policy.ValueTrace{Part: policy.Clean(text), Value: shown(text, value)})
	}
	return out
}

// maxParts bounds what a trace tells of one rule.
const maxParts = 32

func inComprehension(n ast.NavigableExpr) bool {
	for parent, ok := n.Parent(); ok; parent, ok = parent.Parent() {
		if parent.Kind() == ast.ComprehensionKind {
			return true
		}
	}
	return false
}

// shown writes a value; text that comes from labels and the like is redacted.
func shown(part string, value ref.Val) string {
	switch v := value.(type) {
	case types.Bool, types.Int, types.Double, types.Timestamp, types.Duration:
		return policy.Clean(fmt.Sprint(v.Value()))
	case *types.Err:
		return "error: " + policy.Clean(v.String())
	case types.String:
		for _, private := range []string{"labels", "annotations", "facts"} {
			if strings.Contains(part, private) {
				return policy.Redacted
			}
		}
		return policy.Clean(fmt.Sprintf("%q", string(v)))
	}
	return "(" + value.Type().TypeName() + ")"
}
