package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

// budget makes a Daily budget of a cost for the tasks with these labels.
func (w *world) budget(name, limit string, labels map[string]string, change ...func(*budgetv1alpha1.TaskBudgetSpec)) *budgetv1alpha1.TaskBudget {
	w.t.Helper()
	tb := &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{MatchLabels: labels},
			Period:       budgetv1alpha1.Period{Type: "Daily"},
			MaxCostUSD:   usd(limit),
		},
	}
	for _, c := range change {
		c(&tb.Spec)
	}
	must(w.t, shared.Client.Create(w.t.Context(), tb))
	return tb
}

func metaOf(namespace, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}
}

func budgetOf(w *world, name string) *budgetv1alpha1.TaskBudget {
	return &budgetv1alpha1.TaskBudget{ObjectMeta: metaOf(w.namespace, name, nil)}
}

func usd(text string) *resource.Quantity { q := resource.MustParse(text); return &q }

// raise changes the limit of a budget.
func (w *world) raise(name, limit string) {
	w.t.Helper()
	w.editBudget(name, func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = usd(limit) })
}

func (w *world) editBudget(name string, change func(*budgetv1alpha1.TaskBudgetSpec)) {
	w.t.Helper()
	tb := budgetOf(w, name)
	w.edit(tb, func(client.Object) { change(&tb.Spec) })
}

// eventually is cluster.Eventually for a check that has the test's own context.
func (w *world) eventually(what string, check func() error) {
	w.t.Helper()
	cluster.Eventually(w.t, what, func(context.Context) error { return check() })
}

func (w *world) edit(o client.Object, change func(client.Object)) {
	w.t.Helper()
	for {
		must(w.t, shared.Client.Get(w.t.Context(), client.ObjectKeyFromObject(o), o))
		change(o)
		err := shared.Client.Update(w.t.Context(), o)
		if !apierrors.IsConflict(err) {
			must(w.t, err)
			return
		}
	}
}

func (w *world) task(name, estimate string, labels map[string]string) *AgentTask {
	w.t.Helper()
	task := &AgentTask{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Labels: labels},
		Spec:       AgentTaskSpec{EstimateUSD: estimate},
	}
	must(w.t, shared.Client.Create(w.t.Context(), task))
	return task
}

func (w *world) get(name string) *AgentTask {
	w.t.Helper()
	task := &AgentTask{}
	must(w.t, shared.Client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, task))
	return task
}

// finish plays the agent: the task ends and says what it has cost.
func (w *world) finish(name, cost string) {
	w.t.Helper()
	w.finishAt(name, cost, w.clock.Now())
}

func (w *world) finishAt(name, cost string, at time.Time) {
	w.t.Helper()
	for {
		task := w.get(name)
		task.Status.Phase = "Succeeded"
		task.Status.CompletionTime = &metav1.Time{Time: at}
		task.Status.Results = map[string]string{"cost-usd": cost}
		err := shared.Client.Status().Update(w.t.Context(), task)
		if !apierrors.IsConflict(err) {
			must(w.t, err)
			return
		}
	}
}

func (w *world) awaitRunning(name string) *AgentTask {
	w.t.Helper()
	var task *AgentTask
	w.eventually(name+" is running", func() error {
		task = w.get(name)
		if task.Status.Phase != "Running" {
			return fmt.Errorf("it is %q, conditions %v", task.Status.Phase, task.Status.Conditions)
		}
		return nil
	})
	return task
}

func (w *world) awaitBlocked(name string) *metav1.Condition {
	w.t.Helper()
	var condition *metav1.Condition
	w.eventually(name+" is blocked", func() error {
		task := w.get(name)
		condition = meta.FindStatusCondition(task.Status.Conditions, budget.ConditionBudgetBlocked)
		if condition == nil || condition.Status != metav1.ConditionTrue {
			return fmt.Errorf("phase %q, conditions %v", task.Status.Phase, task.Status.Conditions)
		}
		return nil
	})
	return condition
}

func (w *world) records() []budgetv1alpha1.TaskRecord {
	w.t.Helper()
	list := &budgetv1alpha1.TaskRecordList{}
	must(w.t, shared.Client.List(w.t.Context(), list, client.InNamespace(w.namespace)))
	return list.Items
}

func (w *world) holds() []budgetv1alpha1.TaskHold {
	w.t.Helper()
	list := &budgetv1alpha1.TaskHoldList{}
	must(w.t, shared.Client.List(w.t.Context(), list, client.InNamespace(w.namespace)))
	return slices.DeleteFunc(list.Items, func(h budgetv1alpha1.TaskHold) bool { return h.Name == "fence" })
}

func (w *world) awaitRecord(task *AgentTask) *budgetv1alpha1.TaskRecord {
	w.t.Helper()
	tr := &budgetv1alpha1.TaskRecord{}
	cluster.Eventually(w.t, task.Name+" is recorded and its hold is gone", func(ctx context.Context) error {
		key := client.ObjectKey{Namespace: w.namespace, Name: string(task.UID)}
		if err := shared.Client.Get(ctx, key, tr); err != nil {
			return err
		}
		if err := shared.Client.Get(ctx, key, &budgetv1alpha1.TaskHold{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("its hold: %w", errors.Join(err, errors.New("want not found")))
		}
		return nil
	})
	return tr
}

// awaitStatus waits until the status of a budget is as it should be.
func (w *world) awaitStatus(name, what string, right func(budgetv1alpha1.TaskBudgetStatus) bool) budgetv1alpha1.TaskBudgetStatus {
	w.t.Helper()
	tb := &budgetv1alpha1.TaskBudget{}
	cluster.Eventually(w.t, "budget "+name+": "+what, func(ctx context.Context) error {
		if err := shared.Client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, tb); err != nil {
			return err
		}
		if !right(tb.Status) {
			return fmt.Errorf("status %s", asJSON(tb.Status))
		}
		return nil
	})
	return tb.Status
}

// count checks how many records or holds there are.
func (w *world) count(what string, want int) func() error {
	return func() error {
		got := len(w.records())
		if what == "holds" {
			got = len(w.holds())
		}
		if got != want {
			return fmt.Errorf("%d %s, want %d", got, what, want)
		}
		return nil
	}
}
