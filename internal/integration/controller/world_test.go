package controller_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/bursar-dev/bursar/budget/controller"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

// world is a namespace with a host in it.
type world struct {
	t         testing.TB
	namespace string
	clock     clock.Clock
}

func newWorld(t testing.TB, c clock.Clock) *world {
	t.Helper()
	return &world{t: t, namespace: shared.Namespace(t, nil), clock: c}
}

// replica is a running host.
type replica struct {
	book     *controller.Book
	gate     *controller.Gate[*AgentTask]
	recorder *controller.Recorder[*AgentTask]
	client   client.Client
	events   *events
	registry *prometheus.Registry
	stop     func()
	asked    atomic.Int64 // reconciles of the host
	clock    clock.Clock
}

type object = client.Object

// settings of a replica.
type settings struct {
	options controller.Options
	wrap    func(client.WithWatch) client.Client
	// idle hosts leave their tasks alone: the test asks the gate itself.
	idle    bool
	workers int
	manager func(*ctrl.Options)
	config  *rest.Config
}

// start runs a host in the world until the test ends or stop is called.
func (w *world) start(s settings) *replica {
	w.t.Helper()
	r := w.run(s)
	cluster.Eventually(w.t, "the replica is ready", func(context.Context) error {
		if !r.book.Ready() {
			return errors.New("the book is not ready")
		}
		return nil
	})
	return r
}

func (w *world) run(s settings) *replica {
	w.t.Helper()
	r := &replica{events: newEvents(), registry: prometheus.NewRegistry(), clock: w.clock}
	options := ctrl.Options{
		Scheme:  shared.Scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}, ByObject: controller.CacheObjects()},
		NewClient: func(config *rest.Config, options client.Options) (client.Client, error) {
			c, err := client.New(config, options)
			if err != nil || s.wrap == nil {
				return c, err
			}
			full, err := client.NewWithWatch(config, client.Options{Scheme: options.Scheme, Cache: options.Cache})
			if err != nil {
				return nil, err
			}
			return s.wrap(full), nil
		},
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
	if s.manager != nil {
		s.manager(&options)
	}
	if s.config == nil {
		s.config = shared.Config
	}
	mgr, err := ctrl.NewManager(s.config, options)
	must(w.t, err)
	s.options.Clock, s.options.Metrics, s.options.Namespaces = w.clock, r.registry, []string{w.namespace}
	if s.options.Events == nil {
		s.options.Events = r.events
	}
	r.client = mgr.GetClient()
	r.book, err = controller.SetupWithManager(w.t.Context(), mgr, s.options)
	must(w.t, err)
	r.gate, err = controller.NewGate(r.book, host)
	must(w.t, err)
	r.recorder, err = controller.NewRecorder(r.book, host)
	must(w.t, err)
	if !s.idle {
		must(w.t, ctrl.NewControllerManagedBy(mgr).For(&AgentTask{}).WatchesRawSource(r.gate.Wakeups()).
			WithOptions(ctrlcontroller.Options{MaxConcurrentReconciles: max(s.workers, 1), NeedLeaderElection: new(s.options.Mode != controller.Fenced)}).Complete(r))
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	var once atomic.Bool
	r.stop = func() {
		if once.Swap(true) {
			return
		}
		cancel()
		if err := <-ended; err != nil {
			w.t.Logf("the manager has ended: %v", err) // as one does that was cut off
		}
	}
	w.t.Cleanup(r.stop)
	return r
}

// Reconcile is the host's own controller: about what a host has to write.
func (r *replica) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	r.asked.Add(1)
	task := &AgentTask{}
	if err := r.client.Get(ctx, req.NamespacedName, task); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	switch task.Status.Phase {
	case "Succeeded", "Failed":
		return reconcile.Result{}, r.recorder.Record(ctx, task)
	case "Running":
		return reconcile.Result{}, nil
	}
	answer, err := r.gate.Admit(ctx, task)
	if err != nil || !answer.Admitted {
		return reconcile.Result{RequeueAfter: answer.RequeueAfter}, err
	}
	task.Status.Phase = "Running"
	task.Status.StartTime = &metav1.Time{Time: r.clock.Now()}
	return reconcile.Result{}, r.client.Status().Update(ctx, task)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
