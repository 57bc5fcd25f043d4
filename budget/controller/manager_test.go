package controller_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// newManager makes a manager that is never started: it asks no API server.
func newManager(t *testing.T, add ...func(*runtime.Scheme) error) manager.Manager {
	t.Helper()
	return newManagerWithout(t, func(schema.GroupVersionKind) bool { return false }, add...)
}

// newManagerWithout makes a manager to which some kinds of its scheme are not served.
func newManagerWithout(t *testing.T, unserved func(schema.GroupVersionKind) bool, add ...func(*runtime.Scheme) error) manager.Manager {
	t.Helper()
	scheme, mapper := runtime.NewScheme(), meta.NewDefaultRESTMapper(nil)
	for _, to := range add {
		if err := to(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for gvk := range scheme.AllKnownTypes() {
		if !unserved(gvk) {
			mapper.Add(gvk, meta.RESTScopeNamespace)
		}
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "localhost:1"}, ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

func TestASchemeWithoutBursarsTypesIsToldFrom(t *testing.T) {
	t.Parallel()
	_, err := controller.SetupWithManager(t.Context(), newManager(t, corev1.AddToScheme), controller.Options{Metrics: prometheus.NewRegistry()})
	if err == nil || !strings.Contains(err.Error(), "call AddToScheme of budget/v1alpha1 on it before ctrl.NewManager") {
		t.Errorf("%v", err)
	}
}

// A resource that is not installed is what everyone forgets once: the error names what does it.
func TestAResourceThatIsNotServedIsToldFromWithTheRemedy(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"TaskBudget", "TaskRecord", "TaskHold"} {
		mgr := newManagerWithout(t, func(gvk schema.GroupVersionKind) bool { return gvk.Kind == kind }, budgetv1alpha1.AddToScheme)
		_, err := controller.SetupWithManager(t.Context(), mgr, controller.Options{Metrics: prometheus.NewRegistry()})
		want := "bursar: the API server does not serve " + kind + " of bursar.dev/v1alpha1: " +
			"call install.Install of budget/install, or apply budget/v1alpha1/crds, before the manager is made: "
		if err == nil || !strings.HasPrefix(err.Error(), want) || !meta.IsNoMatchError(err) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestATaskThatIsNotServedIsToldFromWithTheRemedy(t *testing.T) {
	t.Parallel()
	mgr := newManagerWithout(t, func(gvk schema.GroupVersionKind) bool { return gvk.Kind == "Job" }, batchv1.AddToScheme, budgetv1alpha1.AddToScheme)
	book, err := controller.SetupWithManager(t.Context(), mgr, controller.Options{Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	jobs := controller.Host[*batchv1.Job]{New: func() *batchv1.Job { return &batchv1.Job{} }, OwnConditions: controller.JobConditions()}
	for range 2 { // the second time it is no better
		_, err = controller.NewGate(book, jobs)
		want := "bursar: the API server does not serve Job of batch/v1: install its resource definition before the manager is made: "
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestJobsAndPodsAreTasks(t *testing.T) {
	t.Parallel()
	mgr := newManager(t, corev1.AddToScheme, batchv1.AddToScheme, budgetv1alpha1.AddToScheme)
	book, err := controller.SetupWithManager(t.Context(), mgr, controller.Options{Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	_, ofJobs := controller.NewGate(book, controller.Host[*batchv1.Job]{
		New: func() *batchv1.Job { return &batchv1.Job{} }, OwnConditions: controller.JobConditions(),
	})
	_, ofPods := controller.NewGate(book, controller.Host[*corev1.Pod]{
		New: func() *corev1.Pod { return &corev1.Pod{} }, OwnConditions: controller.PodConditions(),
	})
	if err := errors.Join(ofJobs, ofPods); err != nil {
		t.Error(err)
	}
}
