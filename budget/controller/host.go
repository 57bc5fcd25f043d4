package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/usage"
)

// Host says, once, how a host's tasks are read. Functions must not change the
// task and must be safe for concurrent use.
type Host[T client.Object] struct {
	// New makes an empty task. Required. For unstructured tasks it sets the
	// group, version and kind.
	New func() T
	// Conditions points at the conditions in the task's status, never nil.
	// Either it or OwnConditions is required, never both, and the task must
	// have a status subresource.
	Conditions func(task T) *[]metav1.Condition
	// OwnConditions is for tasks whose conditions are not of type
	// metav1.Condition, in place of Conditions: [JobConditions] for Jobs,
	// [PodConditions] for Pods, [UnstructuredConditions] for unstructured tasks.
	OwnConditions OwnConditions[T]
	// Completion tells of a finished task what it knows: phase, times, results
	// or reported usage, and who did the work: Task.Type and Task.Model, which
	// a task that ran in a worker pool takes from the pool. An error leaves the
	// task unrecorded, and it is tried again. UID, namespace, name, API version,
	// kind, labels, admission, hold and TTL are filled in by the recorder.
	// Required by [NewRecorder].
	//
	// It must say the same of a finished task each time, or the task gets a
	// [ConflictError] that is none. So what it rests on must not change: what
	// pods have said, or a pool says, is to be written down on the task before
	// the task is recorded, and read from there. The time now is no completion
	// time.
	Completion func(ctx context.Context, task T) (usage.Completion, error)
	// Labels are the task's labels; nil for those in its metadata.
	Labels func(task T) map[string]string
	// Estimate is what the task is expected to spend; nil for no estimate.
	Estimate func(task T) usage.Amounts
	// Subject is what policies are told of the task beside its labels and
	// budgets: who works on it, with which model, its priority, the size of its
	// pod. Nil where policies need no more; an empty Kind is filled in.
	Subject func(task T) budget.Subject
	// HoldTTL is how long the task's hold counts at most; nil, or a time that is
	// not positive, for the HoldTTL of [Options].
	HoldTTL func(task T) time.Duration
}

// lookUp reports whether a task still exists.
type lookUp func(ctx context.Context, task usage.Task) (bool, error)

// bound is a host that was joined to a book.
type bound[T client.Object] struct {
	Host[T]
	book       *Book
	gvk        schema.GroupVersionKind
	conditions OwnConditions[T]
}

// bind joins a host to the book: from then on the book looks after the holds of
// tasks of that kind.
func bind[T client.Object](b *Book, h Host[T]) (*bound[T], error) {
	switch {
	case b == nil:
		return nil, errors.New("bursar: a book is required: SetupWithManager makes it")
	case h.New == nil:
		return nil, errors.New("bursar: host.New is required")
	}
	conditions, err := h.conditions()
	if err != nil {
		return nil, err
	}
	gvk, err := apiutil.GVKForObject(h.New(), b.client.Scheme())
	if err != nil {
		return nil, fmt.Errorf("bursar: host.New: %w", err)
	}
	bound := &bound[T]{Host: h, book: b, gvk: gvk, conditions: conditions}
	informer, err := b.mgr.GetCache().GetInformer(context.Background(), h.New(), cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("bursar: %w", informerFault(gvk, "install its resource definition", err))
	}
	if !b.join(gvk.GroupKind(), bound.exists) {
		return bound, nil
	}
	_, err = informer.AddEventHandler(follow(func(client.Object) {}, bound.deleted))
	return bound, err
}

// join reports whether the kind is new.
func (b *Book) join(kind schema.GroupKind, exists lookUp) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, known := b.hosts[kind]
	b.hosts[kind] = exists
	return !known
}

// hostOf gives the look-up of the kind of a task, nil if no host of this
// process has such tasks: then its hold is somebody else's.
func (b *Book) hostOf(task usage.Task) lookUp {
	kind := schema.FromAPIVersionAndKind(task.APIVersion, task.Kind).GroupKind()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hosts[kind]
}

// deleted has the hold of a task that was deleted looked at, and stops waking
// it.
func (h *bound[T]) deleted(task client.Object) {
	s := h.book.shelf(task.GetNamespace())
	s.stopWaiting(task.GetUID())
	if _, _, held := s.held(task.GetUID()); held {
		h.book.checks.add(reconcile.Request{NamespacedName: types.NamespacedName{
			Namespace: task.GetNamespace(), Name: string(task.GetUID()),
		}})
	}
}

// exists looks a task up: in the cache, and before it says no in the API
// server.
func (h *bound[T]) exists(ctx context.Context, task usage.Task) (bool, error) {
	key := types.NamespacedName{Namespace: task.Namespace, Name: task.Name}
	for _, reader := range []client.Reader{h.book.client, h.book.live} {
		found := h.New()
		err := reader.Get(ctx, key, found)
		if err == nil && found.GetUID() == task.UID {
			return true, nil
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("look up %s %s: %w", h.gvk.Kind, key, err)
		}
	}
	return false, nil
}

// identity is the task as records and holds name it.
func (h *bound[T]) identity(task T) usage.Task {
	return usage.Task{
		UID: task.GetUID(), Namespace: task.GetNamespace(), Name: task.GetName(),
		APIVersion: h.gvk.GroupVersion().String(), Kind: h.gvk.Kind,
	}
}

func (h *bound[T]) labels(task T) map[string]string {
	if h.Labels == nil {
		return task.GetLabels()
	}
	return h.Labels(task)
}

func (h *bound[T]) estimate(task T) usage.Amounts {
	if h.Estimate == nil {
		return nil
	}
	return h.Estimate(task)
}

func (h *bound[T]) subject(task T) budget.Subject {
	var about budget.Subject
	if h.Subject != nil {
		about = h.Subject(task)
	}
	if about.Kind == "" {
		about.Kind = h.gvk.Kind
	}
	return about
}

func (h *bound[T]) holdTTL(task T) time.Duration {
	if h.HoldTTL != nil {
		if ttl := h.HoldTTL(task); ttl > 0 {
			return ttl
		}
	}
	return h.book.options.HoldTTL
}
