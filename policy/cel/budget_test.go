package cel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
	"github.com/bursar-dev/bursar/usage"
)

var monday = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// manifest is a budget as its owner writes it, with one rule of each effect.
const manifest = `
apiVersion: bursar.dev/v1alpha1
kind: TaskBudget
metadata: {namespace: agents, name: platform}
spec:
  taskSelector: {matchLabels: {team: platform}}
  period: {type: Daily}
  maxCostUSD: "10"
  policies:
  - name: opus-share
    match: {models: ["opus*"], operations: [Admit]}
    when: budget.cost.committedPermille >= 800
    effect: deny
    messageExpression: '"opus starts below 80% of " + budget.name + "; used are " + money(budget.cost.used)'
  - name: weekend
    when: now.getDayOfWeek() in [0, 6]
    effect: hold
    message: tasks start on working days
    retryAfterSeconds: "3600"
  - name: no-estimate
    when: "!estimate.costKnown"
    effect: warn
    message: the task has no estimate
  - name: cap-cost
    when: "true"
    effect: cap
    field: maxCostMicros
    value: greatest([1000000, budget.cost.remaining / 4])
  - name: mark
    when: task.model.startsWith("opus")
    effect: label
    key: cost-class
    value: '"dear"'
`

func inline(t testing.TB, text string) (*budget.Rule, error) {
	t.Helper()
	var tb budgetv1alpha1.TaskBudget
	if err := yaml.UnmarshalStrict([]byte(text), &tb); err != nil {
		t.Fatal(err)
	}
	rule, faults := budget.Compile(&tb, budget.WithPolicies(cel.CompileRules))
	if len(faults) > 0 {
		return rule, faults.ToAggregate()
	}
	return rule, nil
}

func TestInlineRulesFromManifestToDecision(t *testing.T) {
	rule, err := inline(t, strings.ReplaceAll(manifest, "greatest([1000000, budget.cost.remaining / 4])", "math.greatest(1000000, budget.cost.remaining / 4)"))
	if err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct {
		model   string
		used    string
		now     time.Time
		est     usage.Amounts
		allowed bool
		reason  string
		message string
		warns   int
		cost    string
		label   string
	}{
		"a cheap model at noon": {
			model: "haiku", used: "8.5", now: monday, est: usage.Amounts{usage.CostUSD: usage.MustUSD("1")},
			allowed: true, message: "Every budget has room.", cost: "1",
		},
		"a dear model with room": {
			model: "opus-5", used: "2", now: monday, est: usage.Amounts{usage.CostUSD: usage.MustUSD("1")},
			allowed: true, message: "Every budget has room.", cost: "2", label: "dear",
		},
		"a dear model at 85%": {
			model: "opus-5", used: "8.5", now: monday, est: usage.Amounts{usage.CostUSD: usage.MustUSD("1")},
			reason:  "PolicyDenied",
			message: "TaskBudget agents/platform denies: opus starts below 80% of platform; used are 8.50 USD (opus-share)",
			cost:    "1", label: "dear",
		},
		"a Sunday": {
			model: "haiku", used: "0", now: monday.Add(-24 * time.Hour), est: usage.Amounts{usage.CostUSD: usage.MustUSD("1")},
			reason: "PolicyHold", message: "TaskBudget agents/platform holds off: tasks start on working days (weekend)", cost: "2.5",
		},
		"a spent budget is no matter of policy": {
			model: "opus-5", used: "10", now: monday, reason: "BudgetExceeded",
			message: "TaskBudget agents/platform: costUSD used 10 reaches the limit 10 (Daily from 00:00 UTC, window ends at 2026-03-03T00:00:00Z)",
		},
		"no estimate": {
			model: "haiku", used: "0", now: monday, allowed: true, message: "Every budget has room.", warns: 1, cost: "2.5",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			memory := usage.NewMemory(rule.Scope())
			record, err := usage.RecordUsage(usage.Completion{
				Task: usage.Task{UID: "old", Namespace: "agents"}, Phase: usage.Succeeded, CompletionTime: c.now,
				Labels: map[string]string{"team": "platform"}, Results: map[string]string{"cost-usd": c.used},
			})
			if err != nil || memory.Add(record) != nil {
				t.Fatal(err)
			}
			d := new(budget.Reviewer).Reserve(t.Context(), memory, budget.Input{
				Task:  budget.Task{UID: "new", Namespace: "agents", Labels: map[string]string{"team": "platform"}, Estimate: c.est},
				Rules: []*budget.Rule{rule}, Now: c.now,
			}, budget.Subject{Model: c.model}, time.Hour)
			if d.Allowed != c.allowed || d.Reason() != c.reason || d.Message() != c.message || len(d.Warnings) != c.warns {
				t.Errorf("%v %q %q, %d warnings\n%s", d.Allowed, d.Reason(), d.Message(), len(d.Warnings), d.Explain())
			}
			cost, capped := d.MaxCostUSD()
			if capped != (c.cost != "") || capped && usage.FormatUSD(cost) != c.cost {
				t.Errorf("capped %v at %s, want %s", capped, usage.FormatUSD(cost), c.cost)
			}
			if d.Policy != nil && d.Policy.Labels["cost-class"] != c.label {
				t.Errorf("labels %v", d.Policy.Labels)
			}
			if d.Reason() == "PolicyHold" && !d.RetryAt.Equal(c.now.Add(time.Hour)) {
				t.Errorf("retry at %s", d.RetryAt)
			}
		})
	}
}

