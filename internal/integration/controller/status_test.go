package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

func TestC6_C7_AGroupHasItsOwnAllowanceAndThresholdsFireOncePerWindow(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	w := newWorld(t, c)
	w.budget("daily", "1", nil, func(s *budgetv1alpha1.TaskBudgetSpec) { s.GroupBy, s.Thresholds = []string{"user"}, []int32{50, 80} })
	r := w.start(settings{})
	u1, u2 := map[string]string{"user": "u1"}, map[string]string{"user": "u2"}
	w.spend("one", "0.6", u1)
	w.spend("two", "0.3", u2)
	w.spend("three", "0.1", nil)
	w.awaitStatus("daily", "shows the fullest group", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Group == "user=u1" && *s.Percent == 60
	})
	w.spend("four", "0.55", u2)
	w.awaitStatus("daily", "shows the group that is fullest now", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Group == "user=u2" && *s.Percent == 85 && cmp.Equal(s.ThresholdsReached, []int32{50, 80})
	})
	w.spend("five", "0.9", nil)
	w.awaitStatus("daily", "shows the group of those without a user", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Group == "!user" && *s.Percent == 100
	})
	status := w.awaitStatus("daily", "names the groups", func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.Groups == 3 })
	var top []string
	for _, g := range status.TopGroups {
		top = append(top, fmt.Sprintf("%s %d%% %s", g.Group, g.Percent, g.Used))
	}
	if diff := cmp.Diff([]string{"!user 100% 1", "user=u2 85% 0.85", "user=u1 60% 0.6"}, top); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&budgetv1alpha1.StatusDisplay{Used: "1", Held: "0", Group: "!user (1 of 3)"}, status.Display); diff != "" {
		t.Error(diff)
	}
	w.task("blocked", "0.5", u2)
	w.awaitBlocked("blocked")
	w.task("free", "0.3", u1)
	w.awaitRunning("free")
	thresholds := func(want int) {
		cluster.Eventually(t, "each group is told each threshold once", func(context.Context) error {
			if told := r.events.containing("BudgetThreshold"); len(told) != want {
				return fmt.Errorf("%d events, want %d: %v", len(told), want, told)
			}
			return nil
		})
	}
	thresholds(6) // u1 at 60% and, with a hold, at 90%; u2 at 85%; those without a user at 100%
	c.Step(12 * time.Hour)
	w.awaitStatus("daily", "has a new window", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.PeriodStart.Day() == 2 && *s.Percent == 50
	}) // by the holds of "blocked", which runs now
	thresholds(7)
}

// TestC6_TheStatusOfManyGroupsStaysSmall has more groups than a status shows.
func TestC6_TheStatusOfManyGroupsStaysSmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "1", nil, func(s *budgetv1alpha1.TaskBudgetSpec) { s.GroupBy = []string{"user"} })
	w.budget("tokens", "1", nil, func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.MaxCostUSD, s.MaxInputTokens, s.Limits = nil, new(int64(100)), []budgetv1alpha1.Limit{{Meter: "tasks", Max: 50}}
	})
	w.start(settings{})
	unused := w.awaitStatus("daily", "is written", func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.Percent != nil })
	if unused.Group != "" || unused.Groups != 0 || unused.TopGroups != nil || *unused.Percent != 0 {
		t.Errorf("a budget that nobody has used names a group: %s", asJSON(unused))
	}
	const users = 25
	for i := range users {
		w.spend(fmt.Sprintf("record-%02d", i), fmt.Sprintf("0.%02d", i+1), map[string]string{"user": fmt.Sprintf("u%02d", i)})
	}
	status := w.awaitStatus("daily", "counts all", func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.Groups == users })
	if len(status.TopGroups) != budgetv1alpha1.MaxTopGroups || status.TopGroups[0].Group != "user=u24" || status.TopGroups[9].Group != "user=u15" {
		t.Errorf("not the ten fullest groups: %s", asJSON(status.TopGroups))
	}
	if diff := cmp.Diff("user=u24 0.25 user=u24 (1 of 25)", status.Group+" "+status.Display.Used+" "+status.Display.Group); diff != "" {
		t.Error(diff)
	}
	w.awaitStatus("tokens", "displays what is nearest to its limit", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Display != nil && s.Display.Used == "25 tasks" && s.Display.Held == "0 tasks" && s.Display.Group == ""
	})
}

func TestMetricsShowBudgetsAndAdmissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "2", gold)
	r := w.start(settings{})
	first := w.task("first", "1.5", gold)
	w.awaitRunning("first")
	w.task("second", "1", gold)
	w.awaitBlocked("second")
	w.finish("first", "0.5")
	w.awaitRecord(first)
	w.awaitRunning("second")
	cluster.Eventually(t, "the metrics show it", func(context.Context) error {
		got := map[string]float64{}
		families, err := r.registry.Gather()
		must(t, err)
		for _, family := range families {
			for _, m := range family.GetMetric() {
				parts := []string{family.GetName()}
				for _, label := range m.GetLabel() {
					if label.GetName() != "namespace" {
						parts = append(parts, label.GetValue())
					}
				}
				name := strings.Join(parts, " ")
				switch {
				case m.GetGauge() != nil:
					got[name] = m.GetGauge().GetValue()
				case m.GetCounter() != nil:
					got[name] = m.GetCounter().GetValue()
				case m.GetHistogram() != nil:
					got[name] = 1
				}
			}
		}
		refused := got["bursar_admissions_total refused BudgetExceeded"]
		delete(got, "bursar_admissions_total refused BudgetExceeded")
		delete(got, "bursar_admissions_total error ")
		delete(got, "bursar_waiting_tasks") // as of the last look at a budget
		if diff := cmp.Diff(map[string]float64{
			"bursar_budget_limit daily costUSD": 2, "bursar_budget_used daily costUSD": 0.5, "bursar_budget_held daily costUSD": 1,
			"bursar_budget_ratio daily costUSD": 0.75, "bursar_ledger_items records": 1, "bursar_ledger_items holds": 1,
			"bursar_admissions_total admitted ":     got["bursar_admissions_total admitted "],
			"bursar_admission_duration_seconds":     1,
			"bursar_records_total Reported costUSD": 1, "bursar_records_total Reported tasks": 1, "bursar_records_total Reported seconds": 1,
		}, got); diff != "" {
			return fmt.Errorf("%s", diff)
		}
		if refused < 1 || got["bursar_admissions_total admitted "] < 2 {
			return fmt.Errorf("%v refused, %v admitted", refused, got["bursar_admissions_total admitted "])
		}
		return nil
	})
	must(t, shared.Client.Delete(t.Context(), w.budget("other", "1", gold)))
	cluster.Eventually(t, "a budget that is gone has no metrics", func(context.Context) error {
		families, err := r.registry.Gather()
		must(t, err)
		for _, family := range families {
			for _, m := range family.GetMetric() {
				if strings.Contains(m.String(), `"other"`) {
					return fmt.Errorf("%s", m)
				}
			}
		}
		return nil
	})
}

func TestC1_AHoldThatSomebodyDeletesIsHeldNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "1", gold)
	w.start(settings{})
	w.task("first", "0.9", gold)
	w.awaitRunning("first")
	w.task("second", "0.9", gold)
	w.awaitBlocked("second")
	must(t, shared.Client.Delete(t.Context(), &w.holds()[0]))
	w.awaitRunning("second")
}

// TestC1_AHoldCountsUntilItsRecordIsSeen has another process record the task and
// delete its hold, while the watch of records is slow: the hold's end is seen long
// before the record. The room is not given away meanwhile.
func TestC1_AHoldCountsUntilItsRecordIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "1", gold)
	r := w.start(settings{idle: true, manager: func(o *ctrl.Options) {
		o.Cache.ByObject = map[client.Object]cache.ByObject{&budgetv1alpha1.TaskRecord{}: {Transform: func(obj any) (any, error) {
			time.Sleep(2 * time.Second)
			return obj, nil
		}}}
	}})
	first, second := w.task("first", "0.9", gold), w.task("second", "0.9", gold)
	answer, err := r.gate.Admit(t.Context(), first)
	must(t, err)
	if !answer.Admitted {
		t.Fatal(answer.Decision.Message())
	}
	w.spendAs(first, "1", gold)
	must(t, shared.Client.Delete(t.Context(), holdOf(w, first)))
	for begin := time.Now(); time.Since(begin) < 3*time.Second; time.Sleep(5 * time.Millisecond) {
		answer, err := r.gate.Admit(t.Context(), second)
		must(t, err)
		if answer.Admitted {
			t.Fatal("the room was given away between hold and record")
		}
	}
}

// metric gives the value of a metric with these values of its labels, in any order and beside others.
func (r *replica) metric(t *testing.T, name string, values ...string) float64 {
	t.Helper()
	families, err := r.registry.Gather()
	must(t, err)
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			var have []string
			for _, label := range m.GetLabel() {
				have = append(have, label.GetValue())
			}
			if !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(have, v) }) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}
