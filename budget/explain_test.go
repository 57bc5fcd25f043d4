package budget_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// TestExplainAWarning: the budget that warns is told in full, once.
func TestExplainAWarning(t *testing.T) {
	d := decide(t, "1.25", daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.Action = "Warn" }))
	want := `Task in "team-a" (uid "new") at 2026-03-08T04:30:00Z: admitted
  No budget refuses.

  TaskBudget team-a/daily warns
    Daily from 00:00 UTC, window [2026-03-08T00:00:00Z, 2026-03-09T00:00:00Z)
      meter  used  held  estimate  limit  remaining  unknown
    costUSD  1.25     0       0.3      1          0        0
    why:    costUSD used 1.25 reaches the limit 1
    remedy: wait, or raise the limit
`
	if diff := cmp.Diff(want, d.Explain()); diff != "" {
		t.Error(diff)
	}
}

// refusal is a decision with every kind of verdict.
func refusal(t *testing.T) budget.Decision {
	t.Helper()
	named := func(name string, change func(*budgetv1alpha1.TaskBudgetSpec)) *budget.Rule {
		tb := daily(change)
		tb.Name = name
		rule, _ := budget.Compile(tb)
		return rule
	}
	in := ask("new",
		named("room", func(s *budgetv1alpha1.TaskBudgetSpec) {
			s.MaxCostUSD, s.MaxOutputTokens = nano(10*usage.USD), new(int64(1000))
			s.UnknownUsage, s.GroupBy = "Ignore", []string{"user"}
		}),
		named("spent", nil),
		named("soft", func(s *budgetv1alpha1.TaskBudgetSpec) {
			s.Action, s.Period = "Warn", budgetv1alpha1.Period{Type: "Sliding", Duration: "24h"}
		}),
		named("degraded", func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.Timezone = "Mars/Base" }),
		named("later", func(s *budgetv1alpha1.TaskBudgetSpec) {
			s.Period = budgetv1alpha1.Period{Type: "Lifetime", StartsAt: &metav1.Time{Time: noon.Add(time.Hour)}}
		}),
	)
	in.Task.Name, in.Task.Labels = "fix-build", map[string]string{"user": "u1"}
	in.Task.Estimate = usage.Amounts{usage.CostUSD: usage.MustUSD("0.3")}
	memory := usage.NewMemory()
	record, err := usage.RecordUsage(usage.Completion{
		Task: usage.Task{UID: "other", Namespace: "team-a"}, Phase: usage.Succeeded, Labels: in.Task.Labels,
		CompletionTime: noon.Add(-time.Hour), Results: map[string]string{"cost-usd": "0.9"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := memory.Add(record); err != nil {
		t.Fatal(err)
	}
	in.Ledger = memory
	return budget.Admit(in)
}

// TestExplain is row C10: a decision tells every matching budget and its figures, those with room, too.
func TestExplain(t *testing.T) {
	d := refusal(t)
	const zone = `spec.period.timezone: Invalid value: "Mars/Base": no zone of the tz database has this name; ` +
		`write one such as "Europe/Berlin" (upper and lower case matter), or leave it out for UTC`
	want := `Task "team-a/fix-build" (uid "new") at 2026-03-08T04:30:00Z: refused
  Time alone never makes room.

  TaskBudget team-a/degraded refuses
    why:    ` + zone + `
    remedy: correct the field of the TaskBudget that the message names

  TaskBudget team-a/later refuses
    Lifetime from 2026-03-08T05:30:00Z, outside its life
    why:    admits nothing yet: its life starts at 2026-03-08T05:30:00Z
    remedy: wait, or move spec.period.startsAt

  TaskBudget team-a/room has room, for "user=u1"
    Daily from 00:00 UTC, window [2026-03-08T00:00:00Z, 2026-03-09T00:00:00Z)
           meter  used  held  estimate  limit  remaining  unknown
         costUSD   0.9     0       0.3     10        9.1        0
    outputTokens     0     0         -   1000       1000        1

  TaskBudget team-a/soft warns
    last 24h, window (2026-03-07T04:30:00Z, 2026-03-08T04:30:00Z]
      meter  used  held  estimate  limit  remaining  unknown
    costUSD   0.9     0       0.3      1        0.1        0
    why:    costUSD used 0.9 + estimate 0.3 exceeds the limit 1
    remedy: wait, or raise the limit

  TaskBudget team-a/spent refuses
    Daily from 00:00 UTC, window [2026-03-08T00:00:00Z, 2026-03-09T00:00:00Z)
      meter  used  held  estimate  limit  remaining  unknown
    costUSD   0.9     0       0.3      1        0.1        0
    why:    costUSD used 0.9 + estimate 0.3 exceeds the limit 1
    remedy: wait, or raise the limit
`
	if diff := cmp.Diff(want, d.Explain()); diff != "" {
		t.Error(diff)
	}
}

// TestExplainForPrograms: JSON says the same as the text, in the same order.
func TestExplainForPrograms(t *testing.T) {
	data, err := json.Marshal(refusal(t))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	budgets, _ := got["budgets"].([]any)
	if len(budgets) != 5 || got["allowed"] != false || got["retryAt"] != nil || got["reason"] != "BudgetExceeded" {
		t.Fatalf("%s", data)
	}
	want := map[string]any{
		"namespace": "team-a", "name": "room", "action": "Block", "admits": true, "group": "user=u1",
		"period": "Daily from 00:00 UTC", "windowStart": "2026-03-08T00:00:00Z", "windowEnd": "2026-03-09T00:00:00Z",
		"used":  map[string]any{"costUSD": "0.9", "outputTokens": 0.0},
		"held":  map[string]any{"costUSD": "0", "outputTokens": 0.0},
		"limit": map[string]any{"costUSD": "10", "outputTokens": 1000.0}, "estimate": map[string]any{"costUSD": "0.3"},
		"remaining": map[string]any{"costUSD": "9.1", "outputTokens": 1000.0}, "unknown": map[string]any{"outputTokens": 1.0},
	}
	if diff := cmp.Diff(want, budgets[2]); diff != "" {
		t.Error(diff)
	}
	if soft, _ := budgets[3].(map[string]any); soft["action"] != "Warn" || soft["why"] == nil || soft["remedy"] == nil {
		t.Errorf("the budget that warns: %v", soft)
	}
	if bad, _ := budgets[0].(map[string]any); bad["degraded"] != "InvalidPeriod" || bad["period"] != nil {
		t.Errorf("the degraded budget: %v", bad)
	}
}

func TestExplainAnAdmission(t *testing.T) {
	memory := usage.NewMemory()
	d := budget.Reserve(memory, ask("new", compiled(t, daily(nil))), time.Hour)
	want := `Task in "team-a" (uid "new") at 2026-03-08T04:30:00Z: admitted
  Every budget has room.

  TaskBudget team-a/daily has room
    Daily from 00:00 UTC, window [2026-03-08T00:00:00Z, 2026-03-09T00:00:00Z)
      meter  used  held  estimate  limit  remaining  unknown
    costUSD     0     0       0.3      1          1        0
`
	if diff := cmp.Diff(want, d.Explain()); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(d)
	var got struct{ HoldUntil time.Time }
	if err != nil || json.Unmarshal(data, &got) != nil || !got.HoldUntil.Equal(noon.Add(time.Hour)) {
		t.Errorf("%s, %v", data, err)
	}
}
