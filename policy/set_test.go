package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
)

func TestSetCombines(t *testing.T) {
	boom := errors.New("boom: secret detail")
	capped := policy.Verdict{Outcome: policy.Allow, Caps: policy.Caps{MaxTokens: new(int64(10)), CPUMilli: new(int64(500))}}
	capped2 := policy.Verdict{Outcome: policy.Allow, Caps: policy.Caps{MaxTokens: new(int64(7))}}
	failed := policy.Failure{Policy: "p", Code: "policy-error", Message: "boom: secret detail"}
	couldNot := func(o policy.Outcome) []policy.Reason {
		return []policy.Reason{{Policy: "p", Code: "policy-error", Message: `policy "p" could not be evaluated`, Outcome: o}}
	}
	bind := func(b policy.Binding, e policy.Enforcement, o policy.OnError) policy.Binding {
		b.Enforcement, b.OnError = e, o
		return b
	}
	no := policy.Refuse("no", "not today")
	tests := map[string]struct {
		bindings []policy.Binding
		want     policy.Verdict
	}{
		"no policies leave the arithmetic alone": {nil, policy.Verdict{Outcome: policy.Allow}},
		"the zero verdict denies": {
			[]policy.Binding{says("p", policy.Verdict{}, nil)},
			policy.Verdict{Reasons: []policy.Reason{{Policy: "p", Code: "denied", Message: "the policy denies and gives no reason"}}},
		},
		"deny wins over hold and allow, and no retry time is promised": {
			[]policy.Binding{says("a", policy.Pass(), nil), says("h", policy.HoldFor(time.Hour, "later", "later"), nil), says("d", no, nil)},
			policy.Verdict{Reasons: []policy.Reason{
				{Policy: "d", Code: "no", Message: "not today"},
				{Policy: "h", Code: "later", Message: "later", Outcome: policy.Hold},
			}},
		},
		"the longest hold counts": {
			[]policy.Binding{says("h", policy.HoldFor(time.Hour, "x", "x"), nil), says("i", policy.HoldFor(time.Minute, "y", "y"), nil)},
			policy.Verdict{Outcome: policy.Hold, RetryAfter: time.Hour, Reasons: []policy.Reason{
				{Policy: "h", Code: "x", Message: "x", Outcome: policy.Hold},
				{Policy: "i", Code: "y", Message: "y", Outcome: policy.Hold},
			}},
		},
		"caps merge by minimum": {
			[]policy.Binding{says("a", capped, nil), says("b", capped2, nil)},
			policy.Verdict{Outcome: policy.Allow, Caps: policy.Caps{MaxTokens: new(int64(7)), CPUMilli: new(int64(500))}},
		},
		"an error denies and its text is for the operator": {
			[]policy.Binding{says("p", policy.Pass(), boom)},
			policy.Verdict{Reasons: couldNot(policy.Deny), Errors: []policy.Failure{failed}},
		},
		"an error warns when the binding says so": {
			[]policy.Binding{bind(says("p", policy.Verdict{}, boom), policy.Enforce, policy.OnErrorWarn)},
			policy.Verdict{Outcome: policy.Allow, Warnings: couldNot(policy.Allow), Errors: []policy.Failure{failed}},
		},
		"a refusal beside an error counts even if errors only warn": {
			[]policy.Binding{bind(says("p", no, boom), policy.Enforce, policy.OnErrorWarn)},
			policy.Verdict{
				Reasons:  []policy.Reason{{Policy: "p", Code: "no", Message: "not today"}},
				Warnings: couldNot(policy.Allow), Errors: []policy.Failure{failed},
			},
		},
		"a policy in warn mode refuses nothing and caps nothing": {
			[]policy.Binding{bind(says("p", policy.Verdict{Reasons: no.Reasons, Caps: capped.Caps}, nil), policy.Warn, 0)},
			policy.Verdict{Outcome: policy.Allow, Warnings: []policy.Reason{{Policy: "p", Code: "no", Message: "not today", Outcome: policy.Allow}}},
		},
		"a policy in dry run is recorded and does not act": {
			[]policy.Binding{bind(says("p", no, nil), policy.DryRun, 0)},
			policy.Verdict{Outcome: policy.Allow, DryRun: []policy.Reason{{Policy: "p", Code: "no", Message: "not today"}}},
		},
		"a negative cap is a malformed answer": {
			[]policy.Binding{says("p", policy.Verdict{Outcome: policy.Allow, Caps: policy.Caps{MaxTokens: new(int64(-1))}}, nil)},
			policy.Verdict{
				Reasons: []policy.Reason{{Policy: "p", Code: "bad-result", Message: `policy "p" gave a malformed answer`}},
				Errors:  []policy.Failure{{Policy: "p", Code: "bad-result", Message: "cap maxTokens: -1 is negative"}},
			},
		},
		"allow beside a refusing reason is a malformed answer, and the reason counts": {
			[]policy.Binding{says("p", policy.Verdict{Outcome: policy.Allow, Reasons: no.Reasons}, nil)},
			policy.Verdict{
				Reasons: []policy.Reason{
					{Policy: "p", Code: "bad-result", Message: `policy "p" gave a malformed answer`},
					{Policy: "p", Code: "no", Message: "not today"},
				},
				Errors: []policy.Failure{{Policy: "p", Code: "bad-result", Message: `outcome Allow contradicts the reason "no"`}},
			},
		},
		"policies that disagree on a label are reported": {
			[]policy.Binding{
				says("a", policy.Verdict{Outcome: policy.Allow, Labels: map[string]string{"k": "z"}}, nil),
				says("b", policy.Verdict{Outcome: policy.Allow, Labels: map[string]string{"k": "y"}}, nil),
				says("c", policy.Verdict{Outcome: policy.Allow, Labels: map[string]string{"k": "z"}}, nil),
			},
			policy.Verdict{
				Outcome: policy.Allow, Labels: map[string]string{"k": "y"},
				Warnings: []policy.Reason{{Policy: "policies", Code: "label-conflict", Message: "policies disagree on the label k", Outcome: policy.Allow}},
			},
		},
		"a bad label is a malformed answer": {
			[]policy.Binding{says("p", policy.Verdict{Outcome: policy.Allow, Labels: map[string]string{"z": "", "a b": "", "b c": ""}}, nil)},
			policy.Verdict{
				Reasons: []policy.Reason{{Policy: "p", Code: "bad-result", Message: `policy "p" gave a malformed answer`}},
				Errors:  []policy.Failure{{Policy: "p", Code: "bad-result", Message: `label "a b": "" is not a valid label`}},
			},
		},
		"too many labels are a malformed answer": {
			[]policy.Binding{says("p", policy.Verdict{Outcome: policy.Allow, Labels: members[string](17)}, nil)},
			policy.Verdict{
				Reasons: []policy.Reason{{Policy: "p", Code: "bad-result", Message: `policy "p" gave a malformed answer`}},
				Errors:  []policy.Failure{{Policy: "p", Code: "bad-result", Message: "17 labels, at most 16 are allowed"}},
			},
		},
		"a message is one clean line": {
			[]policy.Binding{says("p", policy.Refuse("Not A Code", "a\nb\x1b[31m\u202ec"), nil)},
			policy.Verdict{Reasons: []policy.Reason{{Policy: "p", Code: "denied", Message: "a b [31mc"}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, evaluate(t, base(), test.bindings...)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPanickingHookDenies(t *testing.T) {
	v := evaluate(t, base(), policy.Binding{Hook: policy.Func("p", func(context.Context, *policy.Input) (policy.Verdict, error) {
		panic("no index")
	})})
	if v.Allowed() || v.Errors[0].Message != "panic: no index" {
		t.Errorf("got %+v", v)
	}
}

func TestAHookCannotChangeWhatTheNextOneSees(t *testing.T) {
	in := base()
	before := in.Clone()
	meddler := policy.Func("a-meddler", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		in.Task.Labels["team"], in.Task.Model, in.Budgets[0].Name = "b", "haiku", "x"
		return policy.Pass(), nil
	})
	guard := policy.Func("b-guard", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		if in.Task.Model == "opus" && in.Task.Labels["team"] == "a" {
			return policy.Refuse("opus", "no opus"), nil
		}
		return policy.Pass(), nil
	})
	if v := evaluate(t, in, policy.Binding{Hook: meddler}, policy.Binding{Hook: guard}); v.Allowed() {
		t.Error("a hook loosened another's answer")
	}
	if diff := cmp.Diff(*before, in); diff != "" {
		t.Errorf("the input changed (-before +after):\n%s", diff)
	}
}

func TestADoneContextNeverAdmits(t *testing.T) {
	set, err := policy.NewSet(policy.Options{}, says("p", policy.Pass(), nil))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := base()
	v, err := set.Evaluate(ctx, &in)
	if !errors.Is(err, context.Canceled) || v.Allowed() || v.Reasons[0].Code != policy.CodePolicyTimeout {
		t.Errorf("got %+v, %v", v, err)
	}
	in.Operation = policy.RecordUsage
	if v, err := set.Evaluate(ctx, &in); err != nil || !v.Allowed() || len(v.Warnings) != 1 {
		t.Errorf("recording: got %+v, %v", v, err)
	}
}

func TestAnAnswerAfterTheDeadlineIsRefused(t *testing.T) {
	slow := policy.Func("slow", func(ctx context.Context, _ *policy.Input) (policy.Verdict, error) {
		<-ctx.Done()
		return policy.Pass(), nil
	})
	set, err := policy.NewSet(policy.Options{Timeout: time.Millisecond}, policy.Binding{Hook: slow}, says("z", policy.Pass(), nil))
	if err != nil {
		t.Fatal(err)
	}
	in := base()
	v, err := set.Evaluate(t.Context(), &in)
	if err != nil || v.Allowed() || len(v.Errors) != 2 || v.Errors[0].Code != policy.CodePolicyTimeout {
		t.Errorf("got %+v, %v", v, err)
	}
}

func TestRecordingIsNeverBlocked(t *testing.T) {
	in := base()
	in.Operation = policy.RecordUsage
	v := evaluate(t, in,
		says("deny", policy.Refuse("no", "no"), nil),
		says("fail", policy.Verdict{}, errors.New("x")),
		says("cap", policy.Verdict{Outcome: policy.Allow, Caps: policy.Caps{MaxTokens: new(int64(1))}, Labels: map[string]string{"cost-class": "high"}}, nil))
	if v.Outcome != policy.Allow || len(v.Reasons) != 0 || len(v.Warnings) != 2 || v.Caps != (policy.Caps{}) || v.Labels["cost-class"] != "high" {
		t.Errorf("got %+v", v)
	}
	in.Facts = map[string]string{"x": strings.Repeat("y", 2000)}
	if v := evaluate(t, in); !v.Allowed() || v.Warnings[0].Code != policy.CodeInputTooLarge {
		t.Errorf("too large: got %+v", v)
	}
}

func TestAnOperationThatAHookIsNotAskedAboutIsSkipped(t *testing.T) {
	b := says("p", policy.Refuse("no", "no"), nil)
	b.Operations = []policy.Operation{policy.BuildPod}
	also := b
	also.Hook = says("a", policy.Refuse("no", "no"), nil).Hook
	want := policy.Verdict{Outcome: policy.Allow, Skipped: []policy.Skip{{Policy: "a", Why: "not asked about Admit"}, {Policy: "p", Why: "not asked about Admit"}}}
	if diff := cmp.Diff(want, evaluate(t, base(), b, also)); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
}

func TestAnEmptyConfigurationDeniesOnError(t *testing.T) {
	var b policy.Binding
	if err := json.Unmarshal([]byte(`{}`), &b); err != nil {
		t.Fatal(err)
	}
	b.Hook = says("p", policy.Verdict{}, errors.New("x")).Hook
	if v := evaluate(t, base(), b); v.Outcome != policy.Deny {
		t.Errorf("got %+v", v)
	}
	for _, text := range []string{`{"onError":"ignore"}`, `{"enforcement":"Enforce"}`, `{"enforcement":""}`} {
		if err := json.Unmarshal([]byte(text), &b); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func TestNewSetRefuses(t *testing.T) {
	good := says("p", policy.Pass(), nil)
	tests := map[string]struct {
		options  policy.Options
		bindings []policy.Binding
		want     string
	}{
		"a nil hook":                  {bindings: []policy.Binding{{}}, want: `policy set "policies": hook 0: is nil`},
		"a name twice":                {bindings: []policy.Binding{good, good}, want: `policy set "policies": hook 1: name "p": is taken by another hook`},
		"an empty name":               {bindings: []policy.Binding{says("", policy.Pass(), nil)}, want: `policy set "policies": hook 0: name "": must be one line of 1 to 253 bytes`},
		"an operation of another age": {bindings: []policy.Binding{{Hook: good.Hook, Operations: []policy.Operation{"admit"}}}, want: `policy set "policies": hook 0: p: operation "admit" does not exist`},
		"an enforcement of no name":   {bindings: []policy.Binding{{Hook: good.Hook, Enforcement: 9}}, want: `policy set "policies": hook 0: p: enforcement 9 does not exist`},
		"an onError of no name":       {bindings: []policy.Binding{{Hook: good.Hook, OnError: 9}}, want: `policy set "policies": hook 0: p: onError 9 does not exist`},
		"a nil pointer as a hook":     {bindings: []policy.Binding{{Hook: (*named)(nil)}}, want: `policy set "policies": hook 0: is a *policy_test.named that cannot tell its name: runtime error: invalid memory address or nil pointer dereference`},
		"too many hooks":              {bindings: many(policy.MaxBindings + 1), want: `policy set "policies": 257 hooks, at most 256 are allowed`},
		"a negative timeout":          {options: policy.Options{Timeout: -1}, want: `policy set "policies": timeout -1ns is negative`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := policy.NewSet(test.options, test.bindings...)
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// named is a hook whose name is a field, which a nil pointer has not.
type named struct{ name string }

func (n *named) Name() string { return n.name }

func (*named) Evaluate(context.Context, *policy.Input) (policy.Verdict, error) {
	return policy.Pass(), nil
}

func many(n int) []policy.Binding {
	out := make([]policy.Binding, n)
	for i := range out {
		out[i] = says(strconv.Itoa(i), policy.Pass(), nil)
	}
	return out
}

func TestASetWithinASetKeepsTheNamesOfItsPolicies(t *testing.T) {
	inner, err := policy.NewSet(policy.Options{Name: "inner"}, says("p", policy.Refuse("no", "no"), nil), says("q", policy.Pass(), errors.New("x")),
		policy.Binding{Hook: says("r", policy.Pass(), nil).Hook, Operations: []policy.Operation{policy.Renew}})
	if err != nil {
		t.Fatal(err)
	}
	v := evaluate(t, base(), policy.Binding{Hook: inner})
	if v.Reasons[0].Policy != "inner/p" || v.Errors[0].Policy != "inner/q" || v.Skipped[0].Policy != "inner/r" {
		t.Errorf("got %+v", v)
	}
}

func TestRevisionIgnoresTheOrderAndHeedsTheBinding(t *testing.T) {
	a, b := says("a", policy.Pass(), nil), says("b", policy.Pass(), nil)
	revision := func(bindings ...policy.Binding) string {
		set, err := policy.NewSet(policy.Options{}, bindings...)
		if err != nil {
			t.Fatal(err)
		}
		return set.Revision()
	}
	if revision(a, b) != revision(b, a) {
		t.Error("the order changed the revision")
	}
	warn := b
	warn.Enforcement = policy.Warn
	if revision(a, b) == revision(a, warn) {
		t.Error("the enforcement did not change the revision")
	}
}
