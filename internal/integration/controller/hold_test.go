package controller_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

func TestC1_ATaskThatIsDeletedWhileItRunsIsChargedWithItsHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "5", gold)
	w.start(settings{})
	task := w.task("first", "1.5", gold)
	w.awaitRunning("first")
	must(t, shared.Client.Delete(t.Context(), task))
	record := w.awaitRecord(task)
	if record.Spec.Phase != "Failed" || record.Spec.Usage.CostUSD.String() != "1500m" {
		t.Errorf("%s", asJSON(record.Spec))
	}
	if diff := cmp.Diff(gold, record.Spec.TaskLabels); diff != "" {
		t.Error(diff)
	}
	w.awaitSpend("1500m")
}

func TestC1_AHostThatWantsItReleasesTheHoldsOfTasksThatAreGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "5", gold)
	r := w.start(settings{options: controller.Options{Orphans: controller.ReleaseOrphans}})
	task := w.task("first", "1.5", gold)
	w.awaitRunning("first")
	r.stop() // the task is deleted while nobody looks
	must(t, shared.Client.Delete(t.Context(), task))
	w.start(settings{options: controller.Options{Orphans: controller.ReleaseOrphans}})
	w.eventually("the hold is gone", w.count("holds", 0))
	w.awaitSpend("0")
	if n := len(w.records()); n != 0 {
		t.Errorf("%d records", n)
	}
}

func TestC1_AnExpiredHoldCountsNoMoreAndKeepsItsSnapshot(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	w := newWorld(t, c)
	w.budget("daily", "1", gold)
	w.start(settings{options: controller.Options{HoldTTL: time.Hour}})
	first := w.task("first", "0.9", gold)
	w.awaitRunning("first")
	w.task("second", "0.9", gold)
	w.awaitBlocked("second")
	c.Step(time.Hour)
	w.awaitRunning("second")
	w.awaitStatus("daily", "holds the second task only", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Held != nil && s.Held.CostUSD.String() == "900m"
	})
	w.edit(w.get("first"), func(o object) { o.SetLabels(nil) })
	w.finish("first", "0.3")
	if diff := cmp.Diff(gold, w.awaitRecord(first).Spec.TaskLabels); diff != "" {
		t.Error(diff)
	}
}

func TestC1_ATaskIsAdmittedAgainWithTheHoldThatItHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "1", gold)
	r := w.start(settings{idle: true})
	task := w.task("first", "0.9", gold)
	first, err := r.gate.Admit(t.Context(), task)
	must(t, err)
	r.stop() // it ends between the hold and the start of the task
	w.edit(w.get("first"), func(o object) { o.SetLabels(map[string]string{"team": "silver"}) })
	w.raise("daily", "0") // and by now nothing would be admitted any more

	r = w.start(settings{idle: true})
	again, err := r.gate.Admit(t.Context(), w.get("first"))
	must(t, err)
	if !again.Admitted {
		t.Fatalf("refused: %s", again.Decision.Message())
	}
	if diff := cmp.Diff(first.Decision.Hold, again.Decision.Hold); diff != "" {
		t.Error(diff)
	}
	must(t, r.gate.Release(t.Context(), task))
	if n := len(w.holds()); n != 0 {
		t.Errorf("%d holds after the release", n)
	}
}
