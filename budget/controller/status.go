package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// statusKeeper keeps the status of budgets: figures, window, thresholds,
// Degraded. It works when a matching record or hold comes or goes, when the spec
// changes and when time alone changes a figure, and it writes nothing that is
// written already.
type statusKeeper struct {
	book  *Book
	clock clock.PassiveClock // of the system: bounds writes, decides nothing

	mu      sync.Mutex
	written map[reconcile.Request]time.Time
}

func newStatusKeeper(b *Book) *statusKeeper {
	return &statusKeeper{book: b, clock: clock.RealClock{}, written: map[reconcile.Request]time.Time{}}
}

// staleAfter is how long a cache may take to see a write.
const staleAfter = 50 * time.Millisecond

// Reconcile implements reconcile.Reconciler.
func (k *statusKeeper) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	if !k.book.Ready() {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	tb := &budgetv1alpha1.TaskBudget{}
	if err := k.book.client.Get(ctx, key.NamespacedName, tb); err != nil {
		if client.IgnoreNotFound(err) == nil {
			k.forget(key)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s := k.book.shelf(key.Namespace)
	now := k.book.options.Clock.Now()
	rule, stands := s.stand(tb, now)
	if rule == nil || !tb.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil // an event that brings the rule, or ends the budget, is on its way
	}
	k.book.statusTimes.at(key, stands.next)
	k.book.tell.budget(tb, rule, &stands.observation)
	k.book.tell.size(s)
	return k.write(ctx, key, tb, &stands, now)
}

// write brings the status up to date.
func (k *statusKeeper) write(ctx context.Context, key reconcile.Request, tb *budgetv1alpha1.TaskBudget, s *standing, now time.Time) (reconcile.Result, error) {
	status, news := statusOf(tb, s, now)
	if equality.Semantic.DeepEqual(status, tb.Status) {
		return reconcile.Result{}, nil
	}
	if wait := k.wait(key); wait > 0 && !urgent(&tb.Status, &status, news) {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	tb.Status = status
	err := k.book.client.Status().Update(ctx, tb)
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: staleAfter}, nil // the cache has not seen the last write yet
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("write the status of TaskBudget %s: %w", key.NamespacedName, err)
	}
	k.note(key)
	for _, note := range news {
		k.book.tell.event(tb, corev1.EventTypeWarning, EventThreshold, "Observe", note)
		log.FromContext(ctx).Info("Budget has reached a threshold", "note", note)
	}
	return reconcile.Result{}, nil
}

// wait is the time until figures alone may be written again.
func (k *statusKeeper) wait(key reconcile.Request) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	last, ok := k.written[key]
	if !ok {
		return 0
	}
	return k.book.options.StatusInterval - k.clock.Since(last)
}

func (k *statusKeeper) note(key reconcile.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.written[key] = k.clock.Now()
}

func (k *statusKeeper) forget(key reconcile.Request) {
	k.mu.Lock()
	delete(k.written, key)
	k.mu.Unlock()
	k.book.tell.forgetBudget(key.Namespace, key.Name)
}
