package tasks

import (
	"context"
	"hash/fnv"
	"maps"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
)

// An Agent says how a task turns out. It must say the same of the same task whenever it is asked.
type Agent func(task *examplev1alpha1.AgentTask) Outcome

// Outcome is how a task turns out.
type Outcome struct {
	// After is how long the task runs.
	After time.Duration
	// Failed says that it fails. It has spent what it says all the same.
	Failed bool
	// Results are what the agent reports, as text.
	Results map[string]string
}

// Pretend is an agent that does nothing: it takes 10 to 40 minutes and reports 0.25 to 1.24 dollars and some tokens, by the
// task's name.
func Pretend(task *examplev1alpha1.AgentTask) Outcome {
	const cents, cheapest, shortest, spread = 100, 25, 10, 31
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(task.Name)) // a hash never fails
	dice := int(sum.Sum32() >> 1)
	cost := cheapest + dice%cents
	return Outcome{
		After: time.Duration(shortest+dice%spread) * time.Minute,
		Results: map[string]string{
			"cost-usd":      strconv.FormatFloat(float64(cost)/cents, 'f', 2, 64),
			"input-tokens":  strconv.Itoa(cost * 2000),
			"output-tokens": strconv.Itoa(cost * 150),
		},
	}
}

// Workers do the work of tasks. They know which tasks they have, and are told when one of them needs no worker any more.
type Workers struct {
	client client.Client
	clock  clock.Clock
	agent  Agent
	alarm  *alarm

	mu   sync.Mutex
	busy map[ctrl.Request]string // the pool of each task that runs, "" without one
}

func newWorkers(c client.Client, now clock.Clock, agent Agent) *Workers {
	return &Workers{client: c, clock: now, agent: agent, alarm: newAlarm(now), busy: map[ctrl.Request]string{}}
}

// Run looks after a running task. When its time has come it writes what the agent reports; until then nothing.
func (w *Workers) Run(ctx context.Context, task *examplev1alpha1.AgentTask) error {
	key := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(task)}
	w.take(key, task)
	outcome := w.agent(task)
	end := timeOf(task.Status.StartTime).Add(outcome.After)
	if w.clock.Now().Before(end) {
		w.alarm.at(key, end)
		return nil
	}
	task.Status.Phase = examplev1alpha1.Succeeded
	if outcome.Failed {
		task.Status.Phase = examplev1alpha1.Failed
	}
	task.Status.CompletionTime = &metav1.Time{Time: w.clock.Now()}
	task.Status.Results = maps.Clone(outcome.Results)
	return w.client.Status().Update(ctx, task)
}

func (w *Workers) take(key ctrl.Request, task *examplev1alpha1.AgentTask) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy[key] = ""
	if ref := task.Spec.WorkerPoolRef; ref != nil {
		w.busy[key] = ref.Name
	}
}

// Forget gives the worker of a task that has finished, or is gone, back to its pool. Doing it again does nothing.
func (w *Workers) Forget(task ctrl.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, task)
}

// Busy counts the workers of a pool that have a task.
func (w *Workers) Busy(namespace, pool string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for key, of := range w.busy {
		if key.Namespace == namespace && of == pool {
			n++
		}
	}
	return n
}
