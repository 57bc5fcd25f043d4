package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget/controller"
	"github.com/bursar-dev/bursar/usage"
)

// Reconciler releases Jobs that a budget has room for, and records those that have finished. [SetupWithManager] builds it.
type Reconciler struct {
	client.Client
	*controller.Gate[*batchv1.Job]     // bursar: Admit, Release, Wakeups
	*controller.Recorder[*batchv1.Job] // bursar: Record

	Book  *controller.Book
	Clock clock.Clock
	Pods  client.Reader // of the API server: pods are not worth a cache here
}

// Host is how bursar reads a Job.
func Host() controller.Host[*batchv1.Job] {
	return controller.Host[*batchv1.Job]{ // bursar: what a task is
		New:           func() *batchv1.Job { return &batchv1.Job{} },
		OwnConditions: controller.JobConditions(),
		Estimate:      estimateOf,
		Completion:    completionOf,
	}
}

// estimateOf reads the annotation. Where there is none, or one that nobody can read, each budget has an estimate of its own.
func estimateOf(j *batchv1.Job) usage.Amounts {
	cost, err := usage.ParseUSD(j.Annotations[AnnotationEstimate])
	if err != nil {
		return nil
	}
	return usage.Amounts{usage.CostUSD: cost}
}

// completionOf says the same of a Job whenever it is asked, also when its pods are gone: see report.
func completionOf(_ context.Context, j *batchv1.Job) (usage.Completion, error) {
	phase, end := Finished(j)
	c := usage.Completion{
		Task:  usage.Task{Type: j.Labels[LabelType], Model: j.Labels[LabelModel]},
		Phase: phase, CompletionTime: end, Results: ResultsOf(j),
	}
	if j.Status.StartTime != nil {
		c.StartTime = j.Status.StartTime.Time
	}
	return c, nil
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	job := &batchv1.Job{}
	if err := r.Get(ctx, req.NamespacedName, job); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if phase, _ := Finished(job); phase != "" && Gated(job) {
		if err := r.report(ctx, job); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, final(r.Record(ctx, job)) // bursar: a finished task is recorded
	}
	if !Waits(job) {
		return ctrl.Result{}, nil
	}
	answer, err := r.Admit(ctx, job) // bursar: a task that has not started asks whether it may
	if err != nil || !answer.Admitted {
		return ctrl.Result{RequeueAfter: answer.RequeueAfter}, err
	}
	return ctrl.Result{}, r.release(ctx, job)
}

// release lets the Job controller make the Job's pods.
func (r *Reconciler) release(ctx context.Context, job *batchv1.Job) error {
	now := r.Clock.Now().UTC().Format(time.RFC3339)
	return r.annotate(ctx, job, AnnotationReleased, now, func(j *batchv1.Job) { j.Spec.Suspend = new(false) })
}

// report writes down on a finished Job what its pods say that it has spent, unless it has been said already. Pods come and go;
// what a task has spent must not change after it was recorded.
func (r *Reconciler) report(ctx context.Context, job *batchv1.Job) error {
	if _, ok := job.Annotations[AnnotationUsage]; ok {
		return nil
	}
	pods := &corev1.PodList{}
	err := r.Pods.List(ctx, pods, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.ControllerUidLabel: string(job.UID)})
	if err != nil {
		return fmt.Errorf("list the pods of Job %s: %w", client.ObjectKeyFromObject(job), err)
	}
	text, err := WriteReport(AddUp(pods.Items))
	if err != nil {
		return err
	}
	return r.annotate(ctx, job, AnnotationUsage, text, func(*batchv1.Job) {})
}

// annotate changes a Job, unless somebody has changed it since it was read.
func (r *Reconciler) annotate(ctx context.Context, job *batchv1.Job, key, value string, change func(*batchv1.Job)) error {
	patch := client.MergeFromWithOptions(job.DeepCopy(), client.MergeFromWithOptimisticLock{})
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, key, value)
	change(job)
	return r.Patch(ctx, job, patch)
}

// final keeps a conflict from being tried for ever: nothing will change it. It is told on the Job, as a condition and as an
// event, and a correction puts it right.
func final(err error) error {
	if _, conflict := errors.AsType[*controller.ConflictError](err); conflict {
		return reconcile.TerminalError(err)
	}
	return err
}

// SetupWithManager adds the gate of Jobs to a manager whose scheme knows bursar's types. o are bursar's own options.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, o controller.Options) (*Reconciler, error) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	book, err := controller.SetupWithManager(ctx, mgr, o) // bursar: what keeps budgets, records and holds
	if err != nil {
		return nil, err
	}
	gate, err := controller.NewGate(book, Host()) // bursar: may this task start now?
	if err != nil {
		return nil, err
	}
	recorder, err := controller.NewRecorder(book, Host()) // bursar: what did it cost?
	if err != nil {
		return nil, err
	}
	r := &Reconciler{Client: mgr.GetClient(), Gate: gate, Recorder: recorder, Book: book, Clock: o.Clock, Pods: mgr.GetAPIReader()}
	return r, ctrl.NewControllerManagedBy(mgr).For(&batchv1.Job{}).
		WatchesRawSource(gate.Wakeups()). // bursar: a task that waits is asked about again when the answer has changed
		Complete(r)
}
