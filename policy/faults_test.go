package policy_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
)

// Every code of a refusal is reached, with a sentence for the person who waits
// and the error's own text for the operator alone.
func TestEveryCodeOfARefusal(t *testing.T) {
	secret := errors.New("index 7 of internal table")
	fault := func(code string) error { return &policy.Fault{Code: code, Rule: "r", Err: secret} }
	tests := map[string]struct {
		err           error
		code, message string
		detail        string
	}{
		"an error":                      {secret, policy.CodePolicyError, `policy "p" could not be evaluated`, secret.Error()},
		"a fault":                       {fault(policy.CodePolicyError), policy.CodePolicyError, `policy "p" could not be evaluated`, secret.Error()},
		"a fault within an error":       {fmt.Errorf("load: %w", fault(policy.CodePolicyCost)), policy.CodePolicyCost, `policy "p" needed more steps than it is allowed`, "load: rule r: " + secret.Error()},
		"the cost":                      {fault(policy.CodePolicyCost), policy.CodePolicyCost, `policy "p" needed more steps than it is allowed`, secret.Error()},
		"the deadline":                  {context.DeadlineExceeded, policy.CodePolicyTimeout, `policy "p" did not answer in time`, "context deadline exceeded"},
		"a call that was cancelled":     {fmt.Errorf("ask: %w", context.Canceled), policy.CodePolicyTimeout, `policy "p" did not answer in time`, "ask: context canceled"},
		"a malformed answer":            {fault(policy.CodeBadResult), policy.CodeBadResult, `policy "p" gave a malformed answer`, secret.Error()},
		"an input that is too large":    {fault(policy.CodeInputTooLarge), policy.CodeInputTooLarge, "the task is described by more data than policies may be shown", secret.Error()},
		"an input that is not valid":    {fault(policy.CodeInvalidInput), policy.CodeInvalidInput, "the task could not be described to the policies", secret.Error()},
		"a code that is none":           {fault("Not A Code"), policy.CodePolicyError, `policy "p" could not be evaluated`, secret.Error()},
		"a holder that is not ready":    {fault(policy.CodeNotReady), policy.CodeNotReady, "policies are not loaded yet", secret.Error()},
		"a holder that is stale":        {fault(policy.CodeStale), policy.CodeStale, "policies could not be reloaded for too long", secret.Error()},
		"a code that only hosts define": {fault("no-such-table"), "no-such-table", `policy "p" could not be evaluated`, secret.Error()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := evaluate(t, base(), says("p", policy.Pass(), test.err))
			if v.Outcome != policy.Deny || len(v.Reasons) != 1 || len(v.Errors) != 1 {
				t.Fatalf("got %+v", v)
			}
			if r := v.Reasons[0]; r.Code != test.code || r.Message != test.message {
				t.Errorf("got %s %q, want %s %q", r.Code, r.Message, test.code, test.message)
			}
			if got := v.Errors[0].Message; got != test.detail {
				t.Errorf("for the operator: got %q, want %q", got, test.detail)
			}
		})
	}
}

func TestAFaultNamesItsRuleAndUnwraps(t *testing.T) {
	inner := errors.New("x")
	for want, f := range map[string]*policy.Fault{"x": {Err: inner}, "rule r: x": {Rule: "r", Err: inner}} {
		if f.Error() != want || !errors.Is(f, inner) {
			t.Errorf("got %q", f.Error())
		}
	}
}

func TestAnAllowBesideAnErrorDoesNotCount(t *testing.T) {
	said := policy.Verdict{Outcome: policy.Allow, Reasons: []policy.Reason{{Code: "no", Message: "m", Outcome: policy.Allow}}}
	v := evaluate(t, base(), policy.Binding{Hook: says("p", said, errors.New("x")).Hook, OnError: policy.OnErrorWarn})
	want := []policy.Reason{{Policy: "p", Code: "no", Message: "m", Outcome: policy.Deny}}
	if diff := cmp.Diff(want, v.Reasons); diff != "" || v.Outcome != policy.Deny {
		t.Errorf("%s, reasons (-want +got):\n%s", v.Outcome, diff)
	}
}

func TestTheErrorsOfAVerdictAreSorted(t *testing.T) {
	v := evaluate(t, base(), says("b", policy.Pass(), errors.New("x")), says("a", policy.Pass(), errors.Join(
		&policy.Fault{Code: "z", Rule: "r", Err: errors.New("y")}, &policy.Fault{Code: "z", Rule: "q", Err: errors.New("y")})))
	want := []policy.Failure{
		{Policy: "a", Rule: "q", Code: "z", Message: "y"}, {Policy: "a", Rule: "r", Code: "z", Message: "y"},
		{Policy: "b", Code: "policy-error", Message: "x"},
	}
	if diff := cmp.Diff(want, v.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestANilSetDenies(t *testing.T) {
	var set *policy.Set
	in := base()
	v, err := set.Evaluate(t.Context(), &in)
	if err != nil || v.Outcome != policy.Deny || v.Reasons[0].Code != policy.CodeNotReady || set.Name() != "policies" || set.Revision() != "" {
		t.Errorf("got %+v, %v", v, err)
	}
	if x, err := set.Explain(t.Context(), &in); err != nil || x.Verdict.Allowed() || len(x.Policies) != 0 {
		t.Errorf("explained: %+v, %v", x, err)
	}
}

// A caller that goes away while a hook is asked gets no admission, whatever the
// hook has said.
func TestACallThatIsCancelledMeanwhileNeverAdmits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hook := policy.Func("p", func(context.Context, *policy.Input) (policy.Verdict, error) {
		cancel()
		return policy.Pass(), nil
	})
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, policy.Binding{Hook: hook, OnError: policy.OnErrorWarn})
	if err != nil {
		t.Fatal(err)
	}
	in := base()
	if v, err := set.Evaluate(ctx, &in); !errors.Is(err, context.Canceled) || v.Outcome != policy.Deny {
		t.Errorf("got %+v, %v", v, err)
	}
}
