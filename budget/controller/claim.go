package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

const (
	// claimAnnotation is on the fence and says what was claimed last.
	claimAnnotation = "bursar.dev/claim"
	// placeAnnotation is on a hold and says as which claim it was admitted.
	placeAnnotation = "bursar.dev/claim-place"
)

// claim is the hold that was admitted last.
type claim struct {
	// Series and Number are the claim's place.
	Series string `json:"series,omitempty"`
	Number int64  `json:"number,omitempty"`
	// Done says that the hold was created and has ended since: whoever misses it
	// must not create it.
	Done bool                        `json:"done,omitempty"`
	Name string                      `json:"name"`
	Spec budgetv1alpha1.TaskHoldSpec `json:"spec"`
}

func (c *claim) uid() types.UID { return types.UID(c.Name) }

func (c *claim) place() place { return place{c.Series, c.Number} }

// next is the place after a claim, which is nil where nothing was claimed yet.
func (c *claim) next() place {
	if c == nil || c.Series == "" {
		return place{string(uuid.NewUUID()), 1}
	}
	return place{c.Series, c.Number + 1}
}

// place tells admissions apart and says which was claimed first: they are
// numbered, within the life of a fence. A task that is admitted twice, because
// its hold was released or has expired in between, has two. The zero place is
// nobody's.
type place struct {
	series string
	number int64
}

func (p place) String() string { return p.series + "/" + strconv.FormatInt(p.number, 10) }

// reaches reports that whoever knows all claims up to p knows q.
func (p place) reaches(q place) bool {
	return q != place{} && p.series == q.series && p.number >= q.number
}

// placeOf is the place of a stored hold, zero if it was not claimed.
func placeOf(th *budgetv1alpha1.TaskHold) place {
	series, text, _ := strings.Cut(th.Annotations[placeAnnotation], "/")
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return place{}
	}
	return place{series, number}
}

// newHold is a hold as it is stored.
func newHold(h *holding) *budgetv1alpha1.TaskHold {
	th := budget.NewTaskHold(h.hold, h.task)
	if h.place != (place{}) {
		metav1.SetMetaDataAnnotation(&th.ObjectMeta, placeAnnotation, h.place.String())
	}
	return th
}

// claimOf reads what was claimed last, nil if nothing was.
func claimOf(fence *budgetv1alpha1.TaskHold) (*claim, error) {
	text := fence.Annotations[claimAnnotation]
	if text == "" {
		return nil, nil
	}
	last := &claim{}
	if err := json.Unmarshal([]byte(text), last); err != nil {
		return nil, fmt.Errorf("the fence of namespace %s, TaskHold %s, can't be read: %w; correct it, or delete it", fence.Namespace, fenceName, err)
	}
	return last, nil
}

// writeClaim moves the fence, if it is still as it was read.
func (b *Book) writeClaim(ctx context.Context, fence *budgetv1alpha1.TaskHold, c *claim) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&fence.ObjectMeta, claimAnnotation, string(text))
	return b.client.Update(ctx, fence)
}

// endClaim notes in the fence, before the hold of a task goes, that it was
// there. Only where the fence still names that admission is anything written: a
// later claim says the same.
func (b *Book) endClaim(ctx context.Context, namespace string, uid types.UID) error {
	if b.options.Mode != Fenced {
		return nil
	}
	s := b.shelf(namespace)
	for range fenceTries {
		known, _, _ := s.held(uid)
		if s.isOvertaken(known.place) {
			return nil
		}
		err := b.tryEndClaim(ctx, namespace, uid, &known)
		if !apierrors.IsConflict(err) {
			return err
		}
	}
	return errContended
}

func (b *Book) tryEndClaim(ctx context.Context, namespace string, uid types.UID, known *holding) error {
	fence := &budgetv1alpha1.TaskHold{}
	err := b.live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: fenceName}, fence)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the fence of namespace %s: %w", namespace, err)
	}
	last, err := claimOf(fence)
	if err != nil || last == nil || last.Done || last.uid() != uid {
		return nil //nolint:nilerr // what can't be read stops admissions, which say so, and never the end of a task
	}
	there, err := b.wasStored(ctx, namespace, last, known)
	if err != nil || !there {
		return err
	}
	last.Done = true
	err = b.writeClaim(ctx, fence, last)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// wasStored reports whether the hold that was claimed has been created, as far
// as anybody can tell: it is there, or was.
func (b *Book) wasStored(ctx context.Context, namespace string, last *claim, known *holding) (bool, error) {
	th := &budgetv1alpha1.TaskHold{}
	err := b.live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: last.Name}, th)
	switch {
	case apierrors.IsNotFound(err):
		return known.stored && known.place == last.place(), nil
	case err != nil:
		return false, fmt.Errorf("read TaskHold %s/%s: %w", namespace, last.Name, err)
	}
	return placeOf(th) == last.place(), nil
}
