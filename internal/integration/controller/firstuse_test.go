package controller_test

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// TestC2_AWindowThatOpensAtItsFirstUseIsTheSameAfterARestart compares the status with the one that a new process finds, at each
// step of the window's life.
func TestC2_AWindowThatOpensAtItsFirstUseIsTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 700_000_000, time.UTC))
	w := newWorld(t, c)
	for name, groupBy := range map[string][]string{"daily": nil, "grouped": {"team"}} {
		w.budget(name, "10", gold, func(s *budgetv1alpha1.TaskBudgetSpec) {
			s.Period, s.GroupBy = budgetv1alpha1.Period{Type: "FirstUse", Duration: "5h"}, groupBy
		})
	}
	r := w.start(settings{idle: true})
	window := func(start string) func(budgetv1alpha1.TaskBudgetStatus) bool {
		return func(s budgetv1alpha1.TaskBudgetStatus) bool {
			got := ""
			if s.PeriodStart != nil {
				got = s.PeriodStart.UTC().Format(time.TimeOnly)
			}
			return s.ObservedGeneration > 0 && got == start && (s.PeriodEnd == nil) == (start == "")
		}
	}
	restarted := func(what, start string) {
		t.Helper()
		for _, restart := range []bool{false, true} {
			if restart {
				r.stop()
				r = w.start(settings{idle: true})
				time.Sleep(300 * time.Millisecond) // it writes whatever it sees otherwise
			}
			for _, name := range []string{"daily", "grouped"} {
				w.awaitStatus(name, fmt.Sprintf("%s, restarted %v", what, restart), window(start))
			}
		}
	}
	admit := func(name string) *AgentTask {
		t.Helper()
		task := w.task(name, "1", gold)
		answer, err := r.gate.Admit(t.Context(), task)
		must(t, err)
		if !answer.Admitted {
			t.Fatal(answer.Decision.Message())
		}
		return task
	}
	restarted("nobody has used it", "")
	released := admit("released")
	restarted("a task is admitted", "12:00:00")
	r.stop()
	must(t, shared.Client.Delete(t.Context(), holdOf(w, released))) // while nobody looks
	r = w.start(settings{idle: true})
	restarted("it has never run", "")
	c.Step(time.Hour)
	first := admit("first")
	restarted("another one opens the window", "13:00:00")
	c.Step(time.Hour)
	w.finish("first", "2")
	must(t, r.recorder.Record(t.Context(), w.get(first.Name)))
	restarted("it is recorded", "13:00:00")
	c.Step(5 * time.Hour)
	restarted("the window is over", "")
	admit("second")
	restarted("the next use opens the next window", "19:00:00")
	w.spend("elsewhere", "1", gold)
	w.awaitStatus("daily", "has not forgotten which window it is in", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used.CostUSD.String() == "1" && s.Held.CostUSD.String() == "1"
	})
}
