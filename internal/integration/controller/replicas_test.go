package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

// TestC1_SeveralActiveReplicasNeverAdmitTooMany has four replicas without leader
// election ask for all tasks at once. There is room for 20.
func TestC1_SeveralActiveReplicasNeverAdmitTooMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "20", gold)
	w.budget("wide", "100", nil) // a second one that all tasks share
	const tasks, room = 200, 20
	list := make([]*AgentTask, tasks)
	for i := range list {
		list[i] = w.task(fmt.Sprintf("task-%03d", i), "1", gold)
	}
	var replicas []*replica
	m := newMeter()
	for range 4 {
		replicas = append(replicas, w.start(settings{idle: true, wrap: m.wrap, options: controller.Options{Mode: controller.Fenced}}))
	}
	begin := time.Now()
	admitted := admitAll(t, replicas, list)
	took := time.Since(begin)
	t.Logf("%d tasks admitted of %d by 4 replicas in %v; calls: %v", len(admitted), tasks, took, m.seen())
	if len(admitted) != room || len(w.holds()) != room {
		t.Errorf("%d tasks were admitted, and %d have holds; there is room for %d", len(admitted), len(w.holds()), room)
	}
}

// admitAll has two workers of each replica ask for all tasks at once, and gives
// how often each was admitted.
func admitAll(t *testing.T, replicas []*replica, list []*AgentTask) map[string]int {
	t.Helper()
	var wait sync.WaitGroup
	var mu sync.Mutex
	admitted := map[string]int{}
	for i, r := range replicas {
		for worker := range 2 {
			wait.Go(func() {
				for n := range list {
					// Each replica and worker begins elsewhere; several ask for the same task.
					task := list[(n*7+i*50+worker*25)%len(list)].DeepCopy()
					if r.asks(t, task) {
						mu.Lock()
						admitted[task.Name]++
						mu.Unlock()
					}
				}
			})
		}
	}
	wait.Wait()
	return admitted
}

// asks gives the answer, whenever it comes.
func (r *replica) asks(t *testing.T, task *AgentTask) bool {
	t.Helper()
	for {
		answer, err := r.gate.Admit(t.Context(), task)
		if err == nil {
			return answer.Admitted
		}
		if err := shared.Client.Get(t.Context(), client.ObjectKeyFromObject(task), task); err != nil {
			t.Error(err)
			return false
		}
	}
}

// TestC1_AReplicaThatEndsBetweenFenceAndHold leaves a claim without a hold: the
// next admission, of another replica, counts it all the same.
func TestC1_AReplicaThatEndsBetweenFenceAndHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "1", gold)
	fenced := controller.Options{Mode: controller.Fenced}
	m := newMeter()
	m.fail = func(verb string, o runtime.Object) error {
		if hold, ok := o.(*budgetv1alpha1.TaskHold); ok && verb == "create" && hold.Name != "fence" {
			return errors.New("the process has ended")
		}
		return nil
	}
	dying := w.start(settings{idle: true, wrap: m.wrap, options: fenced})
	other := w.start(settings{idle: true, options: fenced})
	first, second := w.task("first", "0.9", gold), w.task("second", "0.9", gold)
	if answer, err := dying.gate.Admit(t.Context(), first); err == nil {
		t.Fatalf("%+v", answer)
	}
	if n := len(w.holds()); n != 0 {
		t.Fatalf("%d holds", n)
	}
	answer, err := other.gate.Admit(t.Context(), second)
	must(t, err)
	if answer.Admitted {
		t.Fatal("what was claimed does not count")
	}
	answer, err = other.gate.Admit(t.Context(), first)
	must(t, err)
	if !answer.Admitted {
		t.Fatalf("the task that was claimed is refused: %s", answer.Decision.Message())
	}
}

// TestC1_TheNextLeaderKnowsWhatTheLastHasAdmitted changes the leader in the
// middle of the work.
func TestC1_TheNextLeaderKnowsWhatTheLastHasAdmitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	const tasks, room = 60, 20
	w.budget("daily", strconv.Itoa(room), gold)
	elect := func(o *ctrl.Options) {
		lease, retry, renew := 3*time.Second, 200*time.Millisecond, 2*time.Second
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, "bursar-test", w.namespace
		o.LeaderElectionReleaseOnCancel = true
		o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = &lease, &renew, &retry
	}
	first := w.start(settings{manager: elect, workers: 4})
	second := w.run(settings{manager: elect, workers: 4})
	for i := range tasks {
		w.task(fmt.Sprintf("task-%03d", i), "1", gold)
		if i == 12 {
			first.stop()
		}
	}
	if second.book.Ready() {
		t.Log("the second replica leads already")
	}
	w.eventually("the room is taken, and all others wait", func() error {
		if n := second.book.Waiting(w.namespace); n != tasks-room {
			return fmt.Errorf("%d wait, %d admitted", n, len(w.holds()))
		}
		return nil
	})
	if n := len(w.holds()); n != room {
		t.Errorf("%d holds, there is room for %d", n, room)
	}
}

func TestNothingIsAdmittedBeforeTheCachesHaveSynced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	task := w.task("first", "1", gold)
	lease := func(o *ctrl.Options) {
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, "bursar-test", w.namespace
	}
	w.start(settings{idle: true, manager: lease})
	r := w.run(settings{idle: true, manager: lease}) // it will never lead
	cluster.Eventually(t, "its caches have synced", func(context.Context) error { return r.book.ReadyzCheck(nil) })
	answer, err := r.gate.Admit(t.Context(), task)
	if err != nil || answer.Admitted || answer.RequeueAfter <= 0 {
		t.Errorf("%+v, %v", answer, err)
	}
	if len(w.get("first").Status.Conditions) != 0 || len(w.holds()) != 0 {
		t.Error("something was written")
	}
	if err := r.recorder.Record(t.Context(), task); !errors.Is(err, controller.ErrNotReady) {
		t.Errorf("recorded: %v", err)
	}
}
