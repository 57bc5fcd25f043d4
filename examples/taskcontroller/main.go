// Taskcontroller is a controller of AgentTasks, a custom resource of its own, whose spending bursar governs. Package tasks is
// the part to read. It runs against the cluster that the kubeconfig names:
//
//	go run ./examples/taskcontroller -speed 60
//	kubectl apply -f examples/taskcontroller/manifests
//	kubectl get taskbudgets,agenttasks -w
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
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/bursar-dev/bursar/budget/controller"
	"github.com/bursar-dev/bursar/budget/install"
	"github.com/bursar-dev/bursar/examples/taskcontroller/fastclock"
	"github.com/bursar-dev/bursar/examples/taskcontroller/tasks"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// settings come from the command line. (controller-runtime adds -kubeconfig.)
type settings struct {
	namespace, metrics string
	speed              int
	elect              bool
}

func run() error {
	s := settings{}
	flag.StringVar(&s.namespace, "namespace", "", "namespace of the tasks; all if empty")
	flag.StringVar(&s.metrics, "metrics", "localhost:8080", "address of the metrics; 0 for none")
	flag.IntVar(&s.speed, "speed", 1, "how fast time passes; 60 makes an hour a minute")
	flag.BoolVar(&s.elect, "leader-elect", false, "elect a leader: needed where more than one replica runs")
	flag.Parse()
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	cluster, err := config.GetConfig()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return serve(ctx, cluster, s)
}

// serve installs the resources and works on them until ctx is done.
func serve(ctx context.Context, cluster *rest.Config, s settings) error {
	own, err := install.Read(examplev1alpha1.CRDs, "crds/*.yaml")
	if err != nil {
		return err
	}
	c, err := client.New(cluster, client.Options{})
	if err != nil {
		return err
	}
	if err := install.Install(ctx, c, install.Options{Also: own}); err != nil { // before anything watches them
		return err
	}
	scheme, err := tasks.NewScheme()
	if err != nil {
		return err
	}
	o := tasks.Options{}
	caches := cache.Options{ByObject: controller.CacheObjects()} // records and holds take little memory
	if s.namespace != "" {
		o.Budgets.Namespaces, caches.DefaultNamespaces = []string{s.namespace}, map[string]cache.Config{s.namespace: {}}
	}
	if s.speed > 1 {
		o.Clock = fastclock.New(time.Now(), s.speed)
	}
	mgr, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme: scheme, Cache: caches, Metrics: server.Options{BindAddress: s.metrics},
		LeaderElection: s.elect, LeaderElectionID: "taskcontroller.example.bursar.dev",
	})
	if err != nil {
		return err
	}
	if _, err := tasks.SetupWithManager(ctx, mgr, o); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
