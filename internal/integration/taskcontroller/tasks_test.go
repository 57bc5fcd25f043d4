package taskcontroller_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/examples/taskcontroller/tasks"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

var platform = map[string]string{"team": "platform"}

// TestA5_A13_ADayTurnsAndTheTaskThatWaitedStarts begins two hours before midnight.
func TestA5_A13_ADayTurnsAndTheTaskThatWaitedStarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{begin: time.Date(2026, 3, 9, 22, 0, 0, 0, time.UTC), agent: costs("0.9")})
	w.budget("daily", "1", platform)
	first := w.task("first", "0.75")
	w.awaitPhase("first", examplev1alpha1.Running)
	w.task("second", "0.75")
	second := w.awaitPhase("second", examplev1alpha1.Waiting)
	for _, part := range []string{"TaskBudget " + w.namespace + "/daily", "held 0.75", "limit 1", "2026-03-10T00:00:00Z"} {
		if !strings.Contains(blocked(second), part) {
			t.Errorf("%q is not in %q", part, blocked(second))
		}
	}
	w.awaitPhase("first", examplev1alpha1.Succeeded)
	if record := w.awaitRecord(first); record.Spec.Usage.CostUSD.String() != "900m" {
		t.Errorf("recorded cost %s", record.Spec.Usage.CostUSD)
	}
	w.awaitBudget("daily", "counts the first task", func(s *budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used != nil && s.Used.CostUSD.String() == "900m" && s.PeriodEnd.Day() == 10
	})

	second = w.await("second", "has started", func(o *task) bool { return o.Status.StartTime != nil })
	if start := second.Status.StartTime.UTC(); start.Before(time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("it started at %v, before the day turned", start)
	}
	if why := blocked(second); why != "" {
		t.Errorf("it runs and is still said to be blocked: %s", why)
	}
	w.awaitBudget("daily", "has a new window", func(s *budgetv1alpha1.TaskBudgetStatus) bool { return s.PeriodStart.Day() == 10 })
}

// TestA14_ARaisedBudgetWakesTheTask does not wait for midnight.
func TestA14_ARaisedBudgetWakesTheTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{speed: 1})
	w.budget("daily", "0", platform)
	w.task("first", "0.75")
	w.awaitPhase("first", examplev1alpha1.Waiting)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"maxCostUSD": "5"}}`))
	must(t, shared.Client.Patch(t.Context(), &budgetv1alpha1.TaskBudget{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "daily"}}, patch))
	w.awaitPhase("first", examplev1alpha1.Running)
}

// TestA9_A15_TheRecordNamesWhoHasDoneTheWork also when the pool is another one, or gone, by then.
func TestA9_A15_TheRecordNamesWhoHasDoneTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{agent: costs("0.125")})
	o := w.task("pooled", "1")
	w.awaitPhase("pooled", examplev1alpha1.Running)
	must(t, shared.Client.Delete(t.Context(), &examplev1alpha1.WorkerPool{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "blue"}}))
	record := w.awaitRecord(o)
	want := []string{"coding-agent", "large", "Succeeded", "125m", "AgentTask", "pooled"}
	if diff := cmp.Diff(want, []string{
		record.Spec.Type, record.Spec.Model, record.Spec.Phase, record.Spec.Usage.CostUSD.String(), record.Spec.TaskRef.Kind, record.Spec.TaskRef.Name,
	}); diff != "" {
		t.Error(diff)
	}
	if *record.Spec.Usage.InputTokens != 1000 || *record.Spec.Usage.OutputTokens != 50 {
		t.Errorf("tokens: %+v", record.Spec.Usage)
	}
	if diff := cmp.Diff(platform, record.Spec.TaskLabels); diff != "" {
		t.Error(diff)
	}
}

// TestA8_A15_TheWorkerIsFreeAlsoWhenRecordingFails has the API server refuse records for a while.
func TestA8_A15_TheWorkerIsFreeAlsoWhenRecordingFails(t *testing.T) {
	t.Parallel()
	var refuse atomic.Bool
	var refused atomic.Int64
	refuse.Store(true)
	w := newWorld(t, settings{agent: costs("0.5"), funcs: interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if _, record := o.(*budgetv1alpha1.TaskRecord); record && refuse.Load() {
				refused.Add(1)
				return errCut
			}
			return c.Create(ctx, o, opts...)
		},
	}})
	w.budget("daily", "1", platform)
	o := w.task("first", "0.75")
	cluster.Eventually(t, "a worker has the task", func(context.Context) error {
		if w.tasks.Workers.Busy(w.namespace, "blue") != 1 {
			return errors.New("the pool is idle")
		}
		return nil
	})
	w.awaitPhase("first", examplev1alpha1.Succeeded)
	cluster.Eventually(t, "recording has failed and the pool is idle", func(context.Context) error {
		if refused.Load() == 0 {
			return errors.New("nobody has tried to record")
		}
		if n := w.tasks.Workers.Busy(w.namespace, "blue"); n != 0 {
			return errors.New("a worker is still busy")
		}
		return nil
	})
	w.awaitBudget("daily", "still holds the estimate", func(s *budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Held != nil && s.Held.CostUSD.String() == "750m"
	})
	refuse.Store(false)
	w.awaitRecord(o)
	w.awaitBudget("daily", "has the spend and no hold", func(s *budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used.CostUSD.String() == "500m" && s.Held.CostUSD.IsZero()
	})
}

// TestAResultThatNobodyCanReadIsChargedWithTheHold since unknown is not zero.
func TestAResultThatNobodyCanReadIsChargedWithTheHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{agent: func(*task) tasks.Outcome {
		return tasks.Outcome{After: time.Minute, Failed: true, Results: map[string]string{"cost-usd": "a lot"}}
	}})
	w.budget("daily", "1", platform)
	o := w.task("first", "0.75")
	w.awaitPhase("first", examplev1alpha1.Failed)
	record := w.awaitRecord(o)
	if record.Spec.Phase != "Failed" || record.Spec.Usage.CostUSD.String() != "750m" {
		t.Errorf("recorded %s with cost %s", record.Spec.Phase, record.Spec.Usage.CostUSD)
	}
	if problems := record.Spec.Problems; len(problems) != 1 || !strings.Contains(problems[0].Reason, "a lot") {
		t.Errorf("its problems are %+v", problems)
	}
}

// TestA8_AConflictIsToldAndNotTriedForEver: who edits the results of a task that is recorded changes nothing.
func TestA8_AConflictIsToldAndNotTriedForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{agent: costs("0.5")})
	o := w.task("first", "0.75")
	w.awaitRecord(o)
	w.awaitPhase("first", examplev1alpha1.Succeeded)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status": {"results": {"cost-usd": "0"}}}`))
	must(t, shared.Client.Status().Patch(t.Context(), o, patch))
	w.await("first", "tells the conflict", func(o *task) bool {
		return meta.IsStatusConditionTrue(o.Status.Conditions, controller.ConditionRecordConflict)
	})
	if record := w.awaitRecord(o); record.Spec.Usage.CostUSD.String() != "500m" {
		t.Errorf("the record says %s now", record.Spec.Usage.CostUSD)
	}
}

