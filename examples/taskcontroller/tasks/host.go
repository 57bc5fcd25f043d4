package tasks

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget/controller"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// Host is how bursar reads an AgentTask.
func Host() controller.Host[*examplev1alpha1.AgentTask] {
	return controller.Host[*examplev1alpha1.AgentTask]{ // bursar: what a task is
		New:        func() *examplev1alpha1.AgentTask { return &examplev1alpha1.AgentTask{} },
		Conditions: func(t *examplev1alpha1.AgentTask) *[]metav1.Condition { return &t.Status.Conditions },
		Estimate:   estimateOf,
		Completion: completionOf,
	}
}

// estimateOf reads what the task says that it will cost. Where it says nothing, each budget has an estimate of its own. (What
// can't be read never got past the API server.)
func estimateOf(t *examplev1alpha1.AgentTask) usage.Amounts {
	cost, err := usage.ParseUSD(t.Spec.EstimateUSD)
	if err != nil {
		return nil
	}
	return usage.Amounts{usage.CostUSD: cost}
}

// completionOf says how a finished task has ended and what it reports. The type and the model are those of whoever has done
// the work: for a task that ran in a pool, the pool's.
func completionOf(_ context.Context, t *examplev1alpha1.AgentTask) (usage.Completion, error) {
	return usage.Completion{
		Task:           usage.Task{Type: t.Status.Type, Model: t.Status.Model},
		Phase:          usage.Phase(t.Status.Phase),
		StartTime:      timeOf(t.Status.StartTime),
		CompletionTime: timeOf(t.Status.CompletionTime),
		Results:        t.Status.Results, // cost-usd, input-tokens, output-tokens
	}, nil
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
