// Jobgate releases batch/v1 Jobs when a budget has room for them. Package jobs is the part to read. It runs against the
// cluster that the kubeconfig names:
//
//	go run ./examples/jobgate
//	kubectl apply -f examples/jobgate/manifests/budget.yaml -f examples/jobgate/manifests/job.yaml
//	kubectl get taskbudgets,jobs -w
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/bursar-dev/bursar/budget/controller"
	"github.com/bursar-dev/bursar/budget/install"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/examples/jobgate/jobs"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	namespace := flag.String("namespace", "", "namespace of the Jobs; all if empty")
	metrics := flag.String("metrics", "localhost:8080", "address of the metrics; 0 for none")
	elect := flag.Bool("leader-elect", false, "elect a leader: needed where more than one replica runs")
	flag.Parse()
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	cluster, err := config.GetConfig()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return serve(ctx, cluster, *namespace, ctrl.Options{
		Metrics:        server.Options{BindAddress: *metrics},
		LeaderElection: *elect, LeaderElectionID: "jobgate.example.bursar.dev",
	})
}

// serve installs bursar's resources and works until ctx is done.
func serve(ctx context.Context, cluster *rest.Config, namespace string, o ctrl.Options) error {
	c, err := client.New(cluster, client.Options{})
	if err != nil {
		return err
	}
	if err := install.Install(ctx, c, install.Options{}); err != nil { // before anything watches them
		return err
	}
	o.Scheme = runtime.NewScheme() // it has to be complete before the manager is made
	if err := errors.Join(clientgoscheme.AddToScheme(o.Scheme), budgetv1alpha1.AddToScheme(o.Scheme)); err != nil {
		return err
	}
	budgets := controller.Options{}
	o.Cache = cache.Options{ByObject: controller.CacheObjects()} // records and holds take little memory
	if namespace != "" {
		budgets.Namespaces, o.Cache.DefaultNamespaces = []string{namespace}, map[string]cache.Config{namespace: {}}
	}
	mgr, err := ctrl.NewManager(cluster, o)
	if err != nil {
		return err
	}
	if _, err := jobs.SetupWithManager(ctx, mgr, budgets); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
