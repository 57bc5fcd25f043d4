package jobgate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	"github.com/bursar-dev/bursar/examples/jobgate/jobs"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/usage"
)

// TestA8_AConflictIsToldOnTheJobOnce where somebody changes what a Job has spent after it was recorded. It is tried again until
// it is told.
func TestA8_AConflictIsToldOnTheJobOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget("5")
	job := w.job("nightly")
	w.awaitReleased("nightly")
	w.end(job, corev1.PodSucceeded, `{"cost-usd": "0.42"}`)
	w.awaitRecord(job)
	w.deaf.Store(true)
	before := w.told.Load()
	must(t, shared.Client.Patch(t.Context(), job, merge(fmt.Sprintf(`{"metadata": {"annotations": {%q: "{\"cost-usd\": \"0.1\"}"}}}`, jobs.AnnotationUsage))))
	cluster.Eventually(t, "it was not heard", func(context.Context) error {
		if w.told.Load() == before {
			return errors.New("nothing was said")
		}
		return nil
	})
	w.deaf.Store(false)
	own := controller.JobConditions()
	told := w.await("nightly", "has a conflict", func(j *batchv1.Job) bool { return own.Find(j, controller.ConditionRecordConflict) != nil })
	if c := own.Find(told, controller.ConditionRecordConflict); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "0.42") || !strings.Contains(c.Message, "0.1") {
		t.Errorf("it is told %+v", c)
	}
	if phase, _ := jobs.Finished(told); phase != usage.Succeeded {
		t.Errorf("its own conditions are %+v", told.Status.Conditions)
	}
	before = w.told.Load()
	for _, change := range []string{`{"metadata": {"annotations": {"touched": "yes"}}}`, `{"spec": {"parallelism": 2}}`} {
		must(t, shared.Client.Patch(t.Context(), job, merge(change)))
		time.Sleep(time.Second)
	}
	if more := w.told.Load() - before; more != 0 {
		t.Errorf("it was told %d times more", more)
	}
}

// TestA5_APodIsATask that waits behind a scheduling gate.
func TestA5_APodIsATask(t *testing.T) {
	t.Parallel()
	w := &world{t: t, namespace: shared.Namespace(t, nil)}
	w.budget("1")
	mgr := w.manager()
	book, err := controller.SetupWithManager(t.Context(), mgr, controller.Options{Metrics: prometheus.NewRegistry(), Namespaces: []string{w.namespace}})
	must(t, err)
	usd := "2"
	gate, err := controller.NewGate(book, controller.Host[*corev1.Pod]{
		New: func() *corev1.Pod { return &corev1.Pod{} }, OwnConditions: controller.PodConditions(),
		Estimate: func(*corev1.Pod) usage.Amounts { return usage.Amounts{usage.CostUSD: usage.MustUSD(usd)} },
	})
	must(t, err)
	w.begin(mgr)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "bot", Labels: gated},
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.bursar.dev/budget"}},
			Containers:      []corev1.Container{{Name: "bot", Image: "example.com/bot:1"}},
		},
	}
	must(t, shared.Client.Create(t.Context(), pod))
	ask := func(what string, right func(controller.Result, *metav1.Condition) bool) {
		t.Helper()
		cluster.Eventually(t, what, func(ctx context.Context) error {
			must(t, shared.Client.Get(ctx, w.key("bot"), pod))
			answer, err := gate.Admit(ctx, pod)
			if err != nil {
				return err
			}
			stored := &corev1.Pod{}
			must(t, shared.Client.Get(ctx, w.key("bot"), stored))
			if c := controller.PodConditions().Find(stored, budget.ConditionBudgetBlocked); !right(answer, c) {
				return fmt.Errorf("%+v, condition %+v", answer, c)
			}
			return nil
		})
	}
	ask("the Pod is refused, and told", func(r controller.Result, c *metav1.Condition) bool {
		return !r.Admitted && c != nil && c.Status == metav1.ConditionTrue && c.Reason == budget.ReasonBudgetExceeded
	})
	told := w.told.Load()
	for range 3 {
		ask("the Pod is refused again", func(r controller.Result, c *metav1.Condition) bool { return !r.Admitted && c != nil })
	}
	if more := w.told.Load() - told; more != 0 {
		t.Errorf("it was told %d times more", more)
	}
	usd = "0.5"
	ask("the Pod is admitted", func(r controller.Result, c *metav1.Condition) bool { return r.Admitted && c == nil })
	if len(pod.Status.Conditions) == 0 {
		t.Error("the Pod's own conditions are gone")
	}
}

// TestA5_AnUnstructuredTaskIsATask of which the host knows no type: here it is a Job all the same.
func TestA5_AnUnstructuredTaskIsATask(t *testing.T) {
	t.Parallel()
	w := &world{t: t, namespace: shared.Namespace(t, nil)}
	w.budget("1")
	mgr := w.manager()
	book, err := controller.SetupWithManager(t.Context(), mgr, controller.Options{Metrics: prometheus.NewRegistry(), Namespaces: []string{w.namespace}})
	must(t, err)
	newTask := func() *unstructured.Unstructured {
		task := &unstructured.Unstructured{}
		task.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
		return task
	}
	usd := "2"
	gate, err := controller.NewGate(book, controller.Host[*unstructured.Unstructured]{
		New: newTask, OwnConditions: controller.UnstructuredConditions(),
		Estimate: func(*unstructured.Unstructured) usage.Amounts {
			return usage.Amounts{usage.CostUSD: usage.MustUSD(usd)}
		},
	})
	must(t, err)
	w.begin(mgr)
	w.job("nightly")
	ask := func(what string, right func(controller.Result, *metav1.Condition) bool) {
		t.Helper()
		cluster.Eventually(t, what, func(ctx context.Context) error {
			task, stored := newTask(), &batchv1.Job{}
			must(t, shared.Client.Get(ctx, w.key("nightly"), task))
			answer, err := gate.Admit(ctx, task)
			if err != nil {
				return err
			}
			must(t, shared.Client.Get(ctx, w.key("nightly"), stored))
			if c := controller.JobConditions().Find(stored, budget.ConditionBudgetBlocked); !right(answer, c) {
				return fmt.Errorf("%+v, condition %+v", answer, c)
			}
			return nil
		})
	}
	ask("the task is refused, and told", func(r controller.Result, c *metav1.Condition) bool {
		return !r.Admitted && c != nil && c.Status == metav1.ConditionTrue && c.Reason == budget.ReasonBudgetExceeded
	})
	usd = "0.5"
	ask("the task is admitted", func(r controller.Result, c *metav1.Condition) bool { return r.Admitted && c == nil })
}
