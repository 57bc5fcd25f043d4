package budget_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// engine stands for one that compiles rules: each denies where its expression
// is the text "true".
func engine(name string, rules []policy.Rule) (policy.Hook, error) {
	var faults policy.LoadErrors
	for i, r := range rules {
		if r.When != "true" && r.When != "false" {
			faults = append(faults, policy.LoadError{Path: fmt.Sprintf("rules[%d].when", i), Line: 1, Column: 5, Rule: r.Name, Text: "no such thing"})
		}
	}
	return policy.Func(name, func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		v := policy.Pass()
		for _, r := range rules {
			if r.When == "true" && r.Match.Matches(in) {
				v.Outcome = policy.Deny
				v.Reasons = append(v.Reasons, policy.Reason{Code: r.Name, Message: r.Message + " in " + in.Budget.Name})
			}
		}
		return v, nil
	}), faults.Err()
}

// denying is a rule that the engine understands.
func denying(when string) budgetv1alpha1.PolicyRule {
	return budgetv1alpha1.PolicyRule{Name: "owner", When: when, Effect: "deny", Message: "no owner"}
}

func withPolicies(rules ...budgetv1alpha1.PolicyRule) *budgetv1alpha1.TaskBudget {
	return daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.Policies = rules })
}

func TestCompileRefusesPolicies(t *testing.T) {
	type rule = budgetv1alpha1.PolicyRule
	broken := func(string, []policy.Rule) (policy.Hook, error) { return nil, errors.New("out of order") }
	strange := func(string, []policy.Rule) (policy.Hook, error) {
		return nil, policy.LoadErrors{{Path: "params", Text: "who knows"}, {Path: "rules[7].when", Text: "far away"}, {Path: "rules[0].match.models", Text: "odd"}}
	}
	nothing := func(string, []policy.Rule) (policy.Hook, error) { return nil, nil }
	panics := func(string, []policy.Rule) (policy.Hook, error) { panic("x") }
	nameless := func(string, []policy.Rule) (policy.Hook, error) { return policy.Func("", nil), nil }
	good := denying("true")
	many := make([]rule, 33)
	for sentence, c := range map[string]struct {
		compile policy.RuleCompiler
		rules   []rule
		want    []string
	}{
		"no compiler": {
			rules: []rule{good}, want: []string{"spec.policies: Forbidden: policies are not enabled here: no compiler was given (see budget.WithPolicies)"},
		},
		"no compiler, and a shape that is wrong": {
			rules: []rule{{Name: "A b", Effect: "allow"}},
			want: []string{
				"spec.policies: Forbidden: policies are not enabled here",
				`spec.policies[0].name: Invalid value: "A b": "A b": want 1 to 63 of a-z, 0-9 and -`,
				`spec.policies[0].effect: Invalid value: "allow": "allow" is not one of deny, hold, warn, cap, label`,
				"spec.policies[0].when: Required value: is required",
			},
		},
		"an expression, with its place": {
			compile: engine, rules: []rule{good, {Name: "bad", When: "nope", Effect: "warn", Message: "m"}},
			want: []string{`spec.policies[1].when: Invalid value: "nope": 1:5: no such thing`},
		},
		"a name that is taken, and fields that do not belong": {
			compile: engine, rules: []rule{good, {Name: "owner", When: "true", Effect: "cap", Message: "m", Key: "k", Code: "c"}},
			want: []string{
				`spec.policies[1].code: Invalid value: "c": does not belong to the effect cap`,
				`spec.policies[1].message: Invalid value: "m": does not belong to the effect cap`,
				"spec.policies[1].field: Required value: is required for the effect cap",
				`spec.policies[1].key: Invalid value: "k": does not belong to the effect cap`,
				"spec.policies[1].value: Required value: is required for the effect cap",
				`spec.policies[1].name: Invalid value: "owner": is given twice`,
			},
		},
		"texts of every effect": {
			compile: engine, rules: []rule{
				{Name: "a", When: "true", Effect: "hold", Message: strings.Repeat("m", 2000), MessageExpression: "x", RetryAfterSeconds: "1", Code: "A"},
				{Name: "b", When: "true", Effect: "cap", Field: "maxWishes", Value: "1", RetryAfterSeconds: "5", MessageExpression: "y"},
				{Name: "c", When: "true", Effect: "label", Key: "-", Value: "2", Field: "f"},
				{Name: "d", When: "true", Effect: "deny", Message: "m", Value: "3"},
			},
			want: []string{
				"spec.policies[0].message: Invalid value:", "spec.policies[0].code: Invalid value:", "spec.policies[0].message: Invalid value:",
				"spec.policies[1].messageExpression: Invalid value:", "spec.policies[1].retryAfterSeconds: Invalid value:",
				`spec.policies[1].field: Invalid value: "maxWishes"`, "spec.policies[2].field: Invalid value:", `spec.policies[2].key: Invalid value: "-"`,
				`spec.policies[3].value: Invalid value: "3": does not belong to the effect deny`,
			},
		},
		"a match that is none": {
			compile: engine, rules: []rule{{
				Name: "a", When: "true", Effect: "deny", Message: "m",
				Match: &budgetv1alpha1.PolicyMatch{Operations: []budgetv1alpha1.PolicyOperation{"Start"}, Models: []string{"a*b"}},
			}},
			want: []string{`spec.policies[0].match.operations: Invalid value: "a": "Start" is not an operation`, "spec.policies[0].match.models: Invalid value:"},
		},
		"too many":                             {compile: engine, rules: many, want: []string{"spec.policies: Too many: 33: must have at most 32 items"}},
		"an engine that fails":                 {compile: broken, rules: []rule{good}, want: []string{"spec.policies: Forbidden: out of order"}},
		"an engine that gives nothing":         {compile: nothing, rules: []rule{good}, want: []string{"spec.policies: Forbidden: they cannot be compiled"}},
		"an engine that panics":                {compile: panics, rules: []rule{good}, want: []string{"spec.policies: Forbidden: they cannot be compiled: x"}},
		"an engine that gives a nameless hook": {compile: nameless, rules: []rule{good}, want: []string{"spec.policies: Forbidden: policy set"}},
		"an engine that speaks of other places": {compile: strange, rules: []rule{good}, want: []string{
			"spec.policies: Forbidden: params: who knows", "spec.policies: Forbidden: rules[7].when: far away", `spec.policies[0].match.models: Invalid value: "owner": odd`,
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			tb := withPolicies(c.rules...)
			rule, faults := budget.Compile(tb, budget.WithPolicies(c.compile), nil)
			if len(faults) != len(c.want) {
				t.Errorf("%d faults, want %d", len(faults), len(c.want))
			}
			for i, fault := range faults {
				if i < len(c.want) && !strings.HasPrefix(fault.Error(), c.want[i]) {
					t.Errorf("fault %d: %s\nwant %s", i, fault, c.want[i])
				}
			}
			if rule.Fault() == nil || rule.Fault().Reason != budget.ReasonInvalidPolicy || rule.HasPolicies() {
				t.Errorf("the rule has fault %v", rule.Fault())
			}
			in := ask("new", rule)
			in.Ledger = usage.NewMemory()
			var r budget.Reviewer
			for _, d := range []budget.Decision{
				budget.Admit(in), r.Admit(t.Context(), in, budget.Subject{}),
				r.Reserve(t.Context(), usage.NewMemory(), in, budget.Subject{}, time.Hour),
			} {
				if d.Allowed || d.Reason() != budget.ReasonBudgetDegraded || !strings.Contains(d.Message(), "cannot be evaluated (InvalidPolicy)") {
					t.Error(d.Explain())
				}
			}
			if v := r.Pod(t.Context(), in, budget.Subject{}); v.Allowed() || v.Reasons[0].Code != budget.CodeBudgetDegraded {
				t.Errorf("a pod under a budget with a fault: %+v", v)
			}
		})
	}
}

