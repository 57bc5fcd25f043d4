package controller_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// decision asks a budget with a limit about a task with an estimate, after so
// many dollars were spent.
func decision(t *testing.T, limit, estimate, spent string, change func(*budgetv1alpha1.TaskBudgetSpec)) *budget.Decision {
	t.Helper()
	quantity := resource.MustParse(limit)
	tb := &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "daily"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{}, Period: budgetv1alpha1.Period{Type: "Daily"}, MaxCostUSD: &quantity,
		},
	}
	if change != nil {
		change(&tb.Spec)
	}
	rule, _ := budget.Compile(tb)
	record, err := usage.RecordUsage(usage.Completion{
		Task: usage.Task{UID: "old", Namespace: "team"}, Phase: usage.Succeeded, CompletionTime: noon,
		Results: map[string]string{"cost-usd": spent},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := budget.Admit(budget.Input{
		Task:  budget.Task{UID: "new", Namespace: "team", Estimate: usage.Amounts{usage.CostUSD: usage.MustUSD(estimate)}},
		Rules: []*budget.Rule{rule}, Ledger: usage.History{Records: []usage.Record{record}}, Now: noon,
	})
	return &d
}

func TestCheckMapsADecisionOntoAQueuesStates(t *testing.T) {
	t.Parallel()
	ended := metav1.NewTime(noon.Add(-time.Hour))
	for sentence, c := range map[string]struct {
		decision *budget.Decision
		state    controller.CheckState
		after    time.Duration
	}{
		"there is room":                        {decision(t, "5", "1", "1", nil), controller.CheckReady, 0},
		"the budget is spent":                  {decision(t, "5", "1", "5", nil), controller.CheckRetry, 5 * time.Minute},
		"the estimate exceeds what is left":    {decision(t, "5", "2", "4", nil), controller.CheckRetry, 5 * time.Minute},
		"the estimate exceeds the whole limit": {decision(t, "5", "6", "0", nil), controller.CheckRejected, 0},
		"the limit is zero":                    {decision(t, "0", "0", "0", nil), controller.CheckRejected, 0},
		"the budget's life has ended": {decision(t, "5", "1", "0", func(s *budgetv1alpha1.TaskBudgetSpec) {
			s.Period = budgetv1alpha1.Period{Type: "Lifetime", EndsAt: &ended}
		}), controller.CheckRejected, 0},
		"the budget is faulty": {decision(t, "5", "1", "0", func(s *budgetv1alpha1.TaskBudgetSpec) {
			s.Period.Timezone = "Mars/Olympus"
		}), controller.CheckRetry, 5 * time.Minute},
		"a policy holds off": {&budget.Decision{
			At: noon, RetryAt: noon.Add(90 * time.Second), Policy: &policy.Verdict{Outcome: policy.Hold, RetryAfter: 90 * time.Second},
		}, controller.CheckRetry, 90 * time.Second},
		"a policy denies, and may say something else when figures move": {
			&budget.Decision{At: noon, Policy: &policy.Verdict{Outcome: policy.Deny}}, controller.CheckRetry, 5 * time.Minute,
		},
		"the task is faulty":         {&budget.Decision{Fault: "estimate: negative"}, controller.CheckRejected, 0},
		"the caches have not synced": {&budget.Decision{Fault: controller.ErrNotReady.Error()}, controller.CheckRetry, 5 * time.Minute},
		"nobody has decided":         {&budget.Decision{}, controller.CheckRetry, 5 * time.Minute},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			state, after := controller.Check(c.decision)
			if diff := cmp.Diff([]any{c.state, c.after}, []any{state, after}); diff != "" {
				t.Error(diff, c.decision.Message())
			}
		})
	}
}