// The same manifest, with one mistake: every fault names its field and place.
func TestInlineRulesAreRefusedWithTheirPlace(t *testing.T) {
	_, err := inline(t, manifest)
	want := `spec.policies[3].value: Invalid value: "greatest([1000000, budget.cost.remaining / 4])": 1:9: undeclared reference to 'greatest'; did you mean math.greatest?`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	for sentence, c := range map[string]struct{ when, want string }{
		"a misspelt field": {`budget.costs.used > 0`, `spec.policies[0].when: Invalid value: "budget.costs.used > 0": 1:7: undefined field 'costs'`},
		"no bool":          {`budget.cost.used`, `spec.policies[0].when: Invalid value: "budget.cost.used": 1:1: must be bool, is int`},
		"a literal":        {`pod.cpuMilli > cpu("500x")`, `spec.policies[0].when: Invalid value: "pod.cpuMilli > cpu(\"500x\")": 1:20:`},
		"half a sentence":  {`task.model ==`, `spec.policies[0].when: Invalid value: "task.model ==": 1:14: Syntax error`},
		"nothing":          {``, `spec.policies[0].when: Required value: is required`},
	} {
		tb := owned(c.when)
		rule, faults := budget.Compile(tb, budget.WithPolicies(cel.CompileRules))
		if len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", sentence, faults, c.want)
		}
		if condition := rule.Degraded(1, monday); condition.Status != metav1.ConditionTrue || condition.Reason != "InvalidPolicy" ||
			!strings.HasPrefix(condition.Message, c.want) {
			t.Errorf("%s: the budget says %+v", sentence, condition)
		}
	}
}

// owned is a budget with one rule that denies.
func owned(when string) *budgetv1alpha1.TaskBudget {
	limit := resource.MustParse("10")
	return &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "agents", Name: "platform"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{}, Period: budgetv1alpha1.Period{Type: "Daily"}, MaxCostUSD: &limit,
			Policies: []budgetv1alpha1.PolicyRule{{Name: "owner", When: when, Effect: "deny", Message: "every task names its owner"}},
		},
	}
}

