// Demo-cluster starts an API server, lets a day of examples/taskcontroller pass on it, and stops it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/internal/integration/demo"
)

func main() {
	ctrl.SetLogger(logr.Discard())
	p := &program{}
	flag.StringVar(&p.manifests, "manifests", "../../examples/taskcontroller/manifests", "folder of the example's manifests")
	flag.Parse()
	os.Exit(p.cluster.Main(p, cluster.Options{
		AddToScheme: []func(*runtime.Scheme) error{budgetv1alpha1.AddToScheme, examplev1alpha1.AddToScheme},
	}))
}

// program is what runs while the API server does.
type program struct {
	cluster   cluster.Cluster
	manifests string
}

// Run gives the exit code.
func (p *program) Run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := demo.Day(ctx, &p.cluster, p.manifests, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	}
	return 0
}
