package budget_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// noon is the middle of the worlds' time. It lies in the Havana night whose
// midnight does not exist.
var noon = time.Date(2026, 3, 8, 4, 30, 0, 0, time.UTC)

// world is a random state of affairs: budgets, records, holds and a task.
type world struct {
	budgets []budgetv1alpha1.TaskBudget
	history usage.History
	task    budget.Task
	now     time.Time
}

func (w *world) input(ledger budget.View) budget.Input {
	in := budget.Input{Task: w.task, Ledger: ledger, Now: w.now}
	for i := range w.budgets {
		rule, _ := budget.Compile(&w.budgets[i])
		in.Rules = append(in.Rules, rule)
	}
	return in
}

// newWorld draws a world. Times lie on a coarse grid, so that they often meet.
func newWorld(t *rapid.T) *world {
	w := &world{now: noon.Add(minutes(t, "now", -30, 30))}
	for i := range rapid.IntRange(0, 4).Draw(t, "budgets") {
		w.budgets = append(w.budgets, newBudget(t, i))
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "records") {
		w.history.Records = append(w.history.Records, newRecord(t, i))
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "holds") {
		w.history.Holds = append(w.history.Holds, newHold(t, i))
	}
	if rapid.IntRange(0, 4).Draw(t, "own hold") == 0 {
		own := newHold(t, 0)
		own.UID = "new"
		w.history.Holds = append(w.history.Holds, own)
	}
	w.task = budget.Task{UID: "new", Namespace: "team-a", Labels: newLabels(t), Estimate: newAmounts(t, 4)}
	return w
}

func minutes(t *rapid.T, label string, from, to int) time.Duration {
	return time.Duration(rapid.IntRange(from/15, to/15).Draw(t, label)) * 15 * time.Minute
}

func newLabels(t *rapid.T) map[string]string {
	labels := map[string]string{}
	for key, values := range map[string][]string{"team": {"x", "y"}, "user": {"u1", "u2", ""}} {
		if rapid.Bool().Draw(t, key) {
			labels[key] = rapid.SampledFrom(values).Draw(t, key)
		}
	}
	return labels
}

func newAmounts(t *rapid.T, most int64) usage.Amounts {
	amounts := usage.Amounts{}
	for _, m := range []usage.Meter{usage.CostUSD, usage.InputTokens, "builds"} {
		if rapid.IntRange(0, 3).Draw(t, "known") > 0 {
			amounts[m] = rapid.Int64Range(0, most).Draw(t, string(m))
		}
	}
	return amounts
}

func newRecord(t *rapid.T, i int) usage.Record {
	completed := noon.Add(minutes(t, "completed", -4*24*60, 24*60))
	record, err := usage.RecordUsage(usage.Completion{
		Task:           usage.Task{UID: types.UID(fmt.Sprintf("task-%d", i)), Namespace: namespace(t)},
		Phase:          usage.Succeeded,
		Labels:         newLabels(t),
		StartTime:      completed.Add(-minutes(t, "ran", 0, 120)),
		CompletionTime: completed,
		Reported:       newAmounts(t, 3),
	})
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func namespace(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "namespace") == 0 {
		return "team-b"
	}
	return "team-a"
}

func newHold(t *rapid.T, i int) usage.Hold {
	uid := types.UID(fmt.Sprintf("task-%d", i*4)) // some have a record
	return usage.Hold{
		UID: uid, Namespace: namespace(t), Labels: newLabels(t), Amounts: newAmounts(t, 3),
		AdmittedAt: noon.Add(-minutes(t, "admitted", 0, 600)),
		ExpiresAt:  noon.Add(minutes(t, "expires", -60, 48*60)),
	}
}

