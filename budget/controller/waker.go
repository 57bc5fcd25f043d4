package controller

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// waker looks at the tasks that wait whenever something has changed in their
// namespace, and wakes those for which the answer has changed. It works in memory
// alone, and asks policies where the budgets have room. A burst of changes is
// looked at once.
type waker struct {
	book *Book

	mu      sync.Mutex
	stirred map[string]struct{}
	kick    chan struct{}
}

// wakePause is the least time between two looks, on the system's clock.
const wakePause = 100 * time.Millisecond

func newWaker(b *Book) *waker {
	return &waker{book: b, stirred: map[string]struct{}{}, kick: make(chan struct{}, 1)}
}

// stir says that something has changed in a namespace.
func (w *waker) stir(namespace string) {
	w.mu.Lock()
	w.stirred[namespace] = struct{}{}
	w.mu.Unlock()
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

func (w *waker) stirAll() {
	for _, s := range w.book.all() {
		w.stir(s.namespace)
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: tasks wait only
// where gates decide.
func (w *waker) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable. It returns when ctx is done.
func (w *waker) Start(ctx context.Context) error {
	pause := clock.RealClock{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.kick:
		}
		w.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-pause.After(wakePause):
		}
	}
}

func (w *waker) look(ctx context.Context) {
	w.mu.Lock()
	stirred := w.stirred
	w.stirred = map[string]struct{}{}
	w.mu.Unlock()
	if !w.book.Ready() {
		for namespace := range stirred {
			w.book.tidy(w.book.shelf(namespace))
		}
		return // whoever makes it ready stirs all
	}
	now := w.book.options.Clock.Now()
	for namespace := range stirred {
		s := w.book.shelf(namespace)
		next, all := s.wake(ctx, w.book.reviewer, now)
		w.book.wakeTimes.at(wakeKey(namespace), next)
		w.book.tidy(s)
		if !all {
			w.stir(namespace)
		}
	}
}

// wakeKey is a namespace as the key of a timetable.
func wakeKey(namespace string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace}}
}
