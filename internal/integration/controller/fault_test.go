package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

func degraded(s budgetv1alpha1.TaskBudgetStatus) string {
	if c := meta.FindStatusCondition(s.Conditions, budget.ConditionDegraded); c != nil {
		return string(c.Status) + " " + c.Reason
	}
	return ""
}

func TestA6_ABudgetThatCanNotBeEvaluatedBlocksAndSaysSo(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		namespace, want string
		right           func(*world)
	}{
		"a selector that can't be compiled": {storedSelector, "True InvalidSelector", func(w *world) {
			w.editBudget("faulty", func(s *budgetv1alpha1.TaskBudgetSpec) { s.TaskSelector = &metav1.LabelSelector{} })
		}},
		"a period whose fields do not fit together": {storedPeriod, "True InvalidPeriod", func(w *world) {
			w.editBudget("faulty", func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.WeekStart = "" })
		}},
		"a zone that is not in the database any more": {storedZone, "True InvalidPeriod", func(w *world) {
			w.editBudget("faulty", func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.Timezone = "Europe/Berlin" })
		}},
		"a record that can't be read": {storedRecord, "True ListError", func(w *world) {
			must(w.t, shared.Client.Delete(w.t.Context(), unreadable()))
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, namespace: c.namespace, clock: clock.RealClock{}}
			m := newMeter()
			w.start(settings{wrap: m.wrap})
			w.task("first", "1", gold)
			condition := w.awaitBlocked("first")
			if condition.Reason != budget.ReasonBudgetDegraded {
				t.Errorf("%s: %s", condition.Reason, condition.Message)
			}
			if reason := strings.TrimPrefix(c.want, "True "); !strings.Contains(condition.Message, reason) {
				t.Errorf("the gate does not name %s: %s", reason, condition.Message)
			}
			w.awaitStatus("faulty", "is degraded", func(s budgetv1alpha1.TaskBudgetStatus) bool { return degraded(s) == c.want })
			m.seen()
			time.Sleep(time.Second)
			if calls := m.seen(); len(calls) > 0 {
				t.Errorf("a fault that stays is written again: %v", calls)
			}
			c.right(w)
			w.awaitRunning("first")
			w.awaitStatus("faulty", "has recovered", func(s budgetv1alpha1.TaskBudgetStatus) bool { return degraded(s) == "False Evaluated" })
		})
	}
}

// badSelector has an operator that does not exist.
func badSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Near", Values: []string{"gold"}}}}
}

// unreadable is a record whose cost has a binary suffix.
func unreadable() *budgetv1alpha1.TaskRecord {
	return &budgetv1alpha1.TaskRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: storedRecord, Name: "odd"},
		Spec: budgetv1alpha1.TaskRecordSpec{
			TaskRef: budgetv1alpha1.TaskReference{UID: "odd"}, TaskLabels: gold, Phase: "Succeeded",
			CompletionTime: metav1.Now(), Usage: budgetv1alpha1.Amounts{CostUSD: usd("1Ki")},
		},
	}
}

func TestA3_AZeroLimitBlocksAlways(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "0", nil)
	w.start(settings{})
	w.task("first", "", gold)
	if c := w.awaitBlocked("first"); !strings.Contains(c.Message, "limit is 0") {
		t.Error(c.Message)
	}
	must(t, shared.Client.Delete(t.Context(), &budgetv1alpha1.TaskBudget{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "daily"}}))
	if task := w.awaitRunning("first"); len(task.Status.Conditions) > 0 {
		t.Errorf("%v", task.Status.Conditions)
	}
}

