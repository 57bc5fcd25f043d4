package controller

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// expiryKeeper deletes records whose time is up, whether their tasks are still
// there or not. A record stays as long as any budget that it counts in needs
// it, whatever its TTL says, and one without TTL stays for ever.
type expiryKeeper struct{ book *Book }

// keepOn is when a record is looked at again that a budget needs for ever: the
// budget may be gone by then.
const keepOn = time.Hour

// scheduleExpiry has a record looked at when its TTL is over.
func (b *Book) scheduleExpiry(tr *budgetv1alpha1.TaskRecord) {
	if ttl := ttlOf(tr); ttl > 0 {
		b.expiryTimes.at(requestOf(tr), tr.Spec.CompletionTime.Add(ttl))
	}
}

// ttlOf is the TTL of a record, zero for ever.
func ttlOf(tr *budgetv1alpha1.TaskRecord) time.Duration {
	const longest = int64(1<<63-1) / int64(time.Second)
	if seconds := tr.Spec.TTLSeconds; seconds != nil {
		return time.Duration(min(*seconds, longest)) * time.Second
	}
	return 0
}

// Reconcile implements reconcile.Reconciler.
func (k *expiryKeeper) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	if !k.book.Ready() {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	tr := &budgetv1alpha1.TaskRecord{}
	if err := k.book.client.Get(ctx, key.NamespacedName, tr); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	now := k.book.options.Clock.Now()
	rules := k.book.shelf(key.Namespace).matching(tr.Spec.TaskLabels)
	due, again := expires(tr, rules, now)
	if !due {
		k.book.expiryTimes.at(key, again)
		return reconcile.Result{}, nil
	}
	err := k.book.client.Delete(ctx, tr, client.Preconditions{UID: &tr.UID})
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("delete TaskRecord %s, whose time is up: %w", key.NamespacedName, err)
	}
	log.FromContext(ctx).V(1).Info("Record has expired", "completed", tr.Spec.CompletionTime, "ttl", ttlOf(tr))
	return reconcile.Result{}, nil
}

// expires reports whether a record is to be deleted, and when to ask again if
// it is not; never, where that is the zero time.
func expires(tr *budgetv1alpha1.TaskRecord, rules []*budget.Rule, now time.Time) (due bool, again time.Time) {
	ttl := ttlOf(tr)
	if ttl == 0 {
		return false, time.Time{}
	}
	floor, bounded := budget.RetentionFloor(rules...)
	if !bounded {
		return false, now.Add(keepOn)
	}
	end := tr.Spec.CompletionTime.Add(max(ttl, floor))
	return !now.Before(end), end
}
