package tasks

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
)

// Options are what may differ between a cluster, a test and a demonstration. The zero value is for a cluster.
type Options struct {
	// Clock tells the time, to bursar as well; nil is the system's.
	Clock clock.Clock
	// Agent does the work; nil is Pretend.
	Agent Agent
	// Budgets are bursar's own options. Its Clock is the one above.
	Budgets controller.Options
	// Concurrency is how many tasks are reconciled at once; 1 unless it is set.
	Concurrency int
}

// NewScheme makes the scheme of the manager. It has to be complete before the manager is made, since controller.CacheObjects
// is about types of bursar.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, examplev1alpha1.AddToScheme,
		budgetv1alpha1.AddToScheme, // bursar: TaskBudget, TaskRecord, TaskHold
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// SetupWithManager adds the controllers of tasks and of producers to a manager with the scheme above, and those of bursar.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, o Options) (*Reconciler, error) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Agent == nil {
		o.Agent = Pretend
	}
	r, err := newReconciler(ctx, mgr, o)
	if err != nil {
		return nil, err
	}
	everywhere := o.Budgets.Mode == controller.Fenced
	err = ctrl.NewControllerManagedBy(mgr).For(&examplev1alpha1.AgentTask{}).
		WatchesRawSource(r.Wakeups()).      // bursar: a task that waits is asked about again when the answer has changed
		WatchesRawSource(r.Workers.alarm).  // a worker is done
		WithOptions(ctrlcontroller.Options{ // bursar: only one replica decides, unless all are fenced
			MaxConcurrentReconciles: max(o.Concurrency, 1), NeedLeaderElection: new(!everywhere),
		}).Complete(r)
	if err != nil {
		return nil, err
	}
	return r, newProducer(mgr.GetClient(), o.Clock).setupWithManager(mgr)
}

func newReconciler(ctx context.Context, mgr ctrl.Manager, o Options) (*Reconciler, error) {
	o.Budgets.Clock = o.Clock
	book, err := controller.SetupWithManager(ctx, mgr, o.Budgets) // bursar: what keeps budgets, records and holds
	if err != nil {
		return nil, err
	}
	gate, err := controller.NewGate(book, Host()) // bursar: may this task start now?
	if err != nil {
		return nil, err
	}
	recorder, err := controller.NewRecorder(book, Host()) // bursar: what did it cost?
	if err != nil {
		return nil, err
	}
	return &Reconciler{
		Client: mgr.GetClient(), Gate: gate, Recorder: recorder, Book: book,
		Clock: o.Clock, Workers: newWorkers(mgr.GetClient(), o.Clock, o.Agent),
	}, nil
}