// TestATaskWhosePoolIsMissingHoldsNothing and starts when the pool is there.
func TestATaskWhosePoolIsMissingHoldsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	must(t, shared.Client.Delete(t.Context(), &examplev1alpha1.WorkerPool{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "blue"}}))
	w.budget("daily", "1", platform)
	w.task("first", "0.75")
	w.await("first", "says what it waits for", func(o *task) bool {
		return o.Status.Phase == examplev1alpha1.Pending && strings.Contains(o.Status.Message, "WorkerPool blue")
	})
	holds := &budgetv1alpha1.TaskHoldList{}
	must(t, shared.Client.List(t.Context(), holds, client.InNamespace(w.namespace)))
	if len(holds.Items) != 0 {
		t.Errorf("%d holds", len(holds.Items))
	}
	w.make(&examplev1alpha1.WorkerPool{ObjectMeta: metav1.ObjectMeta{Name: "blue"}, Spec: examplev1alpha1.WorkerPoolSpec{Type: "coding-agent"}})
	w.await("first", "has started", func(o *task) bool { return o.Status.StartTime != nil && o.Status.Message == "" })
}

// TestTheSpecOfATaskDoesNotChange, nor can it leave out who does the work.
func TestTheSpecOfATaskDoesNotChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	o := w.task("first", "")
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"estimateUSD": "0"}}`))
	if err := shared.Client.Patch(t.Context(), o, patch); err == nil || !strings.Contains(err.Error(), "immutable") {
		t.Errorf("the estimate was changed: %v", err)
	}
	for want, bad := range map[string]examplev1alpha1.AgentTaskSpec{
		"say who does the work":       {Prompt: "mend it"},
		"estimateUSD":                 {Prompt: "mend it", Type: "a", EstimateUSD: "-1"},
		"spec.prompt: Invalid value:": {Type: "a"},
	} {
		err := shared.Client.Create(t.Context(), &task{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "bad"}, Spec: bad})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want a refusal with %q, got %v", want, err)
		}
	}
}
