package controller_test

import (
	"context"
	"errors"
	"io/fs"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
	"github.com/bursar-dev/bursar/rego"
	"github.com/bursar-dev/bursar/usage"
)

// AgentTask stands for the host's own resource; what makes it an object is
// borrowed from a resource that the API server knows.
type AgentTask struct {
	batchv1.Job

	Status AgentTaskStatus
}

// AgentTaskStatus is what bursar reads and writes of it. A task may end without
// having started: where times are pointers, look for nil.
type AgentTaskStatus struct {
	Phase                     usage.Phase
	StartTime, CompletionTime metav1.Time
	Conditions                []metav1.Condition
	Results                   map[string]string
}

// agentTasks says how AgentTasks are read.
var agentTasks = controller.Host[*AgentTask]{
	New:        func() *AgentTask { return &AgentTask{} },
	Conditions: func(t *AgentTask) *[]metav1.Condition { return &t.Status.Conditions },
	Completion: func(_ context.Context, t *AgentTask) (usage.Completion, error) {
		return usage.Completion{
			Phase: t.Status.Phase, StartTime: t.Status.StartTime.Time, CompletionTime: t.Status.CompletionTime.Time,
			Results: t.Status.Results, // cost-usd, input-tokens, output-tokens
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
	if !task.Status.CompletionTime.IsZero() {
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

// policiesOf reads a folder each time it is called.
func policiesOf(folder fs.FS) func() (*policy.Set, error) {
	return func() (*policy.Set, error) {
		hooks, err := rego.Load(folder, rego.Options{}) // or cel.LoadFS
		if err != nil {
			return nil, err
		}
		bindings := make([]policy.Binding, 0, len(hooks))
		for _, hook := range hooks {
			bindings = append(bindings, policy.Binding{Hook: hook})
		}
		return policy.NewSet(policy.Options{}, bindings...)
	}
}

// Policies: CEL inside budgets, and a folder of Rego that is asked about every
// task. Call ReloadPolicies again when the folder has changed.
func Example_policies() {
	load := policiesOf(os.DirFS("policies"))
	wire := func(ctx context.Context, mgr ctrl.Manager) error {
		book, err := controller.SetupWithManager(ctx, mgr, controller.Options{
			Compile:  []budget.CompileOption{budget.WithPolicies(cel.CompileRules)},
			Policies: &policy.Holder{},
		})
		if err != nil {
			return err
		}
		return book.ReloadPolicies(ctx, load) // and then gate and recorder, as above
	}
	_ = wire
	// Output:
}
