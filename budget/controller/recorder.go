package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// The condition of a task whose record says something else than the task.
const (
	// ConditionRecordConflict is True on a task that was recorded with other
	// content than it has now.
	ConditionRecordConflict = "RecordConflict"
	// ReasonContentDiffers is its reason.
	ReasonContentDiffers = "ContentDiffers"
)

// ConflictError says that a task has a record with other content. The first
// record stands, and the hold is gone: asking again gives the same answer, and
// a correction puts it right.
type ConflictError struct {
	// Recorded is the record that stands, Found what the task says now.
	Recorded, Found usage.Record
}

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("task %s/%s (uid %s) is recorded with other content: recorded %s, found %s; the first record stands, a correction can put it right",
		e.Recorded.Namespace, e.Recorded.Name, e.Recorded.UID, summary(e.Recorded), summary(e.Found))
}

func summary(r usage.Record) string {
	return fmt.Sprintf("%s at %s with %s", r.Phase, r.CompletionTime.Format(time.RFC3339), r.Usage.Amounts())
}

// Recorder records what finished tasks of one kind have spent. It is safe for
// concurrent use. Build it with [NewRecorder].
type Recorder[T client.Object] struct {
	host *bound[T]
	book *Book
}

// NewRecorder makes a recorder for the host's tasks. Call it before the manager
// starts.
func NewRecorder[T client.Object](b *Book, h Host[T]) (*Recorder[T], error) {
	if h.Completion == nil {
		return nil, errors.New("bursar: host.Completion is required to record")
	}
	host, err := bind(b, h)
	if err != nil {
		return nil, err
	}
	return &Recorder[T]{host: host, book: b}, nil
}

// Record writes the record of a finished task, and then deletes its hold. Call
// it whenever the task is reconciled in a terminal state: what is recorded is
// not recorded again, and costs no API call.
//
// The record carries the labels that the hold has taken down at the admission,
// whatever became of the task's labels since. It counts at once. Policies see it
// before it is written, to warn or to label it; nothing that they say blocks it.
//
// An error means that the task has to be recorded yet; it is safe to try again,
// and the host must: keep the task, with a finalizer say, until Record returns
// nil or a [ConflictError]. Everything else that is to be cleaned up does not
// depend on it: do that first, or join both errors.
//
// A [ConflictError] says that all is done that can be: it was told on the task,
// as an event and as a condition, and the hold is gone. Trying again does not
// help, so where nothing else is left to do, return it to the controller wrapped
// in [sigs.k8s.io/controller-runtime/pkg/reconcile.TerminalError]. Record does not
// do so by itself: joined with the error of a clean-up, it would keep that one
// from being tried again, too.
func (r *Recorder[T]) Record(ctx context.Context, task T) error {
	if err := r.record(ctx, task); err != nil {
		return fmt.Errorf("record %s %s: %w", r.host.gvk.Kind, client.ObjectKeyFromObject(task), err)
	}
	return nil
}

func (r *Recorder[T]) record(ctx context.Context, task T) error {
	if !r.book.Ready() {
		return ErrNotReady
	}
	completion, err := r.complete(ctx, task)
	if err != nil {
		return err
	}
	standing, err := r.book.findRecord(ctx, r.book.client, completion.Task)
	if err != nil {
		return err
	}
	if standing == nil {
		standing, err = r.create(ctx, task, completion)
		if err != nil {
			return err
		}
	}
	difference, err := compare(standing, completion), r.settle(ctx, task)
	conflict, ok := errors.AsType[*ConflictError](difference)
	if !ok {
		return errors.Join(difference, err)
	}
	if err := errors.Join(err, r.report(ctx, task, conflict)); err != nil {
		return fmt.Errorf("%w; and %s", err, conflict.Error()) // no ConflictError yet: this is worth another try
	}
	return conflict
}

// complete gathers what is known of the task.
func (r *Recorder[T]) complete(ctx context.Context, task T) (usage.Completion, error) {
	c, err := r.host.Completion(ctx, task)
	if err != nil {
		return c, err
	}
	identity := r.host.identity(task)
	identity.Type, identity.Model = c.Task.Type, c.Task.Model
	c.Task, c.Labels = identity, r.host.labels(task)
	return c, nil
}

// create writes the record, and gives the one that stands: another one, if there
// is one already.
func (r *Recorder[T]) create(ctx context.Context, task T, c usage.Completion) (*budgetv1alpha1.TaskRecord, error) {
	hold, err := r.book.findHold(ctx, c.Task)
	if err != nil {
		return nil, err
	}
	c.Hold = hold
	c.TTL = r.book.recordTTL(c.Task.Namespace, c.TTL)
	record, err := usage.RecordUsage(c)
	if err != nil {
		return nil, err
	}
	tr, err := r.book.createRecord(ctx, &record, r.host.subject(task), task)
	if err != nil {
		return nil, err
	}
	for _, p := range record.Problems {
		log.FromContext(ctx).Info("A figure of the task is not known", "problem", p.String())
	}
	return tr, nil
}

