package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
)

// teller is a hook that explains itself as it is told to.
type teller struct {
	policy.Hook
	explain func() (policy.Trace, error)
}

func (t teller) Explain(context.Context, *policy.Input) (policy.Trace, error) { return t.explain() }

// Revision of a teller.
func (teller) Revision() string { return "r1" }

func tells(name string, v policy.Verdict, explain func() (policy.Trace, error)) policy.Binding {
	return policy.Binding{Hook: teller{says(name, v, nil).Hook, explain}}
}

func explained(t *testing.T, in policy.Input, bindings ...policy.Binding) policy.Explanation {
	t.Helper()
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, bindings...)
	if err != nil {
		t.Fatal(err)
	}
	x, err := set.Explain(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestExplainTellsWhoDecidedAndHow(t *testing.T) {
	rules := []policy.RuleTrace{{
		Rule: "ceiling", Source: "p.yaml:3", Effect: "hold", State: "matched", Note: "code later",
		Values: []policy.ValueTrace{{Part: "budget.cost.usedPermille", Value: "500"}},
	}}
	x := explained(t, base(),
		tells("a", policy.HoldFor(time.Hour, "later", "m"), func() (policy.Trace, error) { return policy.Trace{Rules: rules, Cost: 12}, nil }),
		says("b", policy.Pass(), nil),
		policy.Binding{Hook: says("c", policy.Refuse("no", "m"), nil).Hook, Enforcement: policy.Warn},
		says("d", policy.Pass(), nil))
	if want := "Hold: held off by a (later)\n" +
		"  a: Hold (enforce, cost 12), decides\n" +
		"    ceiling matched [hold] p.yaml:3 code later\n" +
		"      budget.cost.usedPermille = 500\n" +
		"  b: Allow (enforce, cost 0)\n" +
		"  c: Deny (warn, cost 0)\n" +
		"  d: Allow (enforce, cost 0)\n"; x.String() != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, x.String()))
	}
	if x.Policies[0].Revision != "r1" {
		t.Errorf("revision: got %q", x.Policies[0].Revision)
	}
}

func TestExplainSurvivesAHookThatCannot(t *testing.T) {
	pass := func(name string, explain func() (policy.Trace, error)) policy.Binding {
		return tells(name, policy.Pass(), explain)
	}
	x := explained(t, base(),
		pass("a", func() (policy.Trace, error) { panic("no\nrules") }),
		pass("b", func() (policy.Trace, error) { return policy.Trace{}, errors.New("late") }),
		says("c", policy.Pass(), errors.New("bad table")))
	var got []string
	for _, p := range x.Policies {
		got = append(got, p.Error)
	}
	if diff := cmp.Diff([]string{"explain: panic: no rules", "late", "bad table"}, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if !strings.Contains(x.String(), "  c: Deny (enforce, cost 0), decides, error: bad table\n") {
		t.Errorf("rendered:\n%s", x.String())
	}
	if x.Why != "denied by c (policy-error)" {
		t.Errorf("got %q", x.Why)
	}
}

func TestExplainOfWhatNoHookWasAsked(t *testing.T) {
	asked := func() (policy.Trace, error) { return policy.Trace{Cost: 1}, nil }
	b := tells("a", policy.Refuse("no", "m"), asked)
	b.Operations = []policy.Operation{policy.BuildPod}
	if x := explained(t, base(), b); x.Why != "allowed: no enforced policy objects" || x.Policies[0].Cost != 0 || x.Policies[0].Outcome != policy.Allow {
		t.Errorf("another operation: got %+v", x)
	}
	in := base()
	in.Now = time.Time{}
	if x := explained(t, in, b); x.Verdict.Outcome != policy.Deny || x.Why != "denied by policies (invalid-input)" || len(x.Policies) != 0 {
		t.Errorf("an invalid input: got %+v", x)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	set, err := policy.NewSet(policy.Options{}, b)
	if err != nil {
		t.Fatal(err)
	}
	in = base()
	if x, err := set.Explain(ctx, &in); !errors.Is(err, context.Canceled) || x.Verdict.Allowed() {
		t.Errorf("a done context: got %+v, %v", x, err)
	}
}