// A rule that fails while it runs refuses; the task is told no engine's words.
func TestInlineRulesThatFailRefuse(t *testing.T) {
	rule, faults := budget.Compile(owned(`task.name == "odd" && task.labels["owner"] == ""`), budget.WithPolicies(cel.CompileRules))
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	in := budget.Input{Task: budget.Task{UID: types.UID("new"), Namespace: "agents", Name: "odd"}, Rules: []*budget.Rule{rule}, Ledger: usage.NewMemory(), Now: monday}
	d := new(budget.Reviewer).Admit(t.Context(), in, budget.Subject{})
	want := `TaskBudget agents/platform denies: policy "TaskBudget agents/platform" could not be evaluated (policy-error)`
	if d.Allowed || d.Message() != want {
		t.Error(d.Explain())
	}
	if len(d.Policy.Errors) != 1 || !strings.Contains(d.Policy.Errors[0].Message, "no such key: owner") || d.Policy.Errors[0].Rule != "owner" {
		t.Errorf("for the operator: %+v", d.Policy.Errors)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	in.Task.Labels = map[string]string{"owner": "x"}
	if d := new(budget.Reviewer).Admit(gone, in, budget.Subject{}); d.Allowed || d.Policy.Reasons[0].Code != policy.CodePolicyTimeout {
		t.Error(d.Explain())
	}
	if d := new(budget.Reviewer).Admit(t.Context(), in, budget.Subject{}); !d.Allowed {
		t.Error(d.Explain())
	}
}

// In the rules of a budget, budget is that budget, however tight others are.
func TestInBudgetRulesBudgetIsThatBudget(t *testing.T) {
	mine, faults := budget.Compile(owned(`budget.name != "platform" || budget.cost.usedPermille > 0 || budgets.size() != 2`), budget.WithPolicies(cel.CompileRules))
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	limit := resource.MustParse("1")
	tight, faults := budget.Compile(&budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "agents", Name: "a-tight-one"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{}, Period: budgetv1alpha1.Period{Type: "Lifetime"}, MaxCostUSD: &limit,
		},
	})
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	memory := usage.NewMemory()
	record, err := usage.RecordUsage(usage.Completion{
		Task: usage.Task{UID: "old", Namespace: "agents"}, Phase: usage.Succeeded, CompletionTime: monday.Add(-30 * 24 * time.Hour),
		Results: map[string]string{"cost-usd": "0.9"},
	})
	if err != nil || memory.Add(record) != nil {
		t.Fatal(err)
	}
	in := budget.Input{Task: budget.Task{UID: "new", Namespace: "agents"}, Rules: []*budget.Rule{mine, tight}, Ledger: memory, Now: monday}
	if d := new(budget.Reviewer).Admit(t.Context(), in, budget.Subject{}); !d.Allowed {
		t.Error(d.Explain())
	}
	if doc := budget.PolicyInput(policy.Admit, in, budget.Subject{}); doc.Budget.Name != "a-tight-one" {
		t.Errorf("the host's hook sees %q as the tightest", doc.Budget.Name)
	}
}

func TestCompileRulesKeepsTheName(t *testing.T) {
	hook, err := cel.CompileRules("TaskBudget agents/some.name", []policy.Rule{{Name: "r", When: "true", Effect: policy.EffectDeny, Message: "no"}})
	if err != nil || hook.Name() != "TaskBudget agents/some.name" {
		t.Errorf("%v, %v", hook, err)
	}
	if hook, err := cel.CompileRules("x", nil); err == nil || hook != nil {
		t.Errorf("no rules: %v, %v", hook, err)
	}
}

// ExampleCompileRules is a budget with a rule of its own: most of the day's
// money is for cheap models.
func ExampleCompileRules() {
	tb := owned(`task.model.startsWith("opus") && budget.cost.usedPermille >= 800`)
	tb.Spec.Policies[0].Message = "opus starts only while less than 80% of the budget is used"
	rule, faults := budget.Compile(tb, budget.WithPolicies(cel.CompileRules))
	if len(faults) > 0 {
		fmt.Println(faults.ToAggregate())
		return
	}
	var reviewer budget.Reviewer // the host has no policies of its own
	decision := reviewer.Admit(context.Background(), budget.Input{
		Task:  budget.Task{Namespace: "agents", Name: "fix-build"},
		Rules: []*budget.Rule{rule},
		Ledger: usage.History{Records: []usage.Record{{
			Task:           usage.Task{UID: "this-morning", Namespace: "agents"},
			CompletionTime: monday.Add(-time.Hour),
			Usage:          usage.Figures{usage.CostUSD: {Amount: usage.MustUSD("8.50"), Basis: usage.Reported}},
		}}},
		Now: monday,
	}, budget.Subject{Model: "opus-5"})
	fmt.Println(decision.Allowed, decision.Reason())
	fmt.Println(decision.Message())
	// Output:
	// false PolicyDenied
	// TaskBudget agents/platform denies: opus starts only while less than 80% of the budget is used (owner)
}
