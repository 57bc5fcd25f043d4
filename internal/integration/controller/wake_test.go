package controller_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// spend writes a record as another controller would.
func (w *world) spend(name, cost string, labels map[string]string) {
	w.t.Helper()
	record, err := usage.RecordUsage(usage.Completion{
		Task:  usage.Task{UID: types.UID(name), Namespace: w.namespace, Name: name},
		Phase: usage.Succeeded, Labels: labels, CompletionTime: w.clock.Now(), Results: map[string]string{"cost-usd": cost},
	})
	must(w.t, err)
	must(w.t, shared.Client.Create(w.t.Context(), budget.NewTaskRecord(record)))
}

func TestA5_AnAdmissionTakesTwoWritesAndAnUnchangedRefusalNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "1", gold)
	m := newMeter()
	r := w.start(settings{wrap: m.wrap, idle: true})
	first, second := w.task("first", "0.9", gold), w.task("second", "0.9", gold)
	w.awaitStatus("daily", "is written", func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.ObservedGeneration == 1 })
	asks := func(task *AgentTask, want map[string]int) {
		t.Helper()
		m.seen()
		_, err := r.gate.Admit(t.Context(), task)
		must(t, err)
		got := m.seen()
		delete(got, "update status TaskBudget") // that is the budget's own
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	asks(first, map[string]int{"create TaskHold": 1})
	asks(first, map[string]int{})
	asks(second, map[string]int{"patch status AgentTask": 1})
	asks(second, map[string]int{})
	before := blocked(second)
	w.spend("elsewhere", "0.01", gold) // a figure in the message changes
	w.awaitStatus("daily", "counts the record", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used != nil && s.Used.CostUSD.String() == "10m"
	})
	asks(second, map[string]int{})
	r.stop() // who has just started remembers nothing, and asks the task's condition
	r = w.start(settings{wrap: m.wrap, idle: true})
	second = w.get("second")
	asks(second, map[string]int{})
	if diff := cmp.Diff(before, blocked(second)); diff != "" {
		t.Error(diff)
	}
	w.raise("daily", "3")
	w.awaitStatus("daily", "is raised", func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.ObservedGeneration == 2 })
	asks(second, map[string]int{"create TaskHold": 1, "patch status AgentTask": 1})
}

func blocked(task *AgentTask) []metav1.Condition { return task.Status.Conditions }

func TestA13_NothingIsWrittenWhereNothingChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	for _, period := range []budgetv1alpha1.Period{
		{Type: "Daily"}, {Type: "Lifetime"}, {Type: "Sliding", Duration: "1d"}, {Type: "FirstUse", Duration: "5h"}, {Type: "Hourly"},
	} {
		w.budget("b-"+strings.ToLower(period.Type), "5", gold, func(s *budgetv1alpha1.TaskBudgetSpec) {
			s.Period, s.GroupBy, s.Thresholds = period, nil, []int32{10}
		})
	}
	w.spend("one", "1", gold)
	w.budget("unused", "5", map[string]string{"team": "nobody"}, func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.Period = budgetv1alpha1.Period{Type: "FirstUse", Duration: "5h"}
	})
	m := newMeter()
	r := w.start(settings{wrap: m.wrap})
	for _, name := range []string{"b-daily", "b-sliding", "b-firstuse", "b-lifetime", "b-hourly"} {
		w.awaitStatus(name, "counts", func(s budgetv1alpha1.TaskBudgetStatus) bool {
			return s.Percent != nil && *s.Percent == 20 && len(s.ThresholdsReached) == 1
		})
	}
	time.Sleep(time.Second)
	m.seen()
	time.Sleep(5 * time.Second)
	if diff := cmp.Diff(map[string]int{}, m.seen()); diff != "" {
		t.Error(diff)
	}
	if told := r.events.containing("BudgetThreshold"); len(told) != 5 {
		t.Errorf("%d threshold events, want one for each of 5 budgets: %v", len(told), told)
	}
	if s := w.awaitStatus("unused", "is written", func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.ObservedGeneration == 1 }); s.PeriodStart != nil {
		t.Errorf("a window that has not opened starts at %v", s.PeriodStart)
	}
}

// TestA14_ManyTasksWait has 1,000 tasks wait while a record comes every 100 ms.
func TestA14_ManyTasksWaitAndFewAreWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "1", gold)
	w.spend("first", "1", gold)
	m := newMeter()
	r := w.start(settings{wrap: m.wrap, workers: 8})
	const waiting = 1000
	for i := range waiting {
		w.task(fmt.Sprintf("task-%04d", i), "0.5", gold)
	}
	w.eventually("all wait", func() error {
		if n := r.book.Waiting(w.namespace); n != waiting {
			return fmt.Errorf("%d wait", n)
		}
		list := &AgentTaskList{}
		must(t, r.client.List(t.Context(), list, client.InNamespace(w.namespace)))
		for i := range list.Items {
			if len(list.Items[i].Status.Conditions) == 0 {
				return errors.New(list.Items[i].Name + " has no condition")
			}
		}
		return nil
	})
	time.Sleep(time.Second)
	m.seen()
	r.asked.Store(0)
	const seconds = 10
	begin := time.Now()
	for i := 0; time.Since(begin) < seconds*time.Second; i++ {
		w.spend(fmt.Sprintf("record-%d", i), "0.001", gold)
		time.Sleep(100 * time.Millisecond)
	}
	calls := m.seen()
	writes := 0
	for call, n := range calls {
		if !strings.HasPrefix(call, "list") {
			writes += n
		}
	}
	t.Logf("in %d s with a record every 100 ms and %d waiting tasks: %v, the host was asked %d times", seconds, waiting, calls, r.asked.Load())
	if writes > seconds {
		t.Errorf("%d writes in %d s", writes, seconds)
	}
	if n := r.asked.Load(); n > 0 {
		t.Errorf("%d tasks were woken for nothing", n)
	}

	begin = time.Now()
	w.raise("daily", "3")
	var took time.Duration
	w.eventually("two tasks run", func() error {
		took = time.Since(begin)
		list := &AgentTaskList{}
		must(t, r.client.List(t.Context(), list, client.InNamespace(w.namespace)))
		running := 0
		for i := range list.Items {
			if list.Items[i].Status.Phase == "Running" {
				running++
			}
		}
		if running < 2 {
			return fmt.Errorf("%d run", running)
		}
		return nil
	})
	t.Logf("the first tasks start %v after the budget is raised", took)
	if took > 3*time.Second { // the machine may be busy; alone it takes a fraction of a second
		t.Errorf("it took %v", took)
	}
}

// spendAs records a task as another process would.
func (w *world) spendAs(task *AgentTask, cost string, labels map[string]string) {
	w.t.Helper()
	record, err := usage.RecordUsage(usage.Completion{
		Task:  usage.Task{UID: task.UID, Namespace: w.namespace, Name: task.Name},
		Phase: usage.Succeeded, Labels: labels, CompletionTime: w.clock.Now(), Results: map[string]string{"cost-usd": cost},
	})
	must(w.t, err)
	must(w.t, shared.Client.Create(w.t.Context(), budget.NewTaskRecord(record)))
}

func holdOf(w *world, task *AgentTask) *budgetv1alpha1.TaskHold {
	return &budgetv1alpha1.TaskHold{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: string(task.UID)}}
}
