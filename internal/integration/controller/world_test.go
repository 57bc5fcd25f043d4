package controller_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
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

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

// world is a namespace with a host in it.
type world struct {
	t         *testing.T
	namespace string
	clock     clock.Clock
}

func newWorld(t *testing.T, c clock.Clock) *world {
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
		<-ended
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

// budget makes a Daily budget of a cost for the tasks with these labels.
func (w *world) budget(name, limit string, labels map[string]string, change ...func(*budgetv1alpha1.TaskBudgetSpec)) *budgetv1alpha1.TaskBudget {
	w.t.Helper()
	tb := &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{MatchLabels: labels},
			Period:       budgetv1alpha1.Period{Type: "Daily"},
			MaxCostUSD:   usd(limit),
		},
	}
	for _, c := range change {
		c(&tb.Spec)
	}
	must(w.t, shared.Client.Create(w.t.Context(), tb))
	return tb
}

func usd(text string) *resource.Quantity { q := resource.MustParse(text); return &q }

// raise changes the limit of a budget.
func (w *world) raise(name, limit string) {
	w.t.Helper()
	w.edit(&budgetv1alpha1.TaskBudget{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}, func(o client.Object) {
		o.(*budgetv1alpha1.TaskBudget).Spec.MaxCostUSD = usd(limit)
	})
}

func (w *world) edit(o client.Object, change func(client.Object)) {
	w.t.Helper()
	for {
		must(w.t, shared.Client.Get(w.t.Context(), client.ObjectKeyFromObject(o), o))
		change(o)
		err := shared.Client.Update(w.t.Context(), o)
		if !apierrors.IsConflict(err) {
			must(w.t, err)
			return
		}
	}
}

func (w *world) task(name, estimate string, labels map[string]string) *AgentTask {
	w.t.Helper()
	task := &AgentTask{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Labels: labels},
		Spec:       AgentTaskSpec{EstimateUSD: estimate},
	}
	must(w.t, shared.Client.Create(w.t.Context(), task))
	return task
}

func (w *world) get(name string) *AgentTask {
	w.t.Helper()
	task := &AgentTask{}
	must(w.t, shared.Client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, task))
	return task
}

// finish plays the agent: the task ends and says what it has cost.
func (w *world) finish(name, cost string) {
	w.t.Helper()
	w.finishAt(name, cost, w.clock.Now())
}

func (w *world) finishAt(name, cost string, at time.Time) {
	w.t.Helper()
	for {
		task := w.get(name)
		task.Status.Phase = "Succeeded"
		task.Status.CompletionTime = &metav1.Time{Time: at}
		task.Status.Results = map[string]string{"cost-usd": cost}
		err := shared.Client.Status().Update(w.t.Context(), task)
		if !apierrors.IsConflict(err) {
			must(w.t, err)
			return
		}
	}
}

func (w *world) awaitPhase(name, phase string) *AgentTask {
	w.t.Helper()
	var task *AgentTask
	cluster.Eventually(w.t, name+" is "+phase, func(context.Context) error {
		task = w.get(name)
		if task.Status.Phase != phase {
			return fmt.Errorf("it is %q, conditions %v", task.Status.Phase, task.Status.Conditions)
		}
		return nil
	})
	return task
}

func (w *world) awaitBlocked(name string) *metav1.Condition {
	w.t.Helper()
	var condition *metav1.Condition
	cluster.Eventually(w.t, name+" is blocked", func(context.Context) error {
		task := w.get(name)
		condition = meta.FindStatusCondition(task.Status.Conditions, budget.ConditionBudgetBlocked)
		if condition == nil || condition.Status != metav1.ConditionTrue {
			return fmt.Errorf("phase %q, conditions %v", task.Status.Phase, task.Status.Conditions)
		}
		return nil
	})
	return condition
}

func (w *world) records() []budgetv1alpha1.TaskRecord {
	w.t.Helper()
	list := &budgetv1alpha1.TaskRecordList{}
	must(w.t, shared.Client.List(w.t.Context(), list, client.InNamespace(w.namespace)))
	return list.Items
}

func (w *world) holds() []budgetv1alpha1.TaskHold {
	w.t.Helper()
	list := &budgetv1alpha1.TaskHoldList{}
	must(w.t, shared.Client.List(w.t.Context(), list, client.InNamespace(w.namespace)))
	return list.Items
}

func (w *world) awaitRecord(task *AgentTask) *budgetv1alpha1.TaskRecord {
	w.t.Helper()
	tr := &budgetv1alpha1.TaskRecord{}
	cluster.Eventually(w.t, task.Name+" is recorded and its hold is gone", func(ctx context.Context) error {
		key := client.ObjectKey{Namespace: w.namespace, Name: string(task.UID)}
		if err := shared.Client.Get(ctx, key, tr); err != nil {
			return err
		}
		if err := shared.Client.Get(ctx, key, &budgetv1alpha1.TaskHold{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("its hold: %w", errors.Join(err, errors.New("want not found")))
		}
		return nil
	})
	return tr
}

// awaitStatus waits until the status of a budget is as it should be.
func (w *world) awaitStatus(name, what string, right func(budgetv1alpha1.TaskBudgetStatus) bool) budgetv1alpha1.TaskBudgetStatus {
	w.t.Helper()
	tb := &budgetv1alpha1.TaskBudget{}
	cluster.Eventually(w.t, "budget "+name+": "+what, func(ctx context.Context) error {
		if err := shared.Client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, tb); err != nil {
			return err
		}
		if !right(tb.Status) {
			return fmt.Errorf("status %s", asJSON(tb.Status))
		}
		return nil
	})
	return tb.Status
}

// count checks how many records or holds there are.
func (w *world) count(what string, want int) func(context.Context) error {
	return func(context.Context) error {
		got := len(w.records())
		if what == "holds" {
			got = len(w.holds())
		}
		if got != want {
			return fmt.Errorf("%d %s, want %d", got, what, want)
		}
		return nil
	}
}
