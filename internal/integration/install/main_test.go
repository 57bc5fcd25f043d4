package install_test

import (
	"context"
	"os"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget/install"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

var shared cluster.Cluster

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(shared.Main(m, cluster.Options{AddToScheme: []func(*runtime.Scheme) error{budgetv1alpha1.AddToScheme}}))
}

// clean takes bursar's CRDs off the API server, with all their objects. The tests of this package run one after another.
func clean(t *testing.T) {
	t.Helper()
	crds, err := install.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		remove(t, crd.Name)
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := client.IgnoreNotFound(shared.Client.Delete(t.Context(), crd)); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "CRD "+name+" is gone", func(ctx context.Context) error {
		err := shared.Client.Get(ctx, client.ObjectKey{Name: name}, crd)
		if err == nil {
			return context.DeadlineExceeded
		}
		return client.IgnoreNotFound(err)
	})
}

func usd(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

func newBudget(namespace, name string) *budgetv1alpha1.TaskBudget {
	return &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{}, Period: budgetv1alpha1.Period{Type: "Daily"}, MaxCostUSD: usd("10"),
		},
	}
}