// TestTheControllerRecoversFromFaults has writes, watches and caches misbehave all the time, in a process that lives on: every
// task is recorded once, nothing stays held, and never do more run than there is room for.
func TestTheControllerRecoversFromFaults(t *testing.T) {
	t.Parallel()
	for fault, cause := range map[string]func(*testing.T, *settings){
		"every second write is lost, or its answer":  func(_ *testing.T, s *settings) { m := newMeter(); m.flaky = true; s.wrap = m.wrap },
		"every second update finds a conflict":       conflicts,
		"every connection breaks after 300 ms":       breaking,
		"every event reaches the caches 300 ms late": stale,
	} {
		for _, mode := range modes {
			t.Run(fault+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, clock.RealClock{})
				w.budget("daily", "1.1", gold) // two at a time, and the last one beside what three have spent
				for _, name := range []string{"a", "b", "c", "d"} {
					w.task(name, "0.4", gold)
				}
				s := settings{options: controller.Options{Mode: mode}}
				cause(t, &s)
				w.start(s)
				done := w.settled(4)
				most := 0
				if !w.play(90*time.Second, func() bool { most = max(most, w.running()); return done() }) {
					t.Fatalf("the tasks do not end: %v, holds %s", w.phases(), asJSON(w.holds()))
				}
				if most > 2 {
					t.Errorf("%d tasks ran at once, there is room for 2", most)
				}
				w.awaitSpend("800m")
			})
		}
	}
}

// conflicts refuses every second update and patch without any effect.
func conflicts(_ *testing.T, s *settings) {
	m := newMeter()
	updates := 0
	m.fail = func(verb string, o runtime.Object) error {
		if !strings.HasPrefix(verb, "update") && !strings.HasPrefix(verb, "patch") {
			return nil
		}
		updates++
		if updates%2 == 0 {
			return nil
		}
		return apierrors.NewConflict(schema.GroupResource{Resource: fmt.Sprintf("%T", o)}, "x", errors.New("somebody was faster"))
	}
	s.wrap = m.wrap
}

// breaking closes every connection, those of watches included, again and again.
func breaking(t *testing.T, s *settings) {
	t.Helper()
	n := &wire{conns: map[net.Conn]struct{}{}}
	s.config = n.config()
	go func() {
		for t.Context().Err() == nil {
			time.Sleep(300 * time.Millisecond)
			n.breakAll()
		}
	}()
}

// stale holds each event back before it reaches the cache.
func stale(_ *testing.T, s *settings) {
	late := func(obj any) (any, error) {
		time.Sleep(300 * time.Millisecond)
		return obj, nil
	}
	s.manager = func(o *ctrl.Options) {
		o.Cache.ByObject = map[client.Object]cache.ByObject{
			&AgentTask{}: {Transform: late}, &budgetv1alpha1.TaskBudget{}: {Transform: late},
			&budgetv1alpha1.TaskRecord{}: {Transform: late}, &budgetv1alpha1.TaskHold{}: {Transform: late},
		}
	}
}

func (w *world) running() int {
	n := 0
	for _, phase := range w.phases() {
		if phase == "Running" {
			n++
		}
	}
	return n
}

// wire is the connection to the API server, which can be cut.
type wire struct {
	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]struct{}
}

func (n *wire) config() *rest.Config {
	config := rest.CopyConfig(shared.Config)
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.cut {
			return nil, errors.New("the wire is cut")
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			n.conns[conn] = struct{}{}
		}
		return conn, err
	}
	return config
}

func (n *wire) set(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
	if cut {
		n.close()
	}
}

func (n *wire) breakAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.close()
}

func (n *wire) close() {
	for conn := range n.conns {
		_ = conn.Close()
	}
	clear(n.conns)
}

// TestTheAPIServerIsAwayForAWhile cuts all connections, watches included, for
// 10 s in the middle of the work.
func TestTheAPIServerIsAwayForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "1", gold)
	n := &wire{conns: map[net.Conn]struct{}{}}
	r := w.start(settings{config: n.config()})
	first := w.task("first", "0.6", gold)
	w.awaitRunning("first")
	n.set(true)
	w.task("second", "0.6", gold)
	other := w.task("other", "5", map[string]string{"team": "silver"})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	answer, err := r.gate.Admit(ctx, other)
	cancel()
	if err == nil || answer.Admitted {
		t.Errorf("a task was admitted without a hold that is stored: %+v", answer)
	}
	w.finish("first", "0.6")
	w.spend("elsewhere", "0.1", gold)
	time.Sleep(10 * time.Second)
	n.set(false)
	w.awaitRecord(first)
	w.awaitRunning("other")
	w.awaitBlocked("second")
	w.raise("daily", "2")
	w.awaitRunning("second")
	w.awaitStatus("daily", "counts both", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used != nil && s.Used.CostUSD.String() == "700m"
	})
}
