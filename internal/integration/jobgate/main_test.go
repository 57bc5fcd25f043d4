package jobgate_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/bursar-dev/bursar/budget/install"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

var shared cluster.Cluster

func TestMain(m *testing.M) {
	log.SetLogger(zap.New(zap.WriteTo(logFile()), zap.UseDevMode(true)))
	os.Exit(shared.Main(ready{m}, cluster.Options{
		Controllers: []string{"job-controller"}, AddToScheme: []func(*runtime.Scheme) error{budgetv1alpha1.AddToScheme},
	}))
}

// ready are tests that need the resource definitions.
type ready struct{ m *testing.M }

func (r ready) Run() int {
	if err := install.Install(context.Background(), shared.Client, install.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return r.m.Run()
}

// logFile is where the controllers' log goes: nowhere, if nobody asks for it.
func logFile() *os.File {
	name := os.Getenv("BURSAR_TEST_LOG")
	if name == "" {
		name = os.DevNull
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		panic(err)
	}
	return file
}
