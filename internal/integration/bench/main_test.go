package bench_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/bursar-dev/bursar/budget/install"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

var shared cluster.Cluster

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(shared.Main(ready{m}, cluster.Options{
		AddToScheme: []func(*runtime.Scheme) error{budgetv1alpha1.AddToScheme, examplev1alpha1.AddToScheme},
	}))
}

// ready are tests that need the resource definitions.
type ready struct{ m *testing.M }

func (r ready) Run() int {
	own, err := install.Read(examplev1alpha1.CRDs, "crds/*.yaml")
	if err == nil {
		err = install.Install(context.Background(), shared.Client, install.Options{Also: own})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return r.m.Run()
}