func newBudget(t *rapid.T, i int) budgetv1alpha1.TaskBudget {
	tb := budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: fmt.Sprintf("b%d", i)},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: newSelector(t),
			Period:       newPeriod(t),
			Action:       rapid.SampledFrom([]budgetv1alpha1.Action{"", "Block", "Block", "Warn"}).Draw(t, "action"),
			UnknownUsage: rapid.SampledFrom([]budgetv1alpha1.UnknownUsage{"", "ChargeHold", "Block", "Ignore"}).Draw(t, "unknown"),
			GroupBy:      rapid.SampledFrom([][]string{nil, nil, {"user"}, {"team", "user"}}).Draw(t, "groupBy"),
		},
	}
	if rapid.Bool().Draw(t, "cost") {
		tb.Spec.MaxCostUSD = nano(rapid.Int64Range(0, 12).Draw(t, "maxCost"))
	}
	if rapid.Bool().Draw(t, "tokens") || tb.Spec.MaxCostUSD == nil {
		tb.Spec.MaxInputTokens = new(rapid.Int64Range(0, 12).Draw(t, "maxTokens"))
	}
	if rapid.Bool().Draw(t, "others") {
		tb.Spec.Limits = []budgetv1alpha1.Limit{
			{Meter: "tasks", Max: rapid.Int64Range(1, 9).Draw(t, "maxTasks")},
			{Meter: "builds", Max: rapid.Int64Range(1, 12).Draw(t, "maxBuilds")},
		}
	}
	if rapid.Bool().Draw(t, "estimated") {
		tb.Spec.DefaultEstimate = &budgetv1alpha1.Amounts{
			CostUSD:     nano(rapid.Int64Range(0, 3).Draw(t, "costEstimate")),
			InputTokens: new(rapid.Int64Range(0, 3).Draw(t, "tokenEstimate")),
		}
	}
	return tb
}

func nano(n int64) *resource.Quantity {
	q := usage.USDQuantity(n)
	return &q
}

func newSelector(t *rapid.T) *metav1.LabelSelector {
	return rapid.SampledFrom([]*metav1.LabelSelector{
		{},
		{MatchLabels: map[string]string{"team": "x"}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"y"}}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "user", Operator: metav1.LabelSelectorOpExists}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "user", Operator: "Near"}}},
	}[:rapid.SampledFrom([]int{4, 4, 4, 5}).Draw(t, "faulty")]).Draw(t, "selector")
}

func newPeriod(t *rapid.T) budgetv1alpha1.Period {
	at := func(label string) *metav1.Time {
		return &metav1.Time{Time: noon.Add(minutes(t, label, -600, 600))}
	}
	switch kind := rapid.SampledFrom([]string{
		"Hourly", "Daily", "Daily", "Weekly", "Monthly", "Fixed", "Cycle", "Sliding", "Sliding", "FirstUse", "Lifetime",
	}).Draw(t, "kind"); kind {
	case "Fixed", "Sliding", "FirstUse":
		return budgetv1alpha1.Period{Type: kind, Duration: rapid.SampledFrom([]string{"1h", "5h", "30h", "2d"}).Draw(t, "duration")}
	case "Cycle":
		return budgetv1alpha1.Period{Type: kind, Unit: "Day", Timezone: "Africa/Cairo", Anchor: at("anchor")}
	case "Lifetime":
		p := budgetv1alpha1.Period{Type: kind}
		if rapid.Bool().Draw(t, "starts") {
			p.StartsAt = at("startsAt")
		}
		if rapid.Bool().Draw(t, "ends") {
			p.EndsAt = &metav1.Time{Time: noon.Add(11 * time.Hour).Add(minutes(t, "endsAt", 0, 600))}
		}
		return p
	default:
		return budgetv1alpha1.Period{Type: kind, Timezone: rapid.SampledFrom([]string{
			"UTC", "America/Havana", "America/Havana", "Nowhere/Else",
		}[:rapid.SampledFrom([]int{3, 3, 4}).Draw(t, "unknown zone")]).Draw(t, "zone")}
	}
}

// memory enters the history into a ledger in a random order.
func (w *world) memory(t *rapid.T) *usage.Memory {
	memory := usage.NewMemory()
	entries := rapid.Permutation(indexes(len(w.history.Records)+len(w.history.Holds))).Draw(t, "order")
	for _, i := range entries {
		if i < len(w.history.Records) {
			if err := memory.Add(w.history.Records[i]); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := memory.Renew(w.history.Holds[i-len(w.history.Records)]); err != nil {
			t.Fatal(err)
		}
	}
	return memory
}

func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// run checks a property of random worlds.
func run(t *testing.T, property func(*rapid.T, *world)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) { property(t, newWorld(t)) })
}
