package budget

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// Verdict is what one matching budget says of a task.
type Verdict struct {
	// Budget names the budget.
	Budget types.NamespacedName
	// Action is the budget's action. Only a budget that blocks refuses; what
	// one that warns would have refused is a warning.
	Action budgetv1alpha1.Action
	// Admits is false when the budget has no room for the task, is outside
	// its life, or can't be evaluated.
	Admits bool
	// Fault says why the budget can't be evaluated, nil if it can.
	Fault *Fault
	// Outside says where now lies outside the budget's life, "" if it is
	// inside.
	Outside Outside
	// Group names the task's group, "" without groupBy.
	Group string
	// Period is the budget's period, nil when it has a fault.
	Period *period.Period
	// Window is the current window; zero when there is none.
	Window period.Window
	// Figures has one entry for each limit, in the order of [Rule.Limits].
	Figures []Figure
}

// Figure is how one limit of a budget stands, in the unit of its meter.
type Figure struct {
	Meter usage.Meter
	// Limit is the most that may be used in a window.
	Limit int64
	// Used is what was used in the window, what is charged for unknown usage
	// included; Charged is that part alone.
	Used, Charged int64
	// Held is what is set aside for other tasks that run.
	Held int64
	// Estimate is what the task is expected to use; Estimated is false where
	// nothing is known of that.
	Estimate  int64
	Estimated bool
	// Remaining is limit - used - held, never negative.
	Remaining int64
	// Unknown counts finished tasks whose usage is not known, Uncharged those
	// among them for which nothing could be charged.
	Unknown, Uncharged int64
	// Cause says why there is no room, "" if there is.
	Cause Cause
}

// Cause says why a limit leaves no room for a task.
type Cause string

// The causes, in the order in which they are looked for.
const (
	// CauseZero: the limit is zero, which refuses every task.
	CauseZero Cause = "ZeroLimit"
	// CauseUnknown: usage is not known and the budget does not go on without.
	CauseUnknown Cause = "UnknownUsage"
	// CauseSpent: used and held reach the limit.
	CauseSpent Cause = "Spent"
	// CauseEstimate: used, held and the estimate exceed the limit.
	CauseEstimate Cause = "Estimate"
)

// Outside says on which side of a budget's life an instant lies.
type Outside string

// The sides.
const (
	// NotStarted: the budget's life has not begun.
	NotStarted Outside = "NotStarted"
	// Ended: the budget's life is over.
	Ended Outside = "Ended"
)

// blocks reports whether the budget refuses where it does not admit.
func (v Verdict) blocks() bool { return v.Action != budgetv1alpha1.ActionWarn }

// Exceeded lists the meters that leave no room.
func (v Verdict) Exceeded() []usage.Meter {
	var list []usage.Meter
	for i := range v.Figures {
		if v.Figures[i].Cause != "" {
			list = append(list, v.Figures[i].Meter)
		}
	}
	return list
}

// judge gives the verdict of a rule that matches. figures has room for one
// entry per limit.
func (r *Rule) judge(in *Input, figures []Figure) Verdict {
	v := Verdict{Budget: r.name, Action: r.action, Fault: r.Fault()}
	if r.fault != nil {
		return v
	}
	if in.unasked(r) {
		v.Fault = &Fault{Reason: ReasonPolicyNotAsked, Message: "spec.policies is not asked here: a Reviewer asks it, Admit and Reserve do not"}
		return v
	}
	if len(r.scope.GroupBy) > 0 {
		v.Group = r.scope.Group(in.Task.Labels)
	}
	v.Period, v.Figures, v.Admits = r.scope.Period, figures, true
	for i := range r.limits {
		figures[i] = Figure{Meter: r.limits[i].Meter, Limit: r.limits[i].Max}
		balance, err := r.weigh(in, in.query(r, r.limits[i].Meter), &figures[i])
		if err != nil {
			v.exclude(err)
			return v
		}
		v.Window = balance.Window
		v.Admits = v.Admits && figures[i].Cause == ""
	}
	return v
}

// exclude notes that nothing could be found out of what was used.
func (v *Verdict) exclude(err error) {
	v.Admits, v.Figures = false, nil
	switch {
	case errors.Is(err, period.ErrBeforeStart):
		v.Outside = NotStarted
	case errors.Is(err, period.ErrAfterEnd):
		v.Outside = Ended
	default:
		v.Fault = &Fault{Reason: ReasonListError, Message: bounded(err.Error(), maxMessage)}
	}
}

// unasked reports that the rule has policies that nobody asks.
func (in *Input) unasked(r *Rule) bool { return r.policies != nil && !in.reviewed }

// query asks about one meter of a rule at the instant of the decision.
func (in *Input) query(r *Rule, m usage.Meter) usage.Query {
	return usage.Query{Scope: r.scope, Labels: in.Task.Labels, Meter: m, At: in.Now, Except: in.Task.UID}
}

// weigh fills in how one limit stands at the query's instant.
func (r *Rule) weigh(in *Input, q usage.Query, f *Figure) (usage.Balance, error) {
	if in.Ledger == nil {
		return usage.Balance{}, errNoLedger
	}
	balance, err := in.Ledger.Used(q)
	if err != nil {
		return usage.Balance{}, err
	}
	f.Used, f.Held = balance.Known, balance.Held
	f.Unknown, f.Uncharged = balance.Unknown, balance.Uncharged
	if r.unknown == budgetv1alpha1.UnknownChargeHold {
		f.Charged = balance.Charged
		f.Used = usage.SaturatingAdd(f.Used, f.Charged)
	}
	f.Estimate, f.Estimated = r.estimate(&in.Task, f.Meter)
	taken := usage.SaturatingAdd(f.Used, f.Held)
	f.Remaining = max(0, f.Limit-taken)
	f.Cause = r.cause(f, taken)
	return balance, nil
}

// cause applies the law of admission to one limit.
func (r *Rule) cause(f *Figure, taken int64) Cause {
	switch {
	case f.Limit <= 0:
		return CauseZero
	case r.unknown == budgetv1alpha1.UnknownChargeHold && f.Uncharged > 0,
		r.unknown == budgetv1alpha1.UnknownBlock && f.Unknown > 0:
		return CauseUnknown
	case taken >= f.Limit:
		return CauseSpent
	case f.Estimated && usage.SaturatingAdd(taken, f.Estimate) > f.Limit:
		return CauseEstimate
	default:
		return ""
	}
}
