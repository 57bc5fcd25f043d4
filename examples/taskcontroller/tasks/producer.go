package tasks

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
)

// Producer makes the tasks of TaskProducers: it labels each, so that budgets can select it, and stops at the producer's cap.
type Producer struct {
	client client.Client
	clock  clock.Clock
	alarm  *alarm
}

func newProducer(c client.Client, now clock.Clock) *Producer {
	return &Producer{client: c, clock: now, alarm: newAlarm(now)}
}

func (p *Producer) setupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&examplev1alpha1.TaskProducer{}).WatchesRawSource(p.alarm).Complete(p)
}

// Reconcile implements reconcile.Reconciler.
//
// The task is made before it is counted, under a name that its number decides. Whatever happens in between, the next try
// finds it there and counts it: no task is made twice, and none is left out.
func (p *Producer) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	producer := &examplev1alpha1.TaskProducer{}
	if err := p.client.Get(ctx, req.NamespacedName, producer); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !producer.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	now := p.clock.Now()
	next, more := NextTask(producer)
	changed := false
	if more && !now.Before(next) {
		if err := p.create(ctx, producer); err != nil {
			return ctrl.Result{}, err
		}
		producer.Status.TotalTasksCreated++
		producer.Status.LastTaskTime = &metav1.Time{Time: now}
		next, more = NextTask(producer)
		changed = true
	}
	if SetCap(producer, now) || changed {
		if err := p.client.Status().Update(ctx, producer); err != nil {
			return ctrl.Result{}, err
		}
	}
	if more {
		p.alarm.at(req, next)
	}
	return ctrl.Result{}, nil
}

// create makes the next task of a producer, unless it is there already.
func (p *Producer) create(ctx context.Context, producer *examplev1alpha1.TaskProducer) error {
	worker := examplev1alpha1.WorkerPoolSpec{Type: producer.Spec.Task.Type, Model: producer.Spec.Task.Model}
	if ref := producer.Spec.Task.WorkerPoolRef; ref != nil {
		pool := &examplev1alpha1.WorkerPool{}
		if err := p.client.Get(ctx, client.ObjectKey{Namespace: producer.Namespace, Name: ref.Name}, pool); err != nil {
			return fmt.Errorf("producer %s: spec.task.workerPoolRef: %w", client.ObjectKeyFromObject(producer), err)
		}
		worker = pool.Spec
	}
	err := p.client.Create(ctx, NewTask(producer, worker))
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("producer %s: %w", client.ObjectKeyFromObject(producer), err)
	}
	return nil
}

// NextTask says when a producer makes its next task, and whether it makes one at all.
func NextTask(producer *examplev1alpha1.TaskProducer) (time.Time, bool) {
	if Reached(producer) {
		return time.Time{}, false
	}
	if producer.Status.LastTaskTime == nil {
		return time.Time{}, true
	}
	return producer.Status.LastTaskTime.Add(producer.Spec.Interval.Duration), true
}
