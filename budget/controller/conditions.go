package controller

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
)

// OwnConditions reads and writes the conditions of tasks whose conditions are of
// a type of their own, not of metav1.Condition. [JobConditions] and
// [PodConditions] are those of Jobs and Pods, [UnstructuredConditions] those of
// tasks without a type in Go. Both functions are required where one is set, and
// must be safe for concurrent use.
//
// What Set puts in, Find must give again: its type, status, reason and message.
// The task's type may lack the other fields. Without an observedGeneration, a
// refusal that has not changed is not written again when the task's spec has.
type OwnConditions[T client.Object] struct {
	// Find gives the task's condition of a type, nil if it has none. It does
	// not change the task. Fields that the task's type lacks are left empty.
	Find func(task T, conditionType string) *metav1.Condition
	// Set puts a condition into the task in memory, in place of the one of that
	// type if there is one; nil takes that one out. It leaves the conditions of
	// other types as they are. Bursar writes the task's status, as a patch.
	Set func(task T, conditionType string, condition *metav1.Condition)
}

// conditions gives the one way in which the host's conditions are read and
// written, or the fault.
func (h Host[T]) conditions() (OwnConditions[T], error) {
	find, set := h.OwnConditions.Find != nil, h.OwnConditions.Set != nil
	switch {
	case h.Conditions != nil && (find || set):
		return OwnConditions[T]{}, errors.New("bursar: host.Conditions and host.OwnConditions are both set: give Conditions where they are of type metav1.Condition, else OwnConditions")
	case h.Conditions != nil:
		return standardConditions(h.Conditions), tryPointer(h.Conditions, h.New())
	case find && set:
		return h.OwnConditions, tryConditions(h.OwnConditions, h.New())
	case find:
		return OwnConditions[T]{}, errors.New("bursar: host.OwnConditions.Set is required beside Find")
	case set:
		return OwnConditions[T]{}, errors.New("bursar: host.OwnConditions.Find is required beside Set")
	}
	return OwnConditions[T]{}, errors.New("bursar: host.Conditions is required, or host.OwnConditions where they are not of type metav1.Condition")
}

// tryPointer puts a condition where the host points in an empty task, and looks
// for it.
func tryPointer[T client.Object](of func(T) *[]metav1.Condition, task T) error {
	conditions := of(task)
	if conditions == nil {
		return errors.New("bursar: host.Conditions gives nil: it must point into the task")
	}
	meta.SetStatusCondition(conditions, metav1.Condition{Type: budget.ConditionBudgetBlocked, Status: metav1.ConditionTrue})
	if again := of(task); again == nil || meta.FindStatusCondition(*again, budget.ConditionBudgetBlocked) == nil {
		return errors.New("bursar: host.Conditions: what is put there is lost: it must point into the task, " +
			"and not at a copy; for unstructured tasks there is UnstructuredConditions")
	}
	return nil
}

// tryConditions puts conditions into an empty task and looks for them.
func tryConditions[T client.Object](c OwnConditions[T], task T) error {
	types := []string{budget.ConditionBudgetBlocked, ConditionRecordConflict}
	set := func(on string, status metav1.ConditionStatus) {
		c.Set(task, on, &metav1.Condition{Type: on, Status: status, Reason: "Trial" + on, Message: "a trial of " + on + " " + string(status)})
	}
	for _, on := range types {
		set(on, metav1.ConditionFalse)
		set(on, metav1.ConditionTrue)
	}
	for _, on := range types {
		want := metav1.Condition{Type: on, Status: metav1.ConditionTrue, Reason: "Trial" + on, Message: "a trial of " + on + " True"}
		got := c.Find(task, on)
		if got == nil {
			return fmt.Errorf("bursar: host.OwnConditions: Find does not give the condition %s that Set has put in", on)
		}
		if got.Type != on || !sameWords(got, &want) {
			return fmt.Errorf("bursar: host.OwnConditions: Set has put in the condition %s, Find gives type %q, status %q, reason %q, message %q: they must be kept", on, got.Type, got.Status, got.Reason, got.Message)
		}
	}
	c.Set(task, types[0], nil)
	if c.Find(task, types[0]) != nil || c.Find(task, types[1]) == nil {
		return fmt.Errorf("bursar: host.OwnConditions.Set with nil does not take out the condition %s alone", types[0])
	}
	return nil
}

// standardConditions are those of a task that has metav1.Conditions.
func standardConditions[T client.Object](of func(T) *[]metav1.Condition) OwnConditions[T] {
	return OwnConditions[T]{
		Find: func(task T, conditionType string) *metav1.Condition {
			return meta.FindStatusCondition(*of(task), conditionType).DeepCopy()
		},
		Set: func(task T, conditionType string, condition *metav1.Condition) {
			if condition == nil {
				meta.RemoveStatusCondition(of(task), conditionType)
				return
			}
			meta.SetStatusCondition(of(task), *condition)
		},
	}
}

// patchCondition writes the task's condition of a type, or takes it out if
// condition is nil, unless somebody has changed the task since it was read. It
// reports whether there was anything to write.
func (h *bound[T]) patchCondition(ctx context.Context, task T, conditionType string, condition *metav1.Condition) (bool, error) {
	old := h.conditions.Find(task, conditionType)
	if unchanged(old, condition) {
		return false, nil
	}
	before, ok := task.DeepCopyObject().(T)
	if !ok {
		return false, fmt.Errorf("%s: its deep copy is of another type", h.gvk.Kind)
	}
	if old != nil && condition != nil && old.Status == condition.Status && !old.LastTransitionTime.IsZero() {
		condition = condition.DeepCopy()
		condition.LastTransitionTime = old.LastTransitionTime
	}
	h.conditions.Set(task, conditionType, condition)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := h.book.client.Status().Patch(ctx, task, patch); err != nil {
		return true, fmt.Errorf("write the conditions of %s %s: %w", h.gvk.Kind, client.ObjectKeyFromObject(task), err)
	}
	return true, nil
}

// unchanged reports that a task carries a condition already, or none where none
// is wanted. When it was found first is no part of it.
func unchanged(old, wanted *metav1.Condition) bool {
	if old == nil || wanted == nil {
		return old == wanted
	}
	return sameWords(old, wanted) && sameGeneration(old, wanted)
}

func sameWords(a, b *metav1.Condition) bool {
	return a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
}

// sameGeneration reports that an old condition was found on the generation of a
// new one, or does not say: not every type has the field, and a resource
// definition may drop it.
func sameGeneration(old, wanted *metav1.Condition) bool {
	return old.ObservedGeneration == 0 || old.ObservedGeneration == wanted.ObservedGeneration
}
