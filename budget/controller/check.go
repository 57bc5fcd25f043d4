package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// holdKeeper looks after holds, so that none stays for ever: it ends those of
// tasks that are recorded, and finds out what became of a task that is gone. A
// hold whose task is there stays, also when it has expired and counts no more:
// the labels in it are the task's snapshot.
type holdKeeper struct{ book *Book }

// settleGrace leaves it to the recorder to delete the hold of what it has just
// recorded.
const settleGrace = 5 * time.Second

// scheduleCheck has a hold looked at when it expires, or at the next sweep.
func (b *Book) scheduleCheck(namespace string, uid types.UID) {
	known, _, ok := b.shelf(namespace).held(uid)
	if !ok {
		return
	}
	now := b.options.Clock.Now()
	next := now.Add(b.options.SweepInterval)
	if known.hold.Live(now) {
		next = earliest(next, known.hold.ExpiresAt)
	}
	b.checkTimes.at(checkKey(namespace, uid), next)
}

func checkKey(namespace string, uid types.UID) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: string(uid)}}
}

// checkAll has all holds looked at.
func (b *Book) checkAll() {
	for key := range b.stored("") {
		b.checks.add(reconcile.Request{NamespacedName: key})
	}
}

// Reconcile implements reconcile.Reconciler.
func (k *holdKeeper) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	if !k.book.Ready() {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	uid := types.UID(key.Name)
	known, recorded, ok := k.book.shelf(key.Namespace).held(uid)
	if !ok {
		return reconcile.Result{}, nil
	}
	exists := k.book.hostOf(known.task)
	lost, err := k.lost(ctx, key, known)
	switch {
	case err != nil:
		return reconcile.Result{}, err
	case lost:
		return reconcile.Result{}, k.settle(ctx, known)
	case exists == nil:
		return reconcile.Result{}, nil
	case recorded:
		return reconcile.Result{}, k.book.deleteHold(ctx, key.Namespace, uid)
	}
	alive, err := exists(ctx, known.task)
	if err != nil || alive {
		k.book.scheduleCheck(key.Namespace, uid)
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, k.orphan(ctx, known)
}

// lost reports whether the TaskHold of a hold that counts is gone.
func (k *holdKeeper) lost(ctx context.Context, key reconcile.Request, known holding) (bool, error) {
	if !known.stored {
		return false, nil
	}
	th := &budgetv1alpha1.TaskHold{}
	if !known.vanished && k.book.client.Get(ctx, key.NamespacedName, th) == nil {
		return false, nil
	}
	err := k.book.live.Get(ctx, key.NamespacedName, th)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read TaskHold %s: %w", key.NamespacedName, err)
	}
	k.book.followHold(th)
	return false, nil
}

// settle ends a hold whose TaskHold was deleted: its record takes its place, if
// there is one.
func (k *holdKeeper) settle(ctx context.Context, known holding) error {
	tr, err := k.book.findRecord(ctx, k.book.live, known.task)
	if err != nil {
		return err
	}
	if tr != nil {
		k.book.followRecord(tr)
	}
	if err := k.book.endClaim(ctx, known.hold.Namespace, known.hold.UID); err != nil {
		return err
	}
	k.book.release(known.hold.Namespace, known.hold.UID)
	return nil
}

// orphan ends the hold of a task that is gone. Unless it was recorded, or can't
// have started, it is charged.
func (k *holdKeeper) orphan(ctx context.Context, known holding) error {
	tr, err := k.book.findRecord(ctx, k.book.live, known.task)
	if err != nil {
		return err
	}
	switch {
	case tr != nil:
		k.book.followRecord(tr)
	case known.stored && k.book.options.Orphans == ChargeOrphans:
		if err := k.charge(ctx, known); err != nil {
			return err
		}
	}
	return k.book.deleteHold(ctx, known.hold.Namespace, known.hold.UID)
}

// charge records a task of which nothing is known but its hold.
func (k *holdKeeper) charge(ctx context.Context, known holding) error {
	completed := k.book.options.Clock.Now()
	if known.hold.ExpiresAt.Before(completed) {
		completed = known.hold.ExpiresAt
	}
	record, err := usage.RecordUsage(usage.Completion{
		Task: known.task, Phase: usage.Failed, CompletionTime: completed, Hold: &known.hold,
		TTL: k.book.recordTTL(known.hold.Namespace, nil),
	})
	if err != nil {
		return err
	}
	tr, err := k.book.createRecord(ctx, &record, budget.Subject{Kind: known.task.Kind}, nil)
	if err != nil {
		if terminating(err) {
			return nil // with its namespace everything goes that could be charged
		}
		return fmt.Errorf("charge the orphan %s/%s: %w", known.hold.Namespace, known.hold.Name, err)
	}
	log.FromContext(ctx).Info("Task is gone without a record; it is charged with what was held for it",
		"task", known.hold.Name, "uid", known.hold.UID, "held", known.hold.Amounts.String())
	k.book.tell.event(tr, corev1.EventTypeWarning, EventOrphan, "Charge",
		fmt.Sprintf("Task %s is gone without a record; it is charged with what was held for it: %s.", known.hold.Name, known.hold.Amounts))
	return nil
}

func terminating(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
