package controller

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/policy"
)

// Gate decides whether tasks of one kind may start. It is safe for concurrent
// use. Build it with [NewGate].
type Gate[T client.Object] struct {
	host  *bound[T]
	book  *Book
	inbox *inbox
}

// NewGate makes a gate for the host's tasks. Call it before the manager starts.
func NewGate[T client.Object](b *Book, h Host[T]) (*Gate[T], error) {
	host, err := bind(b, h)
	if err != nil {
		return nil, err
	}
	return &Gate[T]{host: host, book: b, inbox: newInbox()}, nil
}

// Result is the answer of a gate.
type Result struct {
	// Admitted says that the task may start, and must be started: its hold is
	// stored.
	Admitted bool
	// RequeueAfter is when a refused task should ask again at the latest, if
	// nothing wakes it before. Zero where the task is admitted.
	RequeueAfter time.Duration
	// Decision explains the answer. Its Hold is the one that is stored.
	Decision budget.Decision
}

// Admit asks whether a task may start. It decides, and then
//
//   - stores the hold of a task that it admits, and takes the BudgetBlocked
//     condition off it;
//   - puts the condition on a task that it refuses, unless one that says the
//     same is there: figures alone are no news.
//
// These are two writes at most for an admission and none for a refusal that has
// not changed; nothing is listed, and nothing is read but what informers have
// delivered. (Under [Fenced] an admission reads and writes once more.)
//
// Policies are asked where the budgets have room: the host's and those of the
// budgets. What they refuse waits like any other task, with their reason in the
// condition, and asks again when a policy that holds off says so.
//
// The order is hold, then work: start the task only when Admitted is true. A
// task that is asked for again, because its controller has crashed in between,
// say, is admitted again with the hold that it has. task is changed as the API
// server has changed it.
//
// An error means that the answer could not be stored; the task has not been
// admitted, and asking again is safe. Before the caches have synced, every task
// is refused, and its status is left as it is.
func (g *Gate[T]) Admit(ctx context.Context, task T) (Result, error) {
	begin := g.book.options.Clock.Now()
	result, err := g.admit(ctx, task, begin)
	g.book.tell.admission(&result, err, g.book.options.Clock.Since(begin))
	return result, err
}

func (g *Gate[T]) admit(ctx context.Context, task T, now time.Time) (Result, error) {
	asked := g.gather(task)
	if !g.book.Ready() {
		return Result{RequeueAfter: budget.MinRequeue, Decision: unready(asked, now)}, nil
	}
	d := g.decide(ctx, task, asked, now)
	if g.book.options.Mode == Fenced && d.Allowed && !g.book.shelf(asked.Namespace).isStored(asked.UID) {
		var err error
		if d, err = g.admitFenced(ctx, task, asked, now); err != nil {
			return Result{Decision: d}, err
		}
	}
	if !d.Allowed {
		if err := g.refuse(ctx, task, &d); err != nil {
			return Result{Decision: d}, err
		}
		return Result{RequeueAfter: d.RequeueAfter(), Decision: d}, nil
	}
	return g.start(ctx, task, d)
}

// gather reads from the task what decides.
func (g *Gate[T]) gather(task T) budget.Task {
	return budget.Task{
		UID: task.GetUID(), Namespace: task.GetNamespace(), Name: task.GetName(),
		Labels: g.host.labels(task), Estimate: g.host.estimate(task),
	}
}

// unready is the decision of a gate that knows too little.
func unready(task budget.Task, now time.Time) budget.Decision {
	return budget.Decision{
		Task: budget.TaskID{UID: task.UID, Namespace: task.Namespace, Name: task.Name}, At: now, Fault: ErrNotReady.Error(),
	}
}

// decide decides in the memory of this process, and notes a task that is refused
// as one that waits. What has changed between the decision and the note is looked
// at once more.
func (g *Gate[T]) decide(ctx context.Context, task T, asked budget.Task, now time.Time) budget.Decision {
	s := g.book.shelf(asked.Namespace)
	r := request{task: asked, about: g.host.subject(task), ref: g.host.identity(task), now: now, ttl: g.host.holdTTL(task)}
	d, moves := s.reserve(ctx, g.book.reviewer, r)
	if d.Allowed {
		return d
	}
	r.task.Labels = d.Labels
	if s.await(&r, &d, g.inbox) != moves {
		g.book.waker.stir(s.namespace)
	}
	g.book.wakeTimes.at(wakeKey(asked.Namespace), now.Add(d.RequeueAfter()))
	return d
}