func TestPoliciesOfABudgetAreAsked(t *testing.T) {
	other := daily(nil)
	other.Name = "another"
	rule, faults := budget.Compile(withPolicies(denying("true")), budget.WithPolicies(engine))
	if len(faults) > 0 || !rule.HasPolicies() {
		t.Fatal(faults.ToAggregate())
	}
	in := ask("new", rule, compiled(t, other))
	memory := usage.NewMemory()
	in.Ledger = memory
	var r budget.Reviewer
	for _, d := range []budget.Decision{
		r.Admit(t.Context(), in, budget.Subject{}),
		r.Reserve(t.Context(), memory, in, budget.Subject{}, time.Hour),
	} {
		want := "TaskBudget team-a/daily denies: no owner in daily (owner)"
		if d.Allowed || d.Reason() != budget.ReasonPolicyDenied || d.Message() != want {
			t.Error(d.Explain())
		}
	}
	in.Task.Namespace = "team-b" // it is for no task of another namespace
	if d := r.Admit(t.Context(), in, budget.Subject{}); !d.Allowed || d.Policy != nil {
		t.Error(d.Explain())
	}
}

func TestPoliciesOfABudgetThatWarnsWarn(t *testing.T) {
	tb := withPolicies(denying("true"))
	tb.Spec.Action = "Warn"
	rule, faults := budget.Compile(tb, budget.WithPolicies(engine))
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	in := ask("new", rule)
	in.Ledger = usage.NewMemory()
	d := new(budget.Reviewer).Admit(t.Context(), in, budget.Subject{})
	if diff := cmp.Diff([]string{"TaskBudget team-a/daily warns: no owner in daily (owner)"}, d.Warnings); diff != "" || !d.Allowed || d.Action != "Warn" {
		t.Errorf("%s (-want +got):\n%s", d.Explain(), diff)
	}
}

