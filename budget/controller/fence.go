package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// The fence of a namespace is a TaskHold of its own that holds nothing. It
// repeats the hold that was admitted last: the claim. A replica that wants to
// admit
//
//  1. reads the fence, and makes sure that it knows the claim's hold,
//  2. decides,
//  3. writes its own hold into the fence as the next claim, on condition that
//     nobody has moved the fence since, and otherwise starts again,
//  4. creates the hold.
//
// Holds are thus created in the order of their claims, and who has been told of
// one by its watch has been told of all before it. Where a replica ends between
// 3 and 4, the next one creates the hold that was claimed: its task will be
// admitted with it.
const (
	fenceName       = "fence"
	claimAnnotation = "bursar.dev/claim"
	fenceTries      = 10
	// patience is how long a watch may take to deliver a claimed hold before
	// the holds are read from the API server.
	patience = 250 * time.Millisecond
)

// claim is the hold that was admitted last.
type claim struct {
	Name string                      `json:"name"`
	Spec budgetv1alpha1.TaskHoldSpec `json:"spec"`
}

func (c *claim) uid() types.UID {
	if c == nil {
		return ""
	}
	return types.UID(c.Name)
}

// errContended says that other replicas were always faster.
var errContended = errors.New("bursar: the fence of the namespace is contended, try again")

// admitFenced makes sure that an admission that was decided in the memory of
// this process still stands when it counts. (A refusal may rest on what is out
// of date by now: whatever makes room wakes the task.)
func (g *Gate[T]) admitFenced(ctx context.Context, task T, asked budget.Task, now time.Time) (budget.Decision, error) {
	for range fenceTries {
		d, passed, err := g.passFence(ctx, task, asked, now)
		switch {
		case err == nil && passed:
			return d, nil
		case err != nil && !isMoved(err):
			return unready(asked, now), fmt.Errorf("fence of namespace %s: %w", asked.Namespace, err)
		}
	}
	return unready(asked, now), errContended
}

// isMoved reports that somebody else has moved the fence.
func isMoved(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// passFence decides on a task with all that was admitted before in mind, and
// moves the fence if it is admitted.
func (g *Gate[T]) passFence(ctx context.Context, task T, asked budget.Task, now time.Time) (budget.Decision, bool, error) {
	s := g.book.shelf(asked.Namespace)
	fence, last, err := g.book.readFence(ctx, asked.Namespace)
	if err != nil {
		return budget.Decision{}, false, err
	}
	if err := g.book.catchUp(ctx, s, last); err != nil {
		return budget.Decision{}, false, err
	}
	claimed := last.uid() == asked.UID
	if !claimed {
		s.dropUnstored(asked.UID)
	}
	d := g.decide(ctx, task, asked, now)
	if !d.Allowed || claimed || s.isStored(asked.UID) {
		return d, true, nil
	}
	if err := g.book.moveFence(ctx, fence, asked.UID); err != nil {
		return d, false, err
	}
	s.setCaughtUp(asked.UID)
	return d, true, nil
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
	text := fence.Annotations[claimAnnotation]
	if text == "" {
		return fence, nil, nil
	}
	last := &claim{}
	if err := json.Unmarshal([]byte(text), last); err != nil {
		return nil, nil, fmt.Errorf("the fence of namespace %s, TaskHold %s, can't be read: %w; correct it, or delete it", namespace, fenceName, err)
	}
	return fence, last, nil
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

// moveFence makes the hold of a task the claim, if the fence is still as it was
// read. Where it was not moved the hold is let go of; where nobody knows, it goes
// on counting.
func (b *Book) moveFence(ctx context.Context, fence *budgetv1alpha1.TaskHold, uid types.UID) error {
	known, _, ok := b.shelf(fence.Namespace).held(uid)
	if !ok {
		return fmt.Errorf("the hold of task %s was released while the fence was moved", uid)
	}
	th := budget.NewTaskHold(known.hold, known.task)
	text, err := json.Marshal(claim{Name: th.Name, Spec: th.Spec})
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&fence.ObjectMeta, claimAnnotation, string(text))
	err = b.client.Update(ctx, fence)
	switch {
	case refused(err):
		b.release(fence.Namespace, uid)
	case err != nil:
		b.scheduleCheck(fence.Namespace, uid)
	}
	return err
}

// catchUp makes sure that the ledger has every hold up to the claim.
func (b *Book) catchUp(ctx context.Context, s *shelf, last *claim) error {
	if last != nil {
		const pause = 5 * time.Millisecond
		err := wait.PollUntilContextTimeout(ctx, pause, patience, true, func(context.Context) (bool, error) {
			return s.isCaughtUp(last.uid()), nil
		})
		if err == nil {
			s.setCaughtUp(last.uid())
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
	if err := b.help(ctx, s, last); err != nil {
		return fmt.Errorf("store the hold that was claimed last: %w", err)
	}
	s.setCaughtUp(last.uid())
	return nil
}

// help creates a hold that was claimed and is not there, unless its task is
// recorded by now.
func (b *Book) help(ctx context.Context, s *shelf, last *claim) error {
	th := &budgetv1alpha1.TaskHold{ObjectMeta: metaOf(types.NamespacedName{Namespace: s.namespace, Name: last.Name}), Spec: last.Spec}
	if known, _, ok := s.held(last.uid()); ok && known.stored {
		return nil
	}
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
	th = budget.NewTaskHold(hold, taskOf(th))
	err = b.client.Create(ctx, th)
	if apierrors.IsAlreadyExists(err) {
		err = b.live.Get(ctx, client.ObjectKeyFromObject(th), th)
	}
	if err != nil {
		return err
	}
	b.followHold(th)
	return nil
}

// isCaughtUp reports that the watch has delivered a claimed hold, or that the
// claim is the one that was caught up with last.
func (s *shelf) isCaughtUp(uid types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.caughtUp == uid {
		return true
	}
	known, ok := s.holds[uid]
	return ok && known.watched
}

func (s *shelf) setCaughtUp(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caughtUp = uid
}

// isStored reports that a task has a hold that is known to be stored.
func (s *shelf) isStored(uid types.UID) bool {
	known, _, ok := s.held(uid)
	return ok && known.stored
}

// dropUnstored lets go of a hold that was never claimed.
func (s *shelf) dropUnstored(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.holds[uid]; ok && !known.stored {
		s.release(uid)
	}
}
