package budget_test

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// teamBudget gives the tasks of team "platform" ten dollars for each day in
// Havana.
func teamBudget() *budgetv1alpha1.TaskBudget {
	return &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "agents", Name: "platform-daily"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "platform"}},
			Period:       budgetv1alpha1.Period{Type: "Daily", Timezone: "America/Havana"},
			MaxCostUSD:   new(resource.MustParse("10")),
		},
	}
}

func ExampleCompile() {
	tb := teamBudget()
	tb.Spec.Period.Timezone = "America/Havanna"
	tb.Spec.Thresholds = []int32{80, 120}
	rule, faults := budget.Compile(tb)
	for _, fault := range faults {
		fmt.Println(fault.Field)
	}
	fmt.Println("a rule all the same:", rule.Name(), rule.Fault().Reason)
	// Output:
	// spec.period.timezone
	// spec.thresholds[1]
	// a rule all the same: agents/platform-daily InvalidPeriod
}

// The state of the world is stated as literals, and no part of it is faked.
func ExampleAdmit() {
	rule, _ := budget.Compile(teamBudget())
	team := map[string]string{"team": "platform"}
	decision := budget.Admit(budget.Input{
		Task: budget.Task{
			Namespace: "agents", Name: "fix-build", Labels: team,
			Estimate: usage.Amounts{usage.CostUSD: usage.MustUSD("2.50")},
		},
		Rules: []*budget.Rule{rule},
		Ledger: usage.History{Records: []usage.Record{{
			Task:           usage.Task{UID: "yesterday-evening", Namespace: "agents"},
			Labels:         team,
			CompletionTime: time.Date(2026, 3, 8, 4, 30, 0, 0, time.UTC),
			Usage:          usage.Figures{usage.CostUSD: {Amount: usage.MustUSD("8"), Basis: usage.Reported}},
		}}},
		Now: time.Date(2026, 3, 8, 4, 45, 0, 0, time.UTC),
	})
	fmt.Println("allowed:", decision.Allowed)
	fmt.Println(decision.Message())
	fmt.Println("time makes room at", decision.RetryAt.Format(time.RFC3339))
	// Output:
	// allowed: false
	// TaskBudget agents/platform-daily: costUSD used 8 + estimate 2.5 exceeds the limit 10 (Daily from 00:00 America/Havana, window ends at 2026-03-08T05:00:00Z)
	// time makes room at 2026-03-08T05:00:00Z
}

