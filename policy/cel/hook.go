package cel

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/bursar-dev/bursar/policy"
)

// Hook is a compiled policy. It is immutable and safe for concurrent use.
type Hook struct {
	name      string
	revision  string
	rules     []rule
	env       *cel.Env
	variables []*expression
}

// rule is one compiled rule.
type rule struct {
	name, code, message, field, key string
	effect                          policy.Effect
	match                           policy.Match
	when, text, retry, value        *expression
	source                          policy.LoadError
}

var _ interface {
	policy.Checked
	policy.Revisioned
	policy.Explainer
} = (*Hook)(nil)

// Name of the policy.
func (h *Hook) Name() string { return h.name }

// Revision is a hash of the policy's text, parameters and engine.
func (h *Hook) Revision() string { return h.revision }

// expressions lists all expressions of the policy.
func (h *Hook) expressions() []*expression {
	all := append([]*expression(nil), h.variables...)
	for i := range h.rules {
		for _, e := range []*expression{h.rules[i].when, h.rules[i].text, h.rules[i].retry, h.rules[i].value} {
			if e != nil {
				all = append(all, e)
			}
		}
	}
	return all
}

// Evaluate answers one call. The input is checked first and not changed.
func (h *Hook) Evaluate(ctx context.Context, in *policy.Input) (policy.Verdict, error) {
	if err := in.Check(); err != nil {
		return policy.Verdict{}, err
	}
	return h.EvaluateChecked(ctx, in)
}

// EvaluateChecked is Evaluate of an input that Check has accepted. All rules
// are evaluated; the error joins what went wrong in any of them.
func (h *Hook) EvaluateChecked(ctx context.Context, in *policy.Input) (policy.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return policy.Verdict{}, err
	}
	a := activation{in: in, hook: h, ctx: ctx}
	v := policy.Pass()
	var faults []error
	matched := false
	for i := range h.rules {
		r := &h.rules[i]
		if !r.match.Matches(in) {
			continue
		}
		matched = true
		if err := a.apply(r, &v); err != nil {
			faults = append(faults, named(r.name, err))
		}
	}
	if !matched {
		v.Skipped = []policy.Skip{{Policy: h.name, Why: "no rule matches"}}
	}
	if err := ctx.Err(); err != nil {
		return policy.Verdict{}, err
	}
	return v, errors.Join(faults...)
}

// named gives an error the rule that it is of.
func named(rule string, err error) error {
	if f, ok := errors.AsType[*policy.Fault](err); ok {
		return &policy.Fault{Code: f.Code, Rule: rule, Err: f.Err}
	}
	return &policy.Fault{Code: policy.CodePolicyError, Rule: rule, Err: err}
}

// memo is the value of a variable in one evaluation.
type memo struct {
	done  bool
	value ref.Val
	err   error
}

// activation is one evaluation: it resolves names, keeps the values of
// variables and counts the cost.
type activation struct {
	in    *policy.Input
	hook  *Hook
	ctx   context.Context
	spent uint64
	memos []memo
}

// ResolveName finds a root of the document, params or variables.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case "params":
		return paramsObject, true
	case "variables":
		return a, true
	}
	return a.root(name)
}

// Parent is none.
func (a *activation) Parent() interpreter.Activation { return nil }

// variable evaluates a variable once.
func (a *activation) variable(index int) (any, error) {
	if a.memos == nil {
		a.memos = make([]memo, len(a.hook.variables))
	}
	m := &a.memos[index]
	if !m.done {
		m.done = true
		m.value, m.err = a.eval(a.hook.variables[index])
	}
	return m.value, m.err
}

