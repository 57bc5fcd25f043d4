package taskcontroller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/examples/taskcontroller/fastclock"
	"github.com/bursar-dev/bursar/examples/taskcontroller/tasks"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

type (
	task     = examplev1alpha1.AgentTask
	producer = examplev1alpha1.TaskProducer
)

// world is a namespace in which the example runs.
type world struct {
	t         *testing.T
	namespace string
	clock     *fastclock.Clock
	tasks     *tasks.Reconciler
}

// settings of a world.
type settings struct {
	begin time.Time // noon if it is not set
	speed int       // 600 if it is not set: a tenth of a second is a minute
	agent tasks.Agent
	funcs interceptor.Funcs // come between the controllers and the API server
}

// newWorld makes a namespace with a worker pool and runs the example in it.
func newWorld(t *testing.T, s settings) *world {
	t.Helper()
	w := &world{t: t, namespace: shared.Namespace(t, nil)}
	if s.begin.IsZero() {
		s.begin = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)
	}
	if s.speed == 0 {
		s.speed = 600
	}
	w.clock = fastclock.New(s.begin, s.speed)
	w.make(&examplev1alpha1.WorkerPool{
		ObjectMeta: metav1.ObjectMeta{Name: "blue"}, Spec: examplev1alpha1.WorkerPoolSpec{Type: "coding-agent", Model: "large"},
	})
	w.run(s)
	cluster.Eventually(t, "the budgets are known", func(context.Context) error {
		if !w.tasks.Book.Ready() {
			return controller.ErrNotReady
		}
		return nil
	})
	return w
}

func (w *world) run(s settings) {
	w.t.Helper()
	scheme, err := tasks.NewScheme()
	must(w.t, err)
	mgr, err := ctrl.NewManager(shared.Config, ctrl.Options{
		Scheme:     scheme,
		Metrics:    server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}, ByObject: controller.CacheObjects()},
		Controller: config.Controller{SkipNameValidation: new(true)},
		NewClient: func(c *rest.Config, o client.Options) (client.Client, error) {
			inner, err := client.NewWithWatch(c, o)
			if err != nil {
				return nil, err
			}
			return interceptor.NewClient(inner, s.funcs), nil
		},
	})
	must(w.t, err)
	w.tasks, err = tasks.SetupWithManager(w.t.Context(), mgr, tasks.Options{
		Clock: w.clock, Agent: s.agent, Concurrency: 2,
		Budgets: controller.Options{Metrics: prometheus.NewRegistry(), Namespaces: []string{w.namespace}, SweepInterval: time.Hour},
	})
	must(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
}

func (w *world) make(o client.Object) {
	w.t.Helper()
	o.SetNamespace(w.namespace)
	must(w.t, shared.Client.Create(w.t.Context(), o))
}

// budget makes a Daily budget of a cost for the tasks with these labels.
func (w *world) budget(name, limit string, labels map[string]string) {
	w.t.Helper()
	usd := resource.MustParse(limit)
	w.make(&budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{MatchLabels: labels}, Period: budgetv1alpha1.Period{Type: "Daily"}, MaxCostUSD: &usd,
		},
	})
}

// task makes a task of the pool blue.
func (w *world) task(name, estimate string) *task {
	w.t.Helper()
	o := &task{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "platform"}},
		Spec: examplev1alpha1.AgentTaskSpec{
			Prompt: "mend it", EstimateUSD: estimate, WorkerPoolRef: &examplev1alpha1.WorkerPoolReference{Name: "blue"},
		},
	}
	w.make(o)
	return o
}

func (w *world) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: w.namespace, Name: name}
}

// await reads a task until it is as it should be.
func (w *world) await(name, what string, right func(*task) bool) *task {
	w.t.Helper()
	o := &task{}
	cluster.Eventually(w.t, "task "+name+" "+what, func(ctx context.Context) error {
		if err := shared.Client.Get(ctx, w.key(name), o); err != nil {
			return err
		}
		if !right(o) {
			return fmt.Errorf("its status is %+v", o.Status)
		}
		return nil
	})
	return o
}

func (w *world) awaitPhase(name string, phase examplev1alpha1.Phase) *task {
	w.t.Helper()
	return w.await(name, "is "+string(phase), func(o *task) bool { return o.Status.Phase == phase })
}

func (w *world) awaitRecord(o *task) *budgetv1alpha1.TaskRecord {
	w.t.Helper()
	record := &budgetv1alpha1.TaskRecord{}
	cluster.Eventually(w.t, "task "+o.Name+" is recorded", func(ctx context.Context) error {
		return shared.Client.Get(ctx, w.key(string(o.UID)), record)
	})
	return record
}

func (w *world) awaitBudget(name, what string, right func(*budgetv1alpha1.TaskBudgetStatus) bool) {
	w.t.Helper()
	cluster.Eventually(w.t, "budget "+name+" "+what, func(ctx context.Context) error {
		o := &budgetv1alpha1.TaskBudget{}
		if err := shared.Client.Get(ctx, w.key(name), o); err != nil {
			return err
		}
		if !right(&o.Status) {
			return fmt.Errorf("its status is %+v", o.Status)
		}
		return nil
	})
}

// made gives the names of the tasks that there are.
func (w *world) made() []task {
	w.t.Helper()
	list := &examplev1alpha1.AgentTaskList{}
	must(w.t, shared.Client.List(w.t.Context(), list, client.InNamespace(w.namespace)))
	return list.Items
}

// blocked is the message of a task's BudgetBlocked condition, "" if it has none.
func blocked(o *task) string {
	if c := meta.FindStatusCondition(o.Status.Conditions, budget.ConditionBudgetBlocked); c != nil && c.Status == metav1.ConditionTrue {
		return c.Message
	}
	return ""
}

// costs is an agent whose tasks all take half an hour and report one cost.
func costs(usd string) tasks.Agent {
	return func(*task) tasks.Outcome {
		return tasks.Outcome{After: 30 * time.Minute, Results: map[string]string{"cost-usd": usd, "input-tokens": "1000", "output-tokens": "50"}}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var errCut = errors.New("the connection is lost")
