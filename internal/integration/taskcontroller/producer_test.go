package taskcontroller_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

func (w *world) producer(limit *int64) *producer {
	w.t.Helper()
	o := &producer{
		ObjectMeta: metav1.ObjectMeta{Name: "issues"},
		Spec: examplev1alpha1.TaskProducerSpec{
			Source: "backlog", Interval: metav1.Duration{Duration: 5 * time.Minute}, MaxTotalTasks: limit,
			Labels: map[string]string{"team": "platform", examplev1alpha1.LabelSource: "elsewhere"},
			Task: examplev1alpha1.AgentTaskSpec{
				Prompt: "mend it", WorkerPoolRef: &examplev1alpha1.WorkerPoolReference{Name: "blue"},
			},
		},
	}
	w.make(o)
	return o
}

// awaitCap waits until both conditions of a producer say whether it has reached its cap.
func (w *world) awaitCap(want metav1.ConditionStatus) *producer {
	w.t.Helper()
	o := &producer{}
	cluster.Eventually(w.t, "the producer says "+string(want), func(ctx context.Context) error {
		if err := shared.Client.Get(ctx, w.key("issues"), o); err != nil {
			return err
		}
		for _, name := range []string{"MaxTotalTasksReached", "TaskBudgetExhausted"} {
			if c := meta.FindStatusCondition(o.Status.Conditions, name); c == nil || c.Status != want || c.ObservedGeneration != o.Generation {
				return fmt.Errorf("%s is %+v", name, c)
			}
		}
		return nil
	})
	return o
}

func (w *world) counts() map[string]int {
	counts := map[string]int{}
	for _, o := range w.made() {
		counts[o.Name]++
	}
	return counts
}

// TestA16_AProducerLabelsItsTasksAndStopsAtItsCap and goes on when the cap is raised.
func TestA16_AProducerLabelsItsTasksAndStopsAtItsCap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{agent: costs("0.5")})
	w.budget("backlog", "100", map[string]string{examplev1alpha1.LabelSource: "backlog"})
	w.producer(new(int64(3)))
	o := w.awaitCap(metav1.ConditionTrue)
	if o.Status.TotalTasksCreated != 3 {
		t.Errorf("%d tasks were counted", o.Status.TotalTasksCreated)
	}
	want := map[string]string{
		"team": "platform", examplev1alpha1.LabelProducer: "issues", examplev1alpha1.LabelSource: "backlog",
		examplev1alpha1.LabelPool: "blue", examplev1alpha1.LabelType: "coding-agent", examplev1alpha1.LabelModel: "large",
	}
	for _, made := range w.made() {
		if diff := cmp.Diff(want, made.Labels); diff != "" {
			t.Errorf("%s: %s", made.Name, diff)
		}
	}
	w.awaitBudget("backlog", "counts all of them", func(s *budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used != nil && s.Used.CostUSD.String() == "1500m"
	})
	time.Sleep(2 * time.Second) // twenty minutes: four more intervals
	if names := slices.Sorted(maps.Keys(w.counts())); len(names) != 3 {
		t.Errorf("there are %v", names)
	}

	// The tasks that it has made count, also those that are gone.
	must(t, shared.Client.DeleteAllOf(t.Context(), &task{}, client.InNamespace(w.namespace)))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"maxTotalTasks": 5}}`))
	must(t, shared.Client.Patch(t.Context(), o, patch))
	if o := w.awaitCap(metav1.ConditionTrue); o.Status.TotalTasksCreated != 5 {
		t.Errorf("%d tasks were counted", o.Status.TotalTasksCreated)
	}
	if names := slices.Sorted(maps.Keys(w.counts())); len(names) != 2 {
		t.Errorf("beside those that are gone there are %v", names)
	}
}

func TestA16_AProducerThatMayMakeNoneMakesNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	w.producer(new(int64(0)))
	w.awaitCap(metav1.ConditionTrue)
	if counts := w.counts(); len(counts) != 0 {
		t.Errorf("there are %v", counts)
	}
}

func TestA16_AProducerWithoutACapSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	w.producer(nil)
	w.awaitCap(metav1.ConditionFalse)
}

// TestA16_TheCapHoldsWhenEverySecondWriteIsLost, or its answer is: no task is made twice, none is left out.
func TestA16_TheCapHoldsWhenEverySecondWriteIsLost(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	lossy := func(do func() error) error {
		switch calls.Add(1) % 4 {
		case 0:
			return errCut // it never arrives
		case 2:
			if err := do(); err != nil {
				return err
			}
			return errCut // it arrives, and the answer is lost
		}
		return do()
	}
	w := newWorld(t, settings{funcs: interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return lossy(func() error { return c.Create(ctx, o, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return lossy(func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
	}})
	o := w.producer(new(int64(6)))
	w.awaitCap(metav1.ConditionTrue)
	want := map[string]int{}
	for i := range 6 {
		want[fmt.Sprintf("issues-%s-%d", string(o.UID)[:5], i+1)] = 1
	}
	if diff := cmp.Diff(want, w.counts()); diff != "" {
		t.Error(diff)
	}
}
