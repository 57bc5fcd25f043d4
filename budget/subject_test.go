package budget_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// The whole document, of a task that says everything and two budgets.
func TestPolicyInput(t *testing.T) {
	memory := usage.NewMemory()
	spend(t, memory, "other", "0.2500001")
	groups := daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.MaxCostUSD, s.MaxInputTokens, s.MaxOutputTokens, s.GroupBy = nil, new(int64(500)), new(int64(100)), []string{"user"}
		s.Limits = []budgetv1alpha1.Limit{{Meter: "builds", Max: 9}}
		s.Period, s.Action = budgetv1alpha1.Period{Type: "Sliding", Duration: "1h"}, "Warn"
		s.UnknownUsage = "Ignore"
	})
	groups.Name = "groups"
	in := ask("new", compiled(t, groups), compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.Period.Timezone = "America/Havana"
		s.DefaultEstimate = &budgetv1alpha1.Amounts{OutputTokens: new(int64(40))}
	})))
	in.Ledger = memory
	in.Task.Name, in.Task.Labels = "fix", map[string]string{"user": "u1"}
	in.Task.Estimate = usage.Amounts{usage.CostUSD: 300_000_001}
	about := budget.Subject{
		Kind: "Job", Agent: "coder", Model: "opus", Provider: "acme", Priority: "high", Attempt: 2, RequestedTokens: 9,
		Annotations: map[string]string{"a": "b"}, Actor: policy.Actor{User: "u", Groups: []string{"g"}},
		Pod: policy.Pod{Profile: "worker", CPUMilli: 500}, Facts: map[string]string{"f": "g"}, EstimateSource: "Priced",
	}
	start := time.Date(2026, 3, 7, 5, 0, 0, 0, time.UTC)
	cost := policy.Measure{
		Limit: 1_000_000, Used: 250_001, Remaining: 749_999, UsedPermille: 250, CommittedPermille: 250,
	}
	unlimited := policy.Measure{Limit: policy.NoLimit, Remaining: policy.NoLimit, Unlimited: true}
	unreported := unlimited
	unreported.Uncertain = true
	havana := policy.Budget{
		Name: "daily", Namespace: "team-a", Action: "Block",
		Period: policy.Period{
			Kind: "Daily", Zone: "America/Havana", Bounded: true, StartUnixMs: start.UnixMilli(),
			EndUnixMs: start.Add(24 * time.Hour).UnixMilli(), ElapsedPermille: 979,
		},
		Cost: cost, InputTokens: unreported, OutputTokens: policy.Measure{
			Limit: policy.NoLimit, Remaining: policy.NoLimit, Unlimited: true, Uncertain: true, Used: 40,
		}, Meters: map[string]policy.Measure{},
	}
	sliding := policy.Budget{
		Name: "groups", Namespace: "team-a", Action: "Warn", Scope: "user=u1",
		Period: policy.Period{
			Kind: "Sliding", Bounded: true, StartUnixMs: noon.Add(-time.Hour).UnixMilli(), EndUnixMs: noon.UnixMilli(), ElapsedPermille: 1000,
		},
		Cost: unlimited, InputTokens: policy.Limited(500, 0, 0), OutputTokens: policy.Limited(100, 0, 0),
		Meters: map[string]policy.Measure{"builds": policy.Limited(9, 0, 0)},
	}
	want := policy.Input{
		Version: "v1", Operation: policy.Admit, Now: noon, NowUnixMs: noon.UnixMilli(),
		Task: policy.Task{
			Namespace: "team-a", Name: "fix", UID: "new", Kind: "Job", Agent: "coder", Model: "opus", Provider: "acme", Priority: "high",
			Attempt: 2, RequestedTokens: 9, Labels: map[string]string{"user": "u1"}, Annotations: map[string]string{"a": "b"},
		},
		Actor: about.Actor, Pod: about.Pod, Facts: about.Facts,
		Estimate: policy.Amount{CostMicros: 300_001, OutputTokens: 40, TotalTokens: 40, Known: true, CostKnown: true, TokensKnown: true, Source: "Priced"},
		Budget:   havana, Budgets: []policy.Budget{havana, sliding},
	}
	got := budget.PolicyInput(policy.Admit, in, about)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got.Task.Labels["user"], got.Facts["f"], got.Actor.Groups[0] = "x", "x", "x"
	if in.Task.Labels["user"] != "u1" || about.Facts["f"] != "g" || about.Actor.Groups[0] != "g" {
		t.Error("the document shares memory with what it was made of")
	}
}

func TestEstimateOfAPolicyInput(t *testing.T) {
	withDefault := func(name, cost string) *budget.Rule {
		tb := daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
			s.DefaultEstimate = &budgetv1alpha1.Amounts{CostUSD: quantity(cost)}
		})
		tb.Name = name
		return compiled(t, tb)
	}
	for sentence, c := range map[string]struct {
		task  usage.Amounts
		rules []*budget.Rule
		want  policy.Amount
	}{
		"nothing is known":     {rules: []*budget.Rule{compiled(t, daily(nil))}},
		"a zero is known":      {task: usage.Amounts{usage.CostUSD: 0}, want: policy.Amount{Known: true, CostKnown: true, Source: "Task"}},
		"the greatest default": {rules: []*budget.Rule{withDefault("a", "0.2"), withDefault("b", "0.3"), withDefault("c", "0.1")}, want: policy.Amount{CostMicros: 300_000, Known: true, CostKnown: true, Source: "Default"}},
		"tokens alone say nothing of the cost": {
			task: usage.Amounts{usage.InputTokens: 7},
			want: policy.Amount{InputTokens: 7, TotalTokens: 7, Known: true, TokensKnown: true, Source: "Task"},
		},
		"the task before a default": {
			task: usage.Amounts{usage.CostUSD: 1000}, rules: []*budget.Rule{withDefault("a", "0.2")},
			want: policy.Amount{CostMicros: 1, Known: true, CostKnown: true, Source: "Task"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := ask("new", c.rules...)
			in.Task.Estimate, in.Ledger = c.task, usage.NewMemory()
			if diff := cmp.Diff(c.want, budget.PolicyInput(policy.Admit, in, budget.Subject{}).Estimate); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What nothing is known of is not shown as if it were nothing.
func TestBudgetsThatCannotBeEvaluatedAreNotShown(t *testing.T) {
	bad, _ := budget.Compile(daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.Action, s.Period.Timezone = "Warn", "Mars/Base" }))
	in := ask("new", bad)
	in.Ledger = usage.NewMemory()
	if doc := budget.PolicyInput(policy.Admit, in, budget.Subject{}); len(doc.Budgets) != 0 || doc.Check() != nil {
		t.Errorf("%+v", doc.Budgets)
	}
	if doc := budget.PolicyInput(policy.Admit, budget.Input{}, budget.Subject{}); doc.Check() == nil {
		t.Error("an input without an instant was accepted")
	}
	in = ask("new", compiled(t, daily(nil)))
	in.Ledger = halfBlind{usage.NewMemory()}
	tokens := budget.PolicyInput(policy.Admit, in, budget.Subject{}).Budget.InputTokens
	if !tokens.Unlimited || !tokens.Uncertain {
		t.Errorf("tokens that the ledger cannot sum: %+v", tokens)
	}
}

// halfBlind knows nothing but cost.
type halfBlind struct{ budget.View }

func (h halfBlind) Used(q usage.Query) (usage.Balance, error) {
	if q.Meter != usage.CostUSD {
		return usage.Balance{}, errors.New("not known")
	}
	return h.View.Used(q)
}
