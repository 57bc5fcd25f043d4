package policy

import (
	"context"
	"errors"
	"fmt"
)

// Hook is one policy: a named opinion on a call.
//
// Evaluate must be safe for concurrent use, must not keep or change the input,
// and should heed the context. It may return a verdict beside an error: the
// verdict's reasons and caps count then, and its Allow does not.
type Hook interface {
	// Name of the policy, 1 to 253 bytes, the same for the hook's whole life.
	Name() string
	// Evaluate answers one call.
	Evaluate(ctx context.Context, in *Input) (Verdict, error)
}

// Func makes a hook of a Go function.
func Func(name string, evaluate func(context.Context, *Input) (Verdict, error)) Hook {
	return funcHook{name, evaluate}
}

type funcHook struct {
	name     string
	evaluate func(context.Context, *Input) (Verdict, error)
}

func (f funcHook) Name() string { return f.name }

func (f funcHook) Evaluate(ctx context.Context, in *Input) (Verdict, error) {
	return f.evaluate(ctx, in)
}

// Checked is implemented by hooks that leave Input.Check to the Set that asks
// them, and that are known not to change their input: the engines, Set and
// Holder. Other hooks are given a copy, because a hook that changed its input
// could loosen what the next one says.
type Checked interface {
	Hook
	// EvaluateChecked is Evaluate of an input that Check has accepted.
	EvaluateChecked(ctx context.Context, in *Input) (Verdict, error)
}

// Revisioned is implemented by hooks that can name what they were made from.
type Revisioned interface {
	// Revision changes when the answers may change.
	Revision() string
}

// Binding is a hook and how its answers are taken. Only Hook is required.
type Binding struct {
	Hook Hook `json:"-"`
	// Enforcement of its refusals; the zero value enforces.
	Enforcement Enforcement `json:"enforcement,omitempty"`
	// OnError says what an error does; the zero value denies.
	OnError OnError `json:"onError,omitempty"`
	// Operations the hook is asked about; none means all.
	Operations []Operation `json:"operations,omitempty"`
}

// The codes of refusals that come from this package and the engines.
const (
	CodeDenied        = "denied"           // a hook denied and gave no code
	CodePolicyError   = "policy-error"     // a policy failed, or panicked
	CodePolicyCost    = "policy-cost"      // a policy exceeded its cost or steps
	CodePolicyTimeout = "policy-timeout"   // the deadline passed or the call was cancelled
	CodeBadResult     = "bad-result"       // a policy answered with something malformed
	CodeInputTooLarge = "input-too-large"  // the input exceeds a bound
	CodeInvalidInput  = "invalid-input"    // the input is incomplete or contradicts itself
	CodeNotReady      = "policy-not-ready" // no set of policies was ever loaded
	CodeStale         = "policy-stale"     // the set is older than the host tolerates
)

// Fault is an error of a policy with the code that it is reported under.
type Fault struct {
	Code string // one of the codes above
	Rule string // the rule, where the policy has named rules
	Err  error  // what happened, for the operator
}

// Error names the rule and what happened.
func (f *Fault) Error() string {
	if f.Rule == "" {
		return f.Err.Error()
	}
	return fmt.Sprintf("rule %s: %v", f.Rule, f.Err)
}

// Unwrap returns what happened.
func (f *Fault) Unwrap() error { return f.Err }

// faultsOf takes an error apart into its faults. Joined errors are one each;
// an error that is no Fault gets its code from what it wraps.
func faultsOf(err error) []*Fault {
	//nolint:errorlint // the fault itself: of one that is wrapped, the text around it is kept, below
	if f, ok := err.(*Fault); ok {
		return []*Fault{f}
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 1 {
		var all []*Fault
		for _, e := range joined.Unwrap() {
			all = append(all, faultsOf(e)...)
		}
		return all
	}
	var f *Fault
	switch {
	case errors.As(err, &f):
		return []*Fault{{Code: f.Code, Rule: f.Rule, Err: err}}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return []*Fault{{Code: CodePolicyTimeout, Err: err}}
	}
	return []*Fault{{Code: CodePolicyError, Err: err}}
}
