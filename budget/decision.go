package budget

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// Decision is the answer of [Admit]. The zero Decision denies.
type Decision struct {
	// Allowed says whether the task may start.
	Allowed bool
	// Action is Block where the task is refused, Warn where it is admitted
	// and a budget warns, and empty where there is nothing to say.
	Action budgetv1alpha1.Action
	// Fault says why the task could not be judged at all; "" if it could.
	Fault string
	// Verdicts has one entry for each matching budget, by namespace and name.
	Verdicts []Verdict
	// Warnings tells what budgets that only warn would have refused, and the
	// warnings of policies.
	Warnings []string
	// Policy is what policies say, nil if none was asked: there are none, or
	// the budgets refuse already. Its caps bound what the task may use, and its
	// labels are for the record; they play no part in any sum.
	Policy *policy.Verdict
	// RetryAt is the earliest instant at which time alone, without a new
	// record or hold, would admit the task; where a policy holds off, the one
	// at which it wants to be asked again. It may lie behind the end of the
	// window, since holds last on into the next one. Zero if time alone never
	// does, and where the task is allowed.
	RetryAt time.Time
	// Labels are the labels that the task was judged by, and so the snapshot
	// that its hold and its record must carry. They are the input's own map,
	// not a copy.
	Labels map[string]string
	// Hold is the hold in force, set by [Reserve] for a task that it admits.
	Hold *usage.Hold
	// Recorded says that the task has finished and is recorded, set by
	// [Reserve].
	Recorded bool
	// Task is the task that was judged, and At the instant of the decision.
	Task TaskID
	At   time.Time
}

// TaskID names a task.
type TaskID struct {
	UID             types.UID
	Namespace, Name string
}

func (t *Task) identity() TaskID { return TaskID{UID: t.UID, Namespace: t.Namespace, Name: t.Name} }

// Refusals lists the verdicts of the budgets that refuse the task, by namespace
// and name.
func (d Decision) Refusals() []Verdict {
	return d.pick(func(v *Verdict) bool { return !v.Admits && v.blocks() })
}

// Warners lists the verdicts of the budgets that only warn and would have
// refused the task, by namespace and name.
func (d Decision) Warners() []Verdict {
	return d.pick(func(v *Verdict) bool { return !v.Admits && !v.blocks() })
}

func (d Decision) pick(keep func(*Verdict) bool) []Verdict {
	var kept []Verdict
	for i := range d.Verdicts {
		if keep(&d.Verdicts[i]) {
			kept = append(kept, d.Verdicts[i])
		}
	}
	return kept
}

// The bounds of the delay after which a refused task asks again.
const (
	// MaxRequeue is the longest delay. It bounds how long a change goes
	// unnoticed that no event told of.
	MaxRequeue = 5 * time.Minute
	// MinRequeue is the shortest delay.
	MinRequeue = time.Second
)

// RequeueAfter is the delay, from the instant of the decision, after which a
// refused task should ask again: until RetryAt or the end of a refusing
// budget's window, whichever is first, between [MinRequeue] and [MaxRequeue].
// Zero where the task is allowed.
func (d Decision) RequeueAfter() time.Duration {
	if d.Allowed {
		return 0
	}
	delay := MaxRequeue
	until := func(t time.Time) {
		if !t.IsZero() {
			delay = min(delay, t.Sub(d.At))
		}
	}
	until(d.RetryAt)
	for _, v := range d.Refusals() {
		if !v.Window.LookBack {
			until(v.Window.End)
		}
	}
	return max(delay, MinRequeue)
}

// Reason is the reason of the condition that a refused task carries; "" where
// the task is allowed.
func (d Decision) Reason() string {
	switch {
	case d.Allowed:
		return ""
	case d.Recorded:
		return ReasonTaskRecorded
	case d.Fault != "":
		return ReasonInvalidTask
	case d.PolicyRefuses() && d.Policy.Outcome == policy.Hold:
		return ReasonPolicyHold
	case d.PolicyRefuses():
		return ReasonPolicyDenied
	}
	for _, v := range d.Refusals() {
		if v.Fault == nil {
			return ReasonBudgetExceeded
		}
	}
	return ReasonBudgetDegraded
}

// Condition is the BudgetBlocked condition of a refused task, nil where the
// task is allowed: an admitted task carries no such condition.
func (d Decision) Condition(generation int64) *metav1.Condition {
	if d.Allowed {
		return nil
	}
	return &metav1.Condition{
		Type:               ConditionBudgetBlocked,
		Status:             metav1.ConditionTrue,
		Reason:             d.Reason(),
		Message:            d.Message(),
		ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(d.At),
	}
}

// SetCondition puts the BudgetBlocked condition of the decision among the
// conditions of a task, or takes it out where the task is allowed, and reports
// whether that changed anything: if not, there is nothing to write.
func (d Decision) SetCondition(conditions *[]metav1.Condition, generation int64) bool {
	if condition := d.Condition(generation); condition != nil {
		return meta.SetStatusCondition(conditions, *condition)
	}
	return meta.RemoveStatusCondition(conditions, ConditionBudgetBlocked)
}
