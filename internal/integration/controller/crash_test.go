package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

// play has a world's tasks run to their end: the agent finishes whatever runs.
// It gives up after a while, so that a host that has died can be replaced.
func (w *world) play(patience time.Duration, enough func() bool) bool {
	w.t.Helper()
	end := time.Now().Add(patience)
	for time.Now().Before(end) && !enough() {
		list := &AgentTaskList{}
		must(w.t, shared.Client.List(w.t.Context(), list, client.InNamespace(w.namespace)))
		for i := range list.Items {
			if list.Items[i].Status.Phase == "Running" {
				w.finish(list.Items[i].Name, "0.2")
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return enough()
}

// settled reports that all tasks are recorded and nothing is held.
func (w *world) settled(tasks int) func() bool {
	return func() bool { return len(w.records()) == tasks && len(w.holds()) == 0 }
}

// crashScene has two tasks of which only one has room at a time.
func crashScene(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "0.9", gold)
	w.task("a", "0.6", gold)
	w.task("b", "0.6", gold)
	return w
}

// TestTheControllerMayEndBetweenAnyTwoWrites kills the controller at its n-th
// write, for every n, before the write reaches the API server and after, at once
// and after it has waited in vain for an answer, and starts another one.
func TestTheControllerMayEndBetweenAnyTwoWrites(t *testing.T) {
	t.Parallel()
	for _, mode := range []controller.Mode{controller.LeaderElection, controller.Fenced} {
		options := controller.Options{Mode: mode}
		w := crashScene(t)
		m := newMeter()
		r := w.start(settings{wrap: m.wrap, options: options})
		if !w.play(time.Minute, w.settled(2)) {
			t.Fatalf("nothing has died, and the tasks do not end: %d records, %d holds", len(w.records()), len(w.holds()))
		}
		w.awaitSpend("400m")
		r.stop()
		writes := m.writes
		t.Logf("%s: a run takes %d writes: %v", mode, writes, m.seen())
		for n := 1; n <= writes; n++ {
			for what, m := range map[string]*meter{
				"fails": {}, "loses its answer": {reach: true}, "hangs": {hangs: true}, "hangs, and has its effect": {hangs: true, reach: true},
			} {
				t.Run(fmt.Sprintf("%s, write %d %s", mode, n, what), func(t *testing.T) {
					t.Parallel()
					m.calls, m.dieAt = map[string]int{}, n
					dieAt(t, options, m)
				})
			}
		}
	}
}

// dieAt plays the scene with a controller that dies at a write, and another one
// after it.
func dieAt(t *testing.T, options controller.Options, m *meter) {
	t.Helper()
	w := crashScene(t)
	r := w.start(settings{wrap: m.wrap, options: options})
	w.play(10*time.Second, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.dead
	})
	r.stop()
	w.start(settings{options: options})
	if !w.play(time.Minute, w.settled(2)) {
		t.Fatalf("the tasks do not end: tasks %v, records %s, holds %s", w.phases(), asJSON(w.records()), asJSON(w.holds()))
	}
	w.awaitSpend("400m")
}

func (w *world) phases() map[string]string {
	list := &AgentTaskList{}
	must(w.t, shared.Client.List(w.t.Context(), list, client.InNamespace(w.namespace)))
	phases := map[string]string{}
	for _, task := range list.Items {
		phases[task.Name] = task.Status.Phase
	}
	return phases
}

// awaitSpend waits until the budget "daily" shows what was spent, and that
// nothing is held.
func (w *world) awaitSpend(want string) {
	w.t.Helper()
	cluster.Eventually(w.t, "the budget shows "+want, func(ctx context.Context) error {
		tb := &budgetv1alpha1.TaskBudget{}
		if err := shared.Client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "daily"}, tb); err != nil {
			return err
		}
		s := tb.Status
		if s.Used == nil || s.Used.CostUSD.String() != want || s.Held.CostUSD.String() != "0" {
			return errors.New(asJSON(s))
		}
		return nil
	})
}
