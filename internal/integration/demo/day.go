package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/bursar-dev/bursar/budget/controller"
	"github.com/bursar-dev/bursar/budget/install"
	"github.com/bursar-dev/bursar/examples/taskcontroller/fastclock"
	"github.com/bursar-dev/bursar/examples/taskcontroller/tasks"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

const (
	// hour is how long an hour of the day takes.
	hour = 1500 * time.Millisecond
	// patience bounds the whole day, 17 hours and what a busy machine adds.
	patience = 55 * time.Second
)

// morning is a Monday.
var morning = time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC)

// Day installs the custom resources, runs taskcontroller from the morning until after midnight on a clock of its own, and
// prints how the budgets stand when it begins, when tasks wait for them, and when they are new again. manifests is the folder
// of the example's manifests. What Day has started ends with it.
func Day(ctx context.Context, c *cluster.Cluster, manifests string, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the day is not over after %v", patience))
	defer cancel()
	d := &day{Cluster: c, out: out, namespace: "agents"}
	if err := d.prepare(ctx, manifests); err != nil {
		return err
	}
	d.clock = fastclock.New(morning, int(time.Hour/hour))
	stop, err := d.run(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return d.watch(ctx)
}

// day is a day that passes.
type day struct {
	*cluster.Cluster
	out       io.Writer
	namespace string
	clock     *fastclock.Clock
	tables    *tables
}

func (d *day) prepare(ctx context.Context, manifests string) error {
	own, err := install.Read(examplev1alpha1.CRDs, "crds/*.yaml")
	if err != nil {
		return err
	}
	if err := install.Install(ctx, d.Client, install.Options{Also: own}); err != nil {
		return err
	}
	if err := d.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: d.namespace}}); err != nil {
		return err
	}
	if d.tables, err = newTables(d.Config, d.namespace); err != nil {
		return err
	}
	return d.apply(ctx, filepath.Join(manifests, "day.yaml"))
}

// apply is kubectl apply --server-side.
func (d *day) apply(ctx context.Context, file string) error {
	objects, err := cluster.ReadManifests(file)
	if err != nil {
		return err
	}
	for _, object := range objects {
		object.SetNamespace(d.namespace)
		if err := d.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("kubectl")); err != nil {
			return fmt.Errorf("%s: %s %s: %w", file, object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// run starts the controllers; stop ends them, and waits until they have.
func (d *day) run(ctx context.Context) (stop func() error, err error) {
	scheme, err := tasks.NewScheme()
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(d.Config, ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{d.namespace: {}}, ByObject: controller.CacheObjects()},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, err
	}
	_, err = tasks.SetupWithManager(ctx, mgr, tasks.Options{Clock: d.clock, Concurrency: 4, Budgets: controller.Options{
		Namespaces: []string{d.namespace}, Metrics: prometheus.NewRegistry(), StatusInterval: 200 * time.Millisecond, SweepInterval: time.Hour,
	}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}, nil
}
