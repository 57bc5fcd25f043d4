package controller_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

var gold = map[string]string{"team": "gold"}

func TestA5_ABlockedTaskWaitsSaysWhyAndStartsWhenTheBudgetIsRaised(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "1", gold)
	r := w.start(settings{})

	first := w.task("first", "0.6", gold)
	w.awaitRunning("first")
	w.task("second", "0.6", gold)
	condition := w.awaitBlocked("second")
	if condition.Reason != budget.ReasonBudgetExceeded {
		t.Errorf("reason %s", condition.Reason)
	}
	for _, want := range []string{w.namespace + "/daily", "held 0.6", "estimate 0.6", "limit 1"} {
		if !strings.Contains(condition.Message, want) {
			t.Errorf("the message lacks %q: %s", want, condition.Message)
		}
	}
	w.task("other", "5", map[string]string{"team": "silver"})
	w.awaitRunning("other")

	w.raise("daily", "2")
	second := w.awaitRunning("second")
	if len(second.Status.Conditions) != 0 {
		t.Errorf("an admitted task carries conditions: %v", second.Status.Conditions)
	}
	w.finish("first", "0.25")
	record := w.awaitRecord(first)
	if got := record.Spec.Usage.CostUSD.String(); got != "250m" {
		t.Errorf("recorded cost %s", got)
	}
	w.awaitStatus("daily", "shows what was used and is held", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used != nil && s.Used.CostUSD.String() == "250m" && s.Held.CostUSD.String() == "600m" && *s.Percent == 42
	})
	said := strings.Join(r.events.all(), "\n")
	for _, want := range []string{"second Warning BudgetBlocked", "second Normal BudgetAdmitted"} {
		if !strings.Contains(said, want) {
			t.Errorf("no event %q in:\n%s", want, said)
		}
	}
}

func TestA2_ADayRollsOverWithoutARestart(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Date(2026, 3, 1, 23, 50, 0, 0, time.UTC))
	w := newWorld(t, c)
	w.budget("daily", "1", gold)
	w.start(settings{})
	first := w.task("first", "0.9", gold)
	w.awaitRunning("first")
	w.finish("first", "1")
	w.awaitRecord(first)
	w.task("second", "0.9", gold)
	w.awaitBlocked("second")
	w.awaitStatus("daily", "is full", func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.Percent != nil && *s.Percent == 100 })

	c.Step(10 * time.Minute)
	w.awaitRunning("second")
	status := w.awaitStatus("daily", "has a new window", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.PeriodStart != nil && s.PeriodStart.Day() == 2 && s.Held != nil && s.Held.CostUSD.String() == "900m"
	})
	if diff := cmp.Diff("0", status.Used.CostUSD.String()); diff != "" {
		t.Error(diff)
	}
}
