package controller_test

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// AgentTask stands for the host's own resource; here it is made of a resource
// that the API server knows.
type AgentTask struct {
	batchv1.Job
	Conditions []metav1.Condition
	Results    map[string]string
}

// agentTasks says how AgentTasks are read.
var agentTasks = controller.Host[*AgentTask]{
	New:        func() *AgentTask { return &AgentTask{} },
	Conditions: func(t *AgentTask) *[]metav1.Condition { return &t.Conditions },
	Completion: func(_ context.Context, t *AgentTask) (usage.Completion, error) {
		return usage.Completion{
			Phase: usage.Succeeded, StartTime: t.Status.StartTime.Time, CompletionTime: t.Status.CompletionTime.Time,
			Results: t.Results, // cost-usd, input-tokens, output-tokens
		}, nil
	},
}

// reconciler is the host's own.
type reconciler struct {
	client.Client

	gate     *controller.Gate[*AgentTask]
	recorder *controller.Recorder[*AgentTask]
}

// Reconcile starts tasks that a budget has room for, and records those that have
// finished.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	task := &AgentTask{}
	if err := r.Get(ctx, req.NamespacedName, task); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if task.Status.CompletionTime != nil {
		return ctrl.Result{}, errors.Join(r.cleanUp(ctx, task), r.recorder.Record(ctx, task))
	}
	answer, err := r.gate.Admit(ctx, task)
	if err != nil || !answer.Admitted {
		return ctrl.Result{RequeueAfter: answer.RequeueAfter}, err
	}
	return ctrl.Result{}, r.startPod(ctx, task)
}

func (r *reconciler) cleanUp(context.Context, *AgentTask) error  { return nil }
func (r *reconciler) startPod(context.Context, *AgentTask) error { return nil }

// The whole wiring of a host.
func Example() {
	wire := func(ctx context.Context, config *rest.Config, scheme *runtime.Scheme) error {
		if err := budgetv1alpha1.AddToScheme(scheme); err != nil { // before the manager is made
			return err
		}
		mgr, err := ctrl.NewManager(config, ctrl.Options{
			Scheme: scheme, Cache: cache.Options{ByObject: controller.CacheObjects()},
		})
		if err != nil {
			return err
		}
		book, err := controller.SetupWithManager(ctx, mgr, controller.Options{})
		if err != nil {
			return err
		}
		gate, err := controller.NewGate(book, agentTasks)
		if err != nil {
			return err
		}
		recorder, err := controller.NewRecorder(book, agentTasks)
		if err != nil {
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).For(&AgentTask{}).
			WatchesRawSource(gate.Wakeups()).
			Complete(&reconciler{mgr.GetClient(), gate, recorder})
	}
	_ = wire
	// Output:
}
