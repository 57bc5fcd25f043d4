package rego

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/bursar-dev/bursar/policy"
)

// Hook is a compiled policy. It is safe for concurrent use; what it was made
// from never changes.
type Hook struct {
	name     string
	revision string
	sets     []string
	steps    int
	query    oparego.PreparedEvalQuery
	options  []oparego.EvalOption // of every evaluation
	cache    *termCache
	rules    []ruleSource
}

var _ interface {
	policy.Checked
	policy.Revisioned
	policy.Explainer
} = (*Hook)(nil)

// Name of the policy: its package without "bursar", joined by "-".
func (h *Hook) Name() string { return h.name }

// Revision is a hash of all modules, the parameters and the engine.
func (h *Hook) Revision() string { return h.revision }

// Evaluate answers one call. The input is checked first and not changed.
func (h *Hook) Evaluate(ctx context.Context, in *policy.Input) (policy.Verdict, error) {
	if err := in.Check(); err != nil {
		return policy.Verdict{}, err
	}
	return h.EvaluateChecked(ctx, in)
}

// EvaluateChecked is Evaluate of an input that Check has accepted.
func (h *Hook) EvaluateChecked(ctx context.Context, in *policy.Input) (policy.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return policy.Verdict{}, err
	}
	verdict, err := h.answer(in, newBudget(ctx, h.steps))
	if late := ctx.Err(); late != nil && err == nil {
		return policy.Verdict{}, late
	}
	return verdict, err
}

// answer evaluates within a budget and reads the verdict.
func (h *Hook) answer(in *policy.Input, b *budget) (policy.Verdict, error) {
	sets, err := h.evaluate(b.ctx, h.cache.input(in), b)
	if err != nil {
		return policy.Verdict{}, err
	}
	return verdictOf(h.sets, sets)
}

// evaluate answers the sets, in the order of h.sets. A panic of a built-in
// escapes the engine, so it is caught here.
func (h *Hook) evaluate(ctx context.Context, input ast.Value, b *budget, more ...oparego.EvalOption) (sets *ast.Array, err error) {
	defer func() {
		if r := recover(); r != nil {
			sets, err = nil, &policy.Fault{Code: policy.CodePolicyError, Err: fmt.Errorf("panic: %v", r)}
		}
	}()
	options := make([]oparego.EvalOption, 0, 8)
	options = append(append(options, h.options...), oparego.EvalParsedInput(input), oparego.EvalExternalCancel(b))
	options = append(options, more...)
	results, err := h.query.Eval(ctx, options...)
	if fault := b.fault(); fault != nil {
		return nil, fault
	}
	if err != nil {
		return nil, faultOf(err)
	}
	if len(results) != 1 || len(results[0].Expressions) != 1 {
		return nil, &policy.Fault{Code: policy.CodePolicyError, Err: errors.New("the sets of the policy are undefined")}
	}
	term, ok := results[0].Expressions[0].Value.(*ast.Term)
	if !ok {
		return nil, badResult("want the policy's sets, have %T", results[0].Expressions[0].Value)
	}
	array, ok := term.Value.(*ast.Array)
	if !ok || array.Len() != len(h.sets) {
		return nil, badResult("want the policy's sets, have %s", ast.ValueName(term.Value))
	}
	return array, nil
}

// faultOf names the place of an error of evaluation.
func faultOf(err error) error {
	if e, ok := errors.AsType[*topdown.Error](err); ok && e.Location != nil {
		err = at(e.Location, "%s", e.Message)
	}
	return &policy.Fault{Code: policy.CodePolicyError, Err: err}
}

func badResult(format string, args ...any) error {
	return &policy.Fault{Code: policy.CodeBadResult, Err: fmt.Errorf(format, args...)}
}

// budget stops an evaluation after a number of steps, or when its context is
// done. The engine asks before each expression and within built-ins that loop,
// always on one goroutine.
type budget struct {
	ctx   context.Context
	steps int
	left  int
	asked uint64
	text  int // bytes of text that may still be made
	late  error
}

func newBudget(ctx context.Context, steps int) *budget {
	return &budget{ctx: ctx, steps: steps, left: steps, text: maxText}
}

// Cancel stops the evaluation.
func (b *budget) Cancel() { b.left = -1 }

// Cancelled counts a step. It looks at the context every 64 steps.
func (b *budget) Cancelled() bool {
	b.left--
	b.asked++
	if b.asked%64 == 0 && b.late == nil {
		b.late = b.ctx.Err()
	}
	return b.left < 0 || b.late != nil
}

// fault says why the evaluation was stopped; nil if it was not.
func (b *budget) fault() error {
	switch {
	case b.late != nil:
		return &policy.Fault{Code: policy.CodePolicyTimeout, Err: b.late}
	case b.left < 0:
		return &policy.Fault{Code: policy.CodePolicyCost, Err: fmt.Errorf("more than %d steps", b.steps)}
	case b.text <= 0:
		return &policy.Fault{Code: policy.CodePolicyCost, Err: errTooMuchText}
	}
	return nil
}