// eval evaluates an expression, under accounting if its cost is not proven.
func (a *activation) eval(e *expression) (ref.Val, error) {
	if !e.guarded {
		v, _, err := e.plain.Eval(a)
		if err != nil {
			return nil, e.fault(err)
		}
		return v, nil
	}
	if err := a.ctx.Err(); err != nil {
		return nil, &policy.Fault{Code: policy.CodePolicyTimeout, Err: err}
	}
	if a.spent >= policyCostLimit {
		return nil, &policy.Fault{Code: policy.CodePolicyCost, Err: fmt.Errorf("the policy's cost is above %d", policyCostLimit)}
	}
	v, details, err := e.tracked.ContextEval(a.ctx, a)
	if cost := details.ActualCost(); cost != nil {
		a.spent += *cost
	} else {
		a.spent += ruleCostLimit
	}
	if err != nil {
		return nil, e.fault(err)
	}
	return v, nil
}

// apply evaluates one rule and adds its effect to the verdict.
func (a *activation) apply(r *rule, v *policy.Verdict) error {
	truth, err := result[types.Bool](a, r.when)
	if err != nil || !bool(truth) {
		return err
	}
	switch r.effect {
	case policy.EffectDeny:
		v.Outcome = policy.Deny
		return a.reason(r, policy.Deny, &v.Reasons)
	case policy.EffectHold:
		v.Outcome = min(v.Outcome, policy.Hold)
		return errors.Join(a.reason(r, policy.Hold, &v.Reasons), a.hold(r, v))
	case policy.EffectWarn:
		return a.reason(r, policy.Allow, &v.Warnings)
	case policy.EffectCap:
		return a.bound(r, v)
	default:
		return a.label(r, v)
	}
}

func (a *activation) bound(r *rule, v *policy.Verdict) error {
	n, err := result[types.Int](a, r.value)
	if err != nil {
		return err
	}
	if err := v.Caps.Set(r.field, int64(n)); err != nil {
		return r.value.badResult("%w", err)
	}
	return nil
}

func (a *activation) hold(r *rule, v *policy.Verdict) error {
	if r.retry == nil {
		return nil
	}
	seconds, err := result[types.Int](a, r.retry)
	if err != nil {
		return err
	}
	if most := types.Int(policy.MaxRetryAfter / time.Second); seconds < 0 || seconds > most {
		return r.retry.badResult("retryAfterSeconds: %d is not between 0 and %d", seconds, most)
	}
	v.RetryAfter = max(v.RetryAfter, time.Duration(seconds)*time.Second)
	return nil
}

func (a *activation) label(r *rule, v *policy.Verdict) error {
	text, err := result[types.String](a, r.value)
	if err != nil {
		return err
	}
	value := string(text)
	if !policy.ValidLabel(r.key, value) {
		return r.value.badResult("label %s: %q is not a valid label value", r.key, short(value))
	}
	if v.Labels == nil {
		v.Labels = map[string]string{}
	}
	if old, taken := v.Labels[r.key]; taken && old != value {
		return r.value.badResult("label %s: two rules set it to %q and %q", r.key, short(old), short(value))
	}
	v.Labels[r.key] = value
	return nil
}

// reason adds a sentence. If its text cannot be made, the sentence counts with
// a text of its own, and the error is reported as well.
func (a *activation) reason(r *rule, outcome policy.Outcome, to *[]policy.Reason) error {
	text, err := r.message, error(nil)
	if r.text != nil {
		var words types.String
		if words, err = result[types.String](a, r.text); err != nil {
			words = types.String("rule " + r.name + " applies")
		}
		text = string(words)
	}
	*to = append(*to, policy.Reason{Code: r.code, Message: text, Outcome: outcome})
	return err
}

// hinted adds advice to an error that authors meet often.
func hinted(err error) error {
	if m := outOfBounds.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%w (test with size(list) > %s first)", err, m[1])
	}
	if strings.Contains(err.Error(), "no such key") {
		return fmt.Errorf("%w (test with \"key\" in map, or read map[?\"key\"].orValue(\"\"))", err)
	}
	return err
}

var outOfBounds = regexp.MustCompile(`index out of bounds: (\d+)$`)
