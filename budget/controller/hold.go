package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

func metaOf(key types.NamespacedName) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
}

// storeHold makes the hold that a task was given in memory durable, and gives
// the one that is stored: another one, if the task was admitted before.
//
// A hold of which nobody knows whether it was stored goes on counting in memory:
// if it was, its task will be admitted with it.
func (b *Book) storeHold(ctx context.Context, uid types.UID, now time.Time, namespace string) (usage.Hold, error) {
	s := b.shelf(namespace)
	known, _, ok := s.held(uid)
	if !ok {
		return usage.Hold{}, fmt.Errorf("the hold of task %s in namespace %s was released while it was stored", uid, namespace)
	}
	if known.stored && !known.vanished {
		return known.hold, nil
	}
	if b.options.Mode == Fenced && !s.mayStore(known.place) {
		return usage.Hold{}, fmt.Errorf("the TaskHold of task %s/%s was deleted while the task was admitted, try again", namespace, known.hold.Name)
	}
	th, err := b.writeHold(ctx, newHold(&known), now)
	if err != nil {
		if refused(err) {
			b.dropUnstored(namespace, uid)
		} else {
			b.scheduleCheck(namespace, uid)
		}
		return usage.Hold{}, fmt.Errorf("store the hold of task %s/%s: %w", namespace, known.hold.Name, err)
	}
	b.followHold(th)
	s.reach(known.place)
	hold, faults := budget.HoldFrom(th)
	if len(faults) > 0 {
		return usage.Hold{}, fmt.Errorf("TaskHold %s/%s: %w", namespace, th.Name, faults.ToAggregate())
	}
	return hold, nil
}

// writeHold creates a TaskHold, or renews the one that is there.
func (b *Book) writeHold(ctx context.Context, th *budgetv1alpha1.TaskHold, now time.Time) (*budgetv1alpha1.TaskHold, error) {
	err := b.client.Create(ctx, th)
	if apierrors.IsAlreadyExists(err) {
		return b.renewHold(ctx, th, now)
	}
	return th, err
}

// renewHold looks at the TaskHold that is there already. One that is live stands
// for an admission that was made before; one that has expired is written anew.
func (b *Book) renewHold(ctx context.Context, wanted *budgetv1alpha1.TaskHold, now time.Time) (*budgetv1alpha1.TaskHold, error) {
	found := &budgetv1alpha1.TaskHold{}
	if err := b.live.Get(ctx, client.ObjectKeyFromObject(wanted), found); err != nil {
		return nil, err
	}
	if now.Before(found.Spec.ExpiresAt.Time) {
		return found, nil
	}
	labels := found.Spec.TaskLabels // the snapshot stands
	found.Spec, found.Annotations = wanted.Spec, wanted.Annotations
	found.Spec.TaskLabels = labels
	return found, b.client.Update(ctx, found)
}

// refused reports that the API server has said no: what was to be written was
// not. After any other error it may have been.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	const firstRefusal, firstFailure = 400, 500
	return code >= firstRefusal && code < firstFailure
}

// deleteHold deletes the TaskHold of a task and then lets go of its hold. It is
// no error if there is none.
func (b *Book) deleteHold(ctx context.Context, namespace string, uid types.UID) error {
	if err := b.endClaim(ctx, namespace, uid); err != nil {
		return err
	}
	th := &budgetv1alpha1.TaskHold{ObjectMeta: metaOf(types.NamespacedName{Namespace: namespace, Name: string(uid)})}
	if err := client.IgnoreNotFound(b.client.Delete(ctx, th)); err != nil {
		return fmt.Errorf("delete TaskHold %s/%s: %w", namespace, uid, err)
	}
	b.release(namespace, uid)
	return nil
}
