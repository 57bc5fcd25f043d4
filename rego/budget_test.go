package rego_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/rego"
	"github.com/bursar-dev/bursar/usage"
)

const share = `package bursar.share

deny contains {"code": "share", "msg": sprintf("opus starts below %d%% of the budget", [LIMIT])} if {
	input.operation == "Admit"
	input.task.model == "opus"
	input.budget.cost.committedPermille >= LIMIT * 10
}

hold contains {"code": "weekend", "msg": "tasks start on working days", "retryAfterSeconds": 120} if {
	input.operation == "Admit"
	time.weekday(time.parse_rfc3339_ns(input.now)) in {"Saturday", "Sunday"}
}

cap contains {"field": "maxTokens", "value": 1000}

warn contains {"code": "large", "msg": "this was a large task"} if input.usage.costMicros > 1000000
`

func loaded(t *testing.T, text string) *policy.Set {
	t.Helper()
	hooks, err := rego.Load(fstest.MapFS{"share.rego": {Data: []byte(text)}}, rego.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var bindings []policy.Binding
	for _, h := range hooks {
		bindings = append(bindings, policy.Binding{Hook: h})
	}
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, bindings...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A host with a folder of Rego: admissions, a reload, and a record, without a
// cluster.
func TestRegoFromFolderToDecision(t *testing.T) {
	limit := resource.MustParse("10")
	rule, faults := budget.Compile(&budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "agents", Name: "daily"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{}, Period: budgetv1alpha1.Period{Type: "Daily"}, MaxCostUSD: &limit,
		},
	})
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	monday := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var holder policy.Holder
	reviewer, err := budget.NewReviewer(&holder, budget.ReviewerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	memory := usage.NewMemory(rule.Scope())
	reserve := func(uid, model string, now time.Time) budget.Decision {
		return reviewer.Reserve(t.Context(), memory, budget.Input{
			Task: budget.Task{
				UID: types.UID(uid), Namespace: "agents", Name: uid, Estimate: usage.Amounts{usage.CostUSD: usage.MustUSD("4")},
			},
			Rules: []*budget.Rule{rule}, Now: now,
		}, budget.Subject{Model: model}, time.Hour)
	}
	check := func(d budget.Decision, allowed bool, reason, message string) {
		t.Helper()
		if d.Allowed != allowed || d.Reason() != reason || d.Message() != message {
			t.Errorf("%s", d.Explain())
		}
	}
	check(reserve("a", "opus", monday), false, "PolicyDenied", "Policy policies denies: policies are not loaded yet (policy-not-ready)")
	load := func(text string) {
		t.Helper()
		if err := holder.Store(loaded(t, text), monday); err != nil {
			t.Fatal(err)
		}
	}
	load(strings.ReplaceAll(share, "LIMIT", "40"))
	first := reserve("a", "opus", monday)
	check(first, true, "", "Every budget has room.")
	if tokens, capped := first.MaxTokens(); tokens != 1000 || !capped {
		t.Errorf("cap %d, %v", tokens, capped)
	}
	check(reserve("b", "opus", monday), false, "PolicyDenied", "Policy share denies: opus starts below 40% of the budget (share)")
	load(strings.ReplaceAll(share, "LIMIT", "80")) // the folder is swapped while tasks wait
	check(reserve("b", "opus", monday), true, "", "Every budget has room.")
	check(reserve("c", "haiku", monday), false, "BudgetExceeded",
		"TaskBudget agents/daily: costUSD used 0 + held 8 + estimate 4 exceeds the limit 10 (Daily from 00:00 UTC, window ends at 2026-03-03T00:00:00Z)")
	sunday := monday.Add(6 * 24 * time.Hour)
	held := reserve("d", "haiku", sunday)
	check(held, false, "PolicyHold", "Policy share holds off: tasks start on working days (weekend)")
	if held.RequeueAfter() != 2*time.Minute {
		t.Errorf("asked again after %s", held.RequeueAfter())
	}
	record, err := usage.RecordUsage(usage.Completion{
		Task: usage.Task{UID: "a", Namespace: "agents", Model: "opus"}, Phase: usage.Succeeded, CompletionTime: monday,
		Results: map[string]string{"cost-usd": "1.5"}, Hold: first.Hold,
	})
	if err != nil {
		t.Fatal(err)
	}
	v := reviewer.Record(t.Context(), record, budget.Input{Rules: []*budget.Rule{rule}, Ledger: memory}, budget.Subject{})
	if !v.Allowed() || len(v.Warnings) != 1 || v.Warnings[0].Code != "large" {
		t.Errorf("%+v", v)
	}
}
