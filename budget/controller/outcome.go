package controller

import (
	"time"

	"github.com/bursar-dev/bursar/budget"
)

// CheckState is a decision in the words of a queue that asks several checks, as
// Kueue does.
type CheckState string

// The states of a check.
const (
	// CheckReady: the task may start.
	CheckReady CheckState = "Ready"
	// CheckRetry: not now; ask again.
	CheckRetry CheckState = "Retry"
	// CheckRejected: not as the task and the budgets are now, whatever else is
	// spent or released, and however long it waits.
	CheckRejected CheckState = "Rejected"
)

// Check maps a decision onto the state of a check. after is when to ask again,
// zero unless the state is CheckRetry. The message is the decision's.
//
// A task is rejected where its own description is faulty, a limit that refuses
// is zero, its estimate exceeds a whole limit, or a budget's life has ended. A
// budget that can't be evaluated is a fault of the budget, and a policy may say
// something else when figures move or the policies change: the task retries.
func Check(d *budget.Decision) (state CheckState, after time.Duration) {
	switch {
	case d.Allowed:
		return CheckReady, 0
	case d.Fault != "" && d.Fault != ErrNotReady.Error():
		return CheckRejected, 0
	}
	for _, v := range d.Refusals() {
		if hopeless(&v) {
			return CheckRejected, 0
		}
	}
	return CheckRetry, d.RequeueAfter()
}

// hopeless reports a refusal that neither time nor other tasks end.
func hopeless(v *budget.Verdict) bool {
	if v.Outside == budget.Ended {
		return true
	}
	for _, f := range v.Figures {
		if f.Cause == budget.CauseZero || f.Cause != "" && f.Estimated && f.Estimate > f.Limit {
			return true
		}
	}
	return false
}