// refuse tells a task why it waits.
func (g *Gate[T]) refuse(ctx context.Context, task T, d *budget.Decision) error {
	s, mark := g.book.shelf(task.GetNamespace()), fingerprint(d)
	told, version := s.toldOf(task.GetUID())
	old, refusal := g.host.conditions.Find(task, budget.ConditionBudgetBlocked), d.Condition(task.GetGeneration())
	switch {
	case told == mark && newer(version, task.GetResourceVersion()):
		return nil // the task that was read does not know yet what it was told
	case old != nil && told == mark && old.Status == refusal.Status && sameGeneration(old, refusal),
		told == "" && tells(old, refusal):
		s.tell(task.GetUID(), mark, task.GetResourceVersion())
		return nil
	}
	if _, err := g.host.patchCondition(ctx, task, budget.ConditionBudgetBlocked, refusal); err != nil {
		return err
	}
	s.tell(task.GetUID(), mark, task.GetResourceVersion())
	log.FromContext(ctx).Info("Task waits for a budget", "reason", d.Reason(), "message", d.Message(), "policies", revisionOf(d.Policy))
	g.book.tell.blocked(task, d)
	return nil
}

// start stores what an admission rests on, and takes the condition off.
func (g *Gate[T]) start(ctx context.Context, task T, d budget.Decision) (Result, error) {
	s := g.book.shelf(task.GetNamespace())
	again := s.isStored(task.GetUID())
	hold, err := g.book.storeHold(ctx, d.Hold.UID, d.At, task.GetNamespace())
	if err != nil {
		return Result{Decision: d}, err
	}
	d.Hold, d.Labels = &hold, hold.Labels
	waited, err := g.host.patchCondition(ctx, task, budget.ConditionBudgetBlocked, nil)
	if err != nil {
		return Result{Decision: d}, err
	}
	s.stopWaiting(task.GetUID())
	if !again && len(d.Warnings) > 0 {
		g.book.tell.warned(task, d.Warnings)
	}
	if waited {
		log.FromContext(ctx).Info("Task is admitted after it has waited", "message", d.Message())
		g.book.tell.admitted(task, &d)
	}
	return Result{Admitted: true, Decision: d}, nil
}

// Release lets go of the hold of a task that will not start, and has not: one
// that is deleted while it waits for its pod, say. What it has spent is free, so
// a task that ran must be recorded instead. Without a hold it does nothing.
func (g *Gate[T]) Release(ctx context.Context, task T) error {
	g.book.shelf(task.GetNamespace()).stopWaiting(task.GetUID())
	if err := g.book.deleteHold(ctx, task.GetNamespace(), task.GetUID()); err != nil {
		return fmt.Errorf("release %s %s: %w", g.host.gvk.Kind, client.ObjectKeyFromObject(task), err)
	}
	return nil
}

// Pod asks policies for caps on the size of a task's pod, which the Pod of
// [Host.Subject] says, before the pod is built: give the verdict to
// [github.com/bursar-dev/bursar/podspec.Heed]. Where the task has a hold, it is
// judged by the labels that were taken down at its admission.
func (g *Gate[T]) Pod(ctx context.Context, task T) policy.Verdict {
	if !g.book.Ready() {
		return policy.Refuse(policy.CodeNotReady, ErrNotReady.Error())
	}
	asked := g.gather(task)
	s := g.book.shelf(asked.Namespace)
	if known, _, ok := s.held(asked.UID); ok {
		asked.Labels = known.hold.Labels
	}
	in := budget.Input{Task: asked, Ledger: glance{s}, Now: g.book.options.Clock.Now()}
	return g.book.reviewer.Pod(ctx, in, g.host.subject(task))
}

// Wakeups is a source for the controller of the host: it enqueues the tasks
// that this gate has refused and for which the answer has changed, and no other:
// because a budget was raised, changed or deleted, a record or a hold came or
// went, or a window has turned. Use it in one controller.
func (g *Gate[T]) Wakeups() source.Source { return g.inbox }

// Waiting gives the number of tasks of a namespace that wait.
func (b *Book) Waiting(namespace string) int {
	s := b.shelf(namespace)
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}