// A task that was admitted holds its estimate until it is recorded, so that the
// next one finds the room taken. What it really spent may be less.
func ExampleReserve() {
	rule, _ := budget.Compile(teamBudget())
	ledger := usage.NewMemory(rule.Scope())
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	team := map[string]string{"team": "platform"}
	start := func(uid types.UID) budget.Decision {
		return budget.Reserve(ledger, budget.Input{
			Task: budget.Task{
				UID: uid, Namespace: "agents", Labels: team,
				Estimate: usage.Amounts{usage.CostUSD: usage.MustUSD("6")},
			},
			Rules: []*budget.Rule{rule},
			Now:   now,
		}, 2*time.Hour)
	}

	first := start("a")
	fmt.Println("a:", first.Allowed, "holds", first.Hold.Amounts)
	second := start("b")
	fmt.Println("b:", second.Allowed, second.Message())

	record, err := usage.RecordUsage(usage.Completion{
		Task:           usage.Task{UID: "a", Namespace: "agents", Model: "opus"},
		Phase:          usage.Succeeded,
		CompletionTime: now.Add(20 * time.Minute),
		Results:        map[string]string{"cost-usd": "3.20"},
		Hold:           first.Hold,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := ledger.Add(record); err != nil { // it supersedes the hold
		fmt.Println(err)
		return
	}
	fmt.Println("b:", start("b").Allowed)
	// Output:
	// a: true holds costUSD 6
	// b: false TaskBudget agents/platform-daily: costUSD used 0 + held 6 + estimate 6 exceeds the limit 10 (Daily from 00:00 America/Havana, window ends at 2026-06-16T04:00:00Z)
	// b: true
}

// Policies are asked after the arithmetic, on a snapshot; they can only tighten.
// This one in Go lets opus start below 80% of the budget, and caps what it costs.
// In CEL and Rego it would see the same document.
func ExampleReviewer_Reserve() {
	frugal := policy.Func("frugal", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		if in.Task.Model == "opus" && in.Budget.Cost.CommittedPermille >= 800 {
			return policy.HoldFor(time.Minute, "opus-share", "opus starts below 80% of the budget"), nil
		}
		v := policy.Pass()
		return v, v.Caps.Set("maxCostMicros", in.Budget.Cost.Remaining/2)
	})
	reviewer, err := budget.NewReviewer(frugal, budget.ReviewerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	rule, _ := budget.Compile(teamBudget())
	ledger := usage.NewMemory(rule.Scope())
	start := func(uid types.UID, estimate string) {
		decision := reviewer.Reserve(context.Background(), ledger, budget.Input{
			Task: budget.Task{
				UID: uid, Namespace: "agents", Labels: map[string]string{"team": "platform"},
				Estimate: usage.Amounts{usage.CostUSD: usage.MustUSD(estimate)},
			},
			Rules: []*budget.Rule{rule},
			Now:   time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC),
		}, budget.Subject{Model: "opus"}, 2*time.Hour)
		fmt.Println(decision.Allowed, decision.Reason(), decision.Message())
		if cost, capped := decision.MaxCostUSD(); capped {
			fmt.Println("may cost", usage.FormatUSD(cost), "USD")
		}
	}
	start("a", "8.50")
	start("b", "1")
	// Output:
	// true  Every budget has room.
	// may cost 5 USD
	// false PolicyHold Policy frugal holds off: opus starts below 80% of the budget (opus-share)
}

func ExampleDecision_Explain() {
	rule, _ := budget.Compile(teamBudget())
	decision := budget.Admit(budget.Input{
		Task:   budget.Task{Namespace: "agents", Name: "fix-build", Labels: map[string]string{"team": "platform"}},
		Rules:  []*budget.Rule{rule},
		Ledger: usage.History{},
		Now:    time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC),
	})
	fmt.Print(decision.Explain())
	// Output:
	// Task "agents/fix-build" at 2026-06-15T12:00:00Z: admitted
	//   Every budget has room.
	//
	//   TaskBudget agents/platform-daily has room
	//     Daily from 00:00 America/Havana, window [2026-06-15T04:00:00Z, 2026-06-16T04:00:00Z)
	//       meter  used  held  estimate  limit  remaining  unknown
	//     costUSD     0     0         -     10         10        0
}

// A controller writes the condition only where it changes, and asks again after
// the delay.
func ExampleDecision_SetCondition() {
	tb := teamBudget()
	tb.Spec.MaxCostUSD = new(resource.MustParse("0"))
	rule, _ := budget.Compile(tb)
	decision := budget.Admit(budget.Input{
		Task:   budget.Task{Namespace: "agents", Labels: map[string]string{"team": "platform"}},
		Rules:  []*budget.Rule{rule},
		Ledger: usage.History{},
		Now:    time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC),
	})
	var conditions []metav1.Condition // of the task's status
	fmt.Println("write:", decision.SetCondition(&conditions, 1))
	fmt.Println("write:", decision.SetCondition(&conditions, 1))
	fmt.Println(conditions[0].Type, conditions[0].Status, conditions[0].Reason)
	fmt.Println("ask again after", decision.RequeueAfter())
	// Output:
	// write: true
	// write: false
	// BudgetBlocked True BudgetExceeded
	// ask again after 5m0s
}

func ExampleObserve() {
	tb := teamBudget()
	tb.Spec.Thresholds = []int32{50, 80}
	rule, _ := budget.Compile(tb)
	ledger := usage.NewMemory(rule.Scope())
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	_, err := ledger.Hold(usage.Hold{
		UID: "a", Namespace: "agents", Labels: map[string]string{"team": "platform"},
		Amounts: usage.Amounts{usage.CostUSD: usage.MustUSD("6")}, AdmittedAt: now, ExpiresAt: now.Add(time.Hour),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	seen := budget.Observe(rule, ledger, nil, now)
	news, _ := seen.Fire(nil, time.Time{})
	fmt.Println(seen.Percent, "percent, tell", news)
	// Output:
	// 60 percent, tell [50]
}