// Admit and Reserve can ask nobody, so that a budget with policies refuses
// there: what is not asked must not allow.
func TestPoliciesThatNobodyAsksRefuse(t *testing.T) {
	rule, faults := budget.Compile(withPolicies(denying("false")), budget.WithPolicies(engine))
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	in := ask("new", rule)
	memory := usage.NewMemory()
	in.Ledger = memory
	for _, d := range []budget.Decision{budget.Admit(in), budget.Reserve(memory, in, time.Hour)} {
		if d.Allowed || d.Reason() != budget.ReasonBudgetDegraded || !d.RetryAt.IsZero() ||
			d.Message() != "TaskBudget team-a/daily cannot be evaluated (PolicyNotAsked): spec.policies is not asked here: a Reviewer asks it, Admit and Reserve do not" ||
			d.Refusals()[0].Remedy() != "decide with a Reviewer where budgets have policies" {
			t.Error(d.Explain())
		}
	}
	if d := new(budget.Reviewer).Reserve(t.Context(), memory, in, budget.Subject{}, time.Hour); !d.Allowed || d.Policy == nil {
		t.Error(d.Explain())
	}
	if seen := budget.Observe(rule, memory, nil, noon); seen.Fault != nil {
		t.Errorf("the budget's own status: %v", seen.Fault)
	}
}

func TestCompileKeepsNoPartOfTheManifest(t *testing.T) {
	tb := withPolicies(denying("true"))
	tb.Spec.Policies[0].Match = &budgetv1alpha1.PolicyMatch{
		Operations: []budgetv1alpha1.PolicyOperation{"Admit"}, Models: []string{"opus*"}, Labels: map[string]string{"team": "x"},
		Namespaces: []string{"team-*"}, Priorities: []string{"low"}, Profiles: []string{"worker"},
	}
	rule, _ := budget.Compile(tb, budget.WithPolicies(engine))
	*tb.Spec.Policies[0].Match = budgetv1alpha1.PolicyMatch{
		Operations: tb.Spec.Policies[0].Match.Operations, Models: tb.Spec.Policies[0].Match.Models, Labels: tb.Spec.Policies[0].Match.Labels,
	}
	tb.Spec.Policies[0].Match.Operations[0], tb.Spec.Policies[0].Match.Models[0], tb.Spec.Policies[0].Match.Labels["team"] = "Renew", "x", "y"
	in := ask("new", rule)
	in.Ledger, in.Task.Labels = usage.NewMemory(), map[string]string{"team": "x"}
	about := budget.Subject{Model: "opus-5", Priority: "low", Pod: policy.Pod{Profile: "worker"}}
	if d := new(budget.Reviewer).Admit(t.Context(), in, about); d.Allowed {
		t.Error(d.Explain())
	}
	about.Priority = "high"
	if d := new(budget.Reviewer).Admit(t.Context(), in, about); !d.Allowed {
		t.Error(d.Explain())
	}
}
