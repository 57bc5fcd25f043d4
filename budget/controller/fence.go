package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// The fence of a namespace is a TaskHold of its own that holds nothing. It
// repeats the hold that was admitted last: the claim. A replica that wants to
// admit
//
//  1. reads the fence, and makes sure that it knows the hold of each claim up to
//     the last,
//  2. decides,
//  3. writes its own hold into the fence as the next claim, on condition that
//     nobody has moved the fence since, and otherwise starts again,
//  4. creates the hold.
//
// Claims are numbered, and each hold says as which claim it was admitted. Who
// knows all claims up to one, and is told of the hold of the next by its watch,
// knows all up to that one. Where a replica ends between 3 and 4, the next one
// creates the hold that was claimed: its task will be admitted with it.
//
// A hold that was claimed and is not there may have ended, too. So whoever ends a
// hold that the fence still names says there, before, that it is done; and one
// that has expired, which would count nowhere, is created no more.
const (
	fenceName  = "fence"
	fenceTries = 10
	// patience is how long a watch may take to deliver a claimed hold before
	// the holds are read from the API server.
	patience = 250 * time.Millisecond
)

// errChanged says that the hold of the task came, or went, while it was claimed.
var errChanged = errors.New("bursar: the hold of the task has changed meanwhile, try again")

// errContended says that other replicas were always faster.
var errContended = errors.New("bursar: the fence of the namespace is contended, try again")

// admitFenced makes sure that an admission that was decided in the memory of
// this process still stands when it counts. (A refusal may rest on what is out
// of date by now: whatever makes room wakes the task.)
func (g *Gate[T]) admitFenced(ctx context.Context, task T, asked budget.Task, now time.Time) (budget.Decision, error) {
	for range fenceTries {
		d, err := g.passFence(ctx, task, asked, now)
		if err == nil {
			return d, nil
		}
		// What was not claimed must not count; and what was nobody can miss, since
		// the fence names it.
		g.book.dropUnstored(asked.Namespace, asked.UID)
		if !isMoved(err) {
			return unready(asked, now), fmt.Errorf("fence of namespace %s: %w", asked.Namespace, err)
		}
	}
	return unready(asked, now), errContended
}

// isMoved reports that somebody else was faster.
func isMoved(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.Is(err, errChanged)
}

// passFence decides on a task with all that was admitted before in mind, and
// moves the fence if it is admitted anew.
func (g *Gate[T]) passFence(ctx context.Context, task T, asked budget.Task, now time.Time) (budget.Decision, error) {
	s := g.book.shelf(asked.Namespace)
	fence, last, err := g.book.readFence(ctx, asked.Namespace)
	if err != nil {
		return budget.Decision{}, err
	}
	if err := g.book.catchUp(ctx, s, last, now); err != nil {
		return budget.Decision{}, err
	}
	s.dropUnstored(asked.UID)
	d := g.decide(ctx, task, asked, now)
	if !d.Allowed || s.isStored(asked.UID) {
		return d, nil
	}
	return d, g.book.moveFence(ctx, fence, asked.UID, last.next())
}

// readFence reads the fence from the API server, and makes it where there is
// none.
func (b *Book) readFence(ctx context.Context, namespace string) (*budgetv1alpha1.TaskHold, *claim, error) {
	fence := &budgetv1alpha1.TaskHold{}
	err := b.live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: fenceName}, fence)
	if apierrors.IsNotFound(err) {
		fence = newFence(namespace)
		err = b.client.Create(ctx, fence)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the fence of namespace %s: %w", namespace, err)
	}
	last, err := claimOf(fence)
	return fence, last, err
}

// newFence is a hold that expired long ago.
func newFence(namespace string) *budgetv1alpha1.TaskHold {
	past := metav1.NewTime(time.Unix(0, 0))
	return &budgetv1alpha1.TaskHold{
		ObjectMeta: metaOf(types.NamespacedName{Namespace: namespace, Name: fenceName}),
		Spec: budgetv1alpha1.TaskHoldSpec{
			TaskRef: budgetv1alpha1.TaskReference{UID: fenceName, Name: fenceName}, AdmittedAt: past, ExpiresAt: past,
		},
	}
}

// moveFence makes the hold of a task the next claim, if the fence is still as it
// was read.
func (b *Book) moveFence(ctx context.Context, fence *budgetv1alpha1.TaskHold, uid types.UID, to place) error {
	known, ok := b.shelf(fence.Namespace).claim(uid, to)
	if !ok {
		return errChanged
	}
	th := newHold(&known)
	return b.writeClaim(ctx, fence, &claim{Series: to.series, Number: to.number, Name: th.Name, Spec: th.Spec})
}

// catchUp makes sure that the ledger has every hold up to the claim.
func (b *Book) catchUp(ctx context.Context, s *shelf, last *claim, now time.Time) error {
	if last != nil && s.follows(last.place()) {
		const pause = 5 * time.Millisecond
		err := wait.PollUntilContextTimeout(ctx, pause, patience, true, func(context.Context) (bool, error) {
			return s.hasReached(last.place()), nil
		})
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := b.readHoldsOf(ctx, s.namespace); err != nil {
		return err
	}
	if last == nil {
		return nil
	}
	if err := b.help(ctx, s, last, now); err != nil {
		return fmt.Errorf("store the hold that was claimed last: %w", err)
	}
	s.reach(last.place())
	return nil
}

// help creates a hold that was claimed and is not there, unless it has ended or
// its task is recorded by now.
func (b *Book) help(ctx context.Context, s *shelf, last *claim, now time.Time) error {
	if last.Done || !now.Before(last.Spec.ExpiresAt.Time) {
		return nil
	}
	if known, _, ok := s.held(last.uid()); ok && known.stored && known.hold.Live(now) {
		return nil
	}
	th := &budgetv1alpha1.TaskHold{ObjectMeta: metaOf(types.NamespacedName{Namespace: s.namespace, Name: last.Name}), Spec: last.Spec}
	tr, err := b.findRecord(ctx, b.live, taskOf(th))
	if err != nil {
		return err
	}
	if tr != nil {
		b.followRecord(tr)
		return nil
	}
	hold, faults := budget.HoldFrom(th)
	if len(faults) > 0 {
		return fmt.Errorf("the claim of TaskHold %s can't be read: %w; correct it, or delete it", fenceName, faults.ToAggregate())
	}
	th, err = b.writeHold(ctx, newHold(&holding{hold: hold, task: taskOf(th), place: last.place()}), now)
	if err != nil {
		return err
	}
	b.followHold(th)
	return nil
}