// compare holds a standing record against what the task says now: a
// [ConflictError] where they differ. The snapshot
// and the amounts that stood in for missing figures are those of the record: the
// hold is gone.
func compare(standing *budgetv1alpha1.TaskRecord, c usage.Completion) error {
	recorded, faults := budget.RecordFrom(standing)
	if len(faults) > 0 {
		return nil // the book says so, on every budget that it might count in
	}
	hold := usage.Hold{
		UID: c.Task.UID, Namespace: c.Task.Namespace, Labels: recorded.Labels, AdmittedAt: recorded.AdmittedAt, Amounts: usage.Amounts{},
	}
	for meter, figure := range recorded.Usage {
		if figure.Basis == usage.Held {
			hold.Amounts[meter] = figure.Amount
		}
	}
	c.Hold = &hold
	found, err := usage.RecordUsage(c)
	if err != nil {
		return fmt.Errorf("it is recorded, and says now what makes no record: %w", err)
	}
	for meter, figure := range recorded.Usage {
		if figure.Basis == usage.Priced || found.Usage[meter].Basis == usage.Priced {
			found.Usage[meter] = figure // prices change, and the one at the time stands
		}
	}
	if recorded.Equal(found) {
		return nil
	}
	return &ConflictError{Recorded: recorded, Found: found}
}

// settle deletes the hold of a task that is recorded, if it has one.
func (r *Recorder[T]) settle(ctx context.Context, task T) error {
	s := r.book.shelf(task.GetNamespace())
	s.stopWaiting(task.GetUID())
	if _, _, held := s.held(task.GetUID()); !held {
		return nil
	}
	return r.book.deleteHold(ctx, task.GetNamespace(), task.GetUID())
}

// report tells a conflict on the task, once.
func (r *Recorder[T]) report(ctx context.Context, task T, conflict *ConflictError) error {
	changed, err := r.host.patchCondition(ctx, task, ConditionRecordConflict, &metav1.Condition{
		Type: ConditionRecordConflict, Status: metav1.ConditionTrue, Reason: ReasonContentDiffers,
		Message: conflict.Error(), ObservedGeneration: task.GetGeneration(),
		LastTransitionTime: metav1.NewTime(r.book.options.Clock.Now()),
	})
	if changed && err == nil {
		r.book.tell.conflict(task, conflict)
	}
	return err
}

// findRecord reads the record of a task, nil if there is none.
func (b *Book) findRecord(ctx context.Context, from client.Reader, task usage.Task) (*budgetv1alpha1.TaskRecord, error) {
	tr := &budgetv1alpha1.TaskRecord{}
	err := from.Get(ctx, types.NamespacedName{Namespace: task.Namespace, Name: string(task.UID)}, tr)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read its TaskRecord: %w", err)
	}
	return tr, nil
}

// findHold gives the hold of a task, nil if it has none. What is not known here
// is looked up in the API server: without its hold a record would carry the
// labels that the task has now.
func (b *Book) findHold(ctx context.Context, task usage.Task) (*usage.Hold, error) {
	if known, _, ok := b.shelf(task.Namespace).held(task.UID); ok {
		return &known.hold, nil
	}
	th := &budgetv1alpha1.TaskHold{}
	err := b.live.Get(ctx, types.NamespacedName{Namespace: task.Namespace, Name: string(task.UID)}, th)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read its TaskHold: %w", err)
	}
	b.followHold(th)
	hold, faults := budget.HoldFrom(th)
	if len(faults) > 0 {
		return nil, fmt.Errorf("read its TaskHold: %w", faults.ToAggregate())
	}
	return &hold, nil
}

// createRecord stores a record and enters it in the book. Where there is one
// already, that one stands. What policies say of it is told on an object, nil for
// the record itself.
func (b *Book) createRecord(ctx context.Context, record *usage.Record, about budget.Subject, on runtime.Object) (*budgetv1alpha1.TaskRecord, error) {
	tr := budget.NewTaskRecord(*record)
	verdict := b.review(ctx, record, about)
	kept := budget.LabelRecord(tr, verdict)
	err := b.client.Create(ctx, tr)
	if apierrors.IsAlreadyExists(err) {
		tr, err = b.findRecord(ctx, b.live, record.Task)
		if err == nil && tr == nil {
			err = errors.New("its TaskRecord was deleted while it was read")
		}
	} else if err == nil {
		b.tell.recorded(record)
		if on == nil {
			on = tr
		}
		b.heed(ctx, on, &verdict, kept)
	}
	if err != nil {
		return nil, err
	}
	b.followRecord(tr)
	return tr, nil
}

// recordTTL is how long a record of the namespace is kept: what was asked for,
// but as long as any budget there needs it.
func (b *Book) recordTTL(namespace string, asked *time.Duration) *time.Duration {
	ttl := b.options.RecordTTL
	if asked != nil {
		ttl = *asked
	}
	if ttl <= 0 {
		return nil
	}
	floor, bounded := budget.RetentionFloor(b.shelf(namespace).all()...)
	if !bounded {
		return nil
	}
	ttl = max(ttl, floor)
	return &ttl
}
