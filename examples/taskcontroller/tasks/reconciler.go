package tasks

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
)

// Reconciler brings a task from Pending to its end. [SetupWithManager] builds it.
type Reconciler struct {
	client.Client
	*controller.Gate[*examplev1alpha1.AgentTask]     // bursar: Admit, Release, Wakeups
	*controller.Recorder[*examplev1alpha1.AgentTask] // bursar: Record

	Book    *controller.Book
	Clock   clock.Clock
	Workers *Workers
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	task := &examplev1alpha1.AgentTask{}
	if err := r.Get(ctx, req.NamespacedName, task); err != nil {
		r.Workers.Forget(req)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	switch {
	case task.Status.Phase.Finished():
		// The worker goes back to its pool, whether or not the task can be recorded now. What was not recorded is tried
		// again, and what is recorded costs nothing.
		r.Workers.Forget(req)
		return ctrl.Result{}, final(r.Record(ctx, task)) // bursar: a finished task is recorded
	case task.Status.Phase == examplev1alpha1.Running:
		return ctrl.Result{}, r.Workers.Run(ctx, task)
	case !task.DeletionTimestamp.IsZero():
		return ctrl.Result{}, nil // it will not start any more
	}
	worker, err := r.workerFor(ctx, task)
	if err != nil || worker == nil {
		return ctrl.Result{}, err
	}
	answer, err := r.Admit(ctx, task) // bursar: a task that has not started asks whether it may
	if err != nil || !answer.Admitted {
		return ctrl.Result{RequeueAfter: answer.RequeueAfter}, errors.Join(err, r.wait(ctx, task))
	}
	return ctrl.Result{}, r.start(ctx, task, worker)
}

// final keeps a conflict from being tried for ever: nothing will change it. It is told on the task, as a condition and as an
// event, and a correction puts it right.
func final(err error) error {
	if _, conflict := errors.AsType[*controller.ConflictError](err); conflict {
		return reconcile.TerminalError(err)
	}
	return err
}

// workerFor says who will do the work, nil if that is not known yet. It is asked before the budget is: what can't start must
// not hold anything.
func (r *Reconciler) workerFor(ctx context.Context, task *examplev1alpha1.AgentTask) (*examplev1alpha1.WorkerPoolSpec, error) {
	ref := task.Spec.WorkerPoolRef
	if ref == nil {
		return &examplev1alpha1.WorkerPoolSpec{Type: task.Spec.Type, Model: task.Spec.Model}, nil
	}
	pool := &examplev1alpha1.WorkerPool{}
	err := r.Get(ctx, client.ObjectKey{Namespace: task.Namespace, Name: ref.Name}, pool)
	switch {
	case apierrors.IsNotFound(err):
		missing := fmt.Errorf("task %s: spec.workerPoolRef: there is no WorkerPool %s", client.ObjectKeyFromObject(task), ref.Name)
		return nil, errors.Join(missing, r.setPhase(ctx, task, examplev1alpha1.Pending, "there is no WorkerPool "+ref.Name))
	case err != nil:
		return nil, err
	}
	return &pool.Spec, nil
}

// wait says on a task that it waits, if the gate has said why.
func (r *Reconciler) wait(ctx context.Context, task *examplev1alpha1.AgentTask) error {
	if !meta.IsStatusConditionTrue(task.Status.Conditions, budget.ConditionBudgetBlocked) {
		return nil
	}
	return r.setPhase(ctx, task, examplev1alpha1.Waiting, "")
}

func (r *Reconciler) setPhase(ctx context.Context, task *examplev1alpha1.AgentTask, phase examplev1alpha1.Phase, message string) error {
	if task.Status.Phase == phase && task.Status.Message == message {
		return nil
	}
	task.Status.Phase, task.Status.Message = phase, message
	return r.Status().Update(ctx, task)
}

// start gives a task that was admitted to a worker. Whoever does the work is taken down now: the record needs it when the
// pool may be gone.
func (r *Reconciler) start(ctx context.Context, task *examplev1alpha1.AgentTask, worker *examplev1alpha1.WorkerPoolSpec) error {
	task.Status.Type, task.Status.Model = worker.Type, worker.Model
	task.Status.StartTime = &metav1.Time{Time: r.Clock.Now()}
	return r.setPhase(ctx, task, examplev1alpha1.Running, "")
}
