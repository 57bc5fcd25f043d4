package jobgate_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/examples/jobgate/jobs"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

var gated = map[string]string{jobs.LabelGate: jobs.GateBudget}

// world is a namespace in which the gate runs.
type world struct {
	t         *testing.T
	namespace string
	gate      *jobs.Reconciler
	stop      func()       // ends the gate
	told      atomic.Int64 // writes to the status of Jobs and Pods
	deaf      atomic.Bool  // they fail
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: shared.Namespace(t, nil)}
	w.run()
	return w
}

// run starts a gate that remembers nothing.
func (w *world) run() {
	w.t.Helper()
	w.start()
	cluster.Eventually(w.t, "the budgets are known", func(context.Context) error {
		if !w.gate.Book.Ready() {
			return controller.ErrNotReady
		}
		return nil
	})
}

func (w *world) start() {
	w.t.Helper()
	mgr := w.manager()
	var err error
	w.gate, err = jobs.SetupWithManager(w.t.Context(), mgr, controller.Options{Metrics: prometheus.NewRegistry(), Namespaces: []string{w.namespace}})
	must(w.t, err)
	w.begin(mgr)
}

// manager makes one for the namespace that counts what is written to the status of tasks.
func (w *world) manager() ctrl.Manager {
	w.t.Helper()
	mgr, err := ctrl.NewManager(shared.Config, ctrl.Options{
		Scheme: shared.Scheme, Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}, ByObject: controller.CacheObjects()},
		NewClient: func(c *rest.Config, o client.Options) (client.Client, error) {
			inner, err := client.NewWithWatch(c, o)
			if err != nil {
				return nil, err
			}
			return interceptor.NewClient(inner, interceptor.Funcs{SubResourcePatch: w.count}), nil
		},
	})
	must(w.t, err)
	return mgr
}

// begin starts a manager, and sets what stops it.
func (w *world) begin(mgr ctrl.Manager) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(w.stop)
}

func (w *world) count(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	switch o.(type) {
	case *batchv1.Job, *corev1.Pod:
		w.told.Add(1)
		if w.deaf.Load() {
			return errors.New("nobody listens")
		}
	}
	return c.SubResource(sub).Patch(ctx, o, p, opts...)
}

// budget makes a Daily budget of a cost for the Jobs under the gate.
func (w *world) budget(limit string, change ...func(*budgetv1alpha1.TaskBudgetSpec)) {
	w.t.Helper()
	usd := resource.MustParse(limit)
	tb := &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "daily"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{MatchLabels: gated}, Period: budgetv1alpha1.Period{Type: "Lifetime"}, MaxCostUSD: &usd,
		},
	}
	for _, c := range change {
		c(&tb.Spec)
	}
	must(w.t, shared.Client.Create(w.t.Context(), tb))
}

func (w *world) raise(limit string) {
	w.t.Helper()
	tb := &budgetv1alpha1.TaskBudget{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "daily"}}
	must(w.t, shared.Client.Patch(w.t.Context(), tb, merge(fmt.Sprintf(`{"spec": {"maxCostUSD": %q}}`, limit))))
}

func merge(text string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(text))
}

// job makes a suspended Job under the gate that is expected to cost 0.75.
func (w *world) job(name string, change ...func(*batchv1.Job)) *batchv1.Job {
	w.t.Helper()
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: name, Labels: maps.Clone(gated), Annotations: map[string]string{jobs.AnnotationEstimate: "0.75"},
		},
		Spec: batchv1.JobSpec{
			Suspend: new(true), BackoffLimit: new(int32(1)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "agent", Image: "example.com/agent:1"}},
			}},
		},
	}
	for _, c := range change {
		c(job)
	}
	must(w.t, shared.Client.Create(w.t.Context(), job))
	return job
}

func (w *world) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: w.namespace, Name: name}
}

func (w *world) await(name, what string, right func(*batchv1.Job) bool) *batchv1.Job {
	w.t.Helper()
	job := &batchv1.Job{}
	cluster.Eventually(w.t, "Job "+name+" "+what, func(ctx context.Context) error {
		if err := shared.Client.Get(ctx, w.key(name), job); err != nil {
			return err
		}
		if !right(job) {
			return fmt.Errorf("it is suspended: %v, annotations %v, status %+v", *job.Spec.Suspend, job.Annotations, job.Status)
		}
		return nil
	})
	return job
}

func (w *world) awaitReleased(name string) {
	w.t.Helper()
	w.await(name, "is released", func(j *batchv1.Job) bool { return !*j.Spec.Suspend && condition(j) == nil })
}

func (w *world) awaitBlocked(name string) *batchv1.JobCondition {
	w.t.Helper()
	return condition(w.await(name, "is blocked", func(j *batchv1.Job) bool { return *j.Spec.Suspend && condition(j) != nil }))
}

// condition is the BudgetBlocked condition of a Job, nil if it is not there or not True.
func condition(job *batchv1.Job) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; string(c.Type) == budget.ConditionBudgetBlocked && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// end plays the kubelet: the one pod of a Job that has not ended does, and its container says something.
func (w *world) end(job *batchv1.Job, phase corev1.PodPhase, message string) {
	w.t.Helper()
	cluster.Eventually(w.t, "a pod of Job "+job.Name+" has ended", func(ctx context.Context) error {
		pods := &corev1.PodList{}
		must(w.t, shared.Client.List(ctx, pods, client.InNamespace(w.namespace), client.MatchingLabels{batchv1.ControllerUidLabel: string(job.UID)}))
		for i := range pods.Items {
			pod := &pods.Items[i]
			if pod.Status.Phase != corev1.PodPending {
				continue
			}
			now := metav1.NewTime(time.Now())
			pod.Status.Phase = phase
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{Message: message, StartedAt: now, FinishedAt: now, ExitCode: exitCode(phase)},
			}}}
			return shared.Client.Status().Update(ctx, pod)
		}
		return fmt.Errorf("%d pods, none of which is Pending", len(pods.Items))
	})
}

func exitCode(phase corev1.PodPhase) int32 {
	if phase == corev1.PodFailed {
		return 1
	}
	return 0
}

func (w *world) awaitRecord(job *batchv1.Job) *budgetv1alpha1.TaskRecordSpec {
	w.t.Helper()
	record := &budgetv1alpha1.TaskRecord{}
	cluster.Eventually(w.t, "Job "+job.Name+" is recorded and its hold is gone", func(ctx context.Context) error {
		if err := shared.Client.Get(ctx, w.key(string(job.UID)), record); err != nil {
			return err
		}
		if err := shared.Client.Get(ctx, w.key(string(job.UID)), &budgetv1alpha1.TaskHold{}); !apierrors.IsNotFound(err) {
			return errors.Join(err, errors.New("its hold is there"))
		}
		return nil
	})
	return &record.Spec
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
