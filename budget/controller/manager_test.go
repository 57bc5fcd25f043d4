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
	scheme, mapper := runtime.NewScheme(), meta.NewDefaultRESTMapper(nil)
	for _, to := range add {
		if err := to(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for gvk := range scheme.AllKnownTypes() {
		mapper.Add(gvk, meta.RESTScopeNamespace)
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
