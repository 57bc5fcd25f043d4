package budget

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// Rule is a TaskBudget that was compiled: immutable and safe for concurrent
// use. A rule with a [Fault] refuses what it matches.
type Rule struct {
	name       types.NamespacedName
	selector   labels.Selector // nil if it could not be compiled
	scope      *usage.Scope
	limits     []Limit
	action     budgetv1alpha1.Action
	unknown    budgetv1alpha1.UnknownUsage
	thresholds []int32
	ttl        time.Duration
	fault      *Fault
	policies   *policy.Set // what spec.policies say; nil without any
}

// Limit is the limit of a rule on one meter, in the unit of the meter. Zero
// refuses every task.
type Limit struct {
	Meter usage.Meter
	Max   int64
}

// Fault says why a budget can't be evaluated. It is data, not an error: the
// budget refuses, and the fault is shown on it and in every decision.
type Fault struct {
	// Reason is one of the Reason constants, for the Degraded condition.
	Reason string
	// Message says which field is wrong and what to do about it.
	Message string
}

// The types and reasons of conditions.
const (
	// ConditionBudgetBlocked is on a task that waits for a budget.
	ConditionBudgetBlocked = "BudgetBlocked"
	// ConditionDegraded is on a budget that can't be evaluated.
	ConditionDegraded = "Degraded"

	// ReasonBudgetExceeded: a budget is spent, or will be by the task.
	ReasonBudgetExceeded = "BudgetExceeded"
	// ReasonBudgetDegraded: no budget is spent, but one can't be evaluated.
	ReasonBudgetDegraded = "BudgetDegraded"
	// ReasonInvalidTask: the task itself could not be judged.
	ReasonInvalidTask = "InvalidTask"
	// ReasonTaskRecorded: the task has finished and is recorded.
	ReasonTaskRecorded = "TaskRecorded"
	// ReasonPolicyDenied: every budget has room, and a policy denies.
	ReasonPolicyDenied = "PolicyDenied"
	// ReasonPolicyHold: every budget has room, and a policy holds off.
	ReasonPolicyHold = "PolicyHold"

	// ReasonInvalidSelector: spec.taskSelector can't be compiled. The budget
	// might be for any task, so it refuses every task of its namespace.
	ReasonInvalidSelector = "InvalidSelector"
	// ReasonInvalidPeriod: spec.period can't be compiled.
	ReasonInvalidPeriod = "InvalidPeriod"
	// ReasonInvalidSpec: another field of the spec is wrong.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonInvalidPolicy: spec.policies can't be compiled.
	ReasonInvalidPolicy = "InvalidPolicy"
	// ReasonPolicyNotAsked: the budget has policies, and whoever decides can't
	// ask them: [Admit] and [Reserve] take no context, a [Reviewer] does.
	ReasonPolicyNotAsked = "PolicyNotAsked"
	// ReasonListError: what was used can't be found out.
	ReasonListError = "ListError"
	// ReasonEvaluated: the budget was evaluated, it is not degraded.
	ReasonEvaluated = "Evaluated"
)

// Name is the namespace and name of the budget.
func (r *Rule) Name() types.NamespacedName { return r.name }

// Matches reports whether the rule is for a task of that namespace with these
// labels. A rule whose selector could not be compiled might be for any task, so
// it matches every task of its namespace.
func (r *Rule) Matches(namespace string, set map[string]string) bool {
	return r.name.Namespace == namespace && (r.selector == nil || r.selector.Matches(labels.Set(set)))
}

// Scope is what a ledger needs to know of the rule; nil if the rule has a
// fault, since then nothing can be summed for it.
func (r *Rule) Scope() *usage.Scope { return r.scope }

// Period is the rule's period, nil if it could not be compiled.
func (r *Rule) Period() *period.Period {
	if r.scope == nil {
		return nil
	}
	return r.scope.Period
}

// Limits lists the rule's limits: cost, input tokens and output tokens first,
// the other meters by name after them.
func (r *Rule) Limits() []Limit { return slices.Clone(r.limits) }

// Action is what happens when the budget is spent.
func (r *Rule) Action() budgetv1alpha1.Action { return r.action }

// UnknownUsage is what the budget makes of usage that is not known.
func (r *Rule) UnknownUsage() budgetv1alpha1.UnknownUsage { return r.unknown }

// Fault says why the rule can't be evaluated, nil if it can. It is a copy.
func (r *Rule) Fault() *Fault {
	if r.fault == nil {
		return nil
	}
	fault := *r.fault
	return &fault
}

// compiled reports whether Compile made the rule.
func (r *Rule) compiled() bool { return r != nil && (r.scope != nil || r.fault != nil) }

// HasPolicies reports whether the budget has policies that are to be asked
// before a task is admitted.
func (r *Rule) HasPolicies() bool { return r.policies != nil }

// Degraded is the condition that the budget's status carries for the rule: True
// with the fault's reason, or False.
func (r *Rule) Degraded(generation int64, now time.Time) metav1.Condition {
	return r.fault.Condition(generation, now)
}

// Condition is the Degraded condition for the fault: True with its reason, or
// False for a nil fault.
func (f *Fault) Condition(generation int64, now time.Time) metav1.Condition {
	condition := metav1.Condition{
		Type:               ConditionDegraded,
		Status:             metav1.ConditionFalse,
		Reason:             ReasonEvaluated,
		Message:            "The budget can be evaluated.",
		ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(now),
	}
	if f != nil {
		condition.Status, condition.Reason = metav1.ConditionTrue, f.Reason
		condition.Message = bounded(f.Message, maxMessage)
	}
	return condition
}

// estimate is what a task is expected to spend on a meter under this rule: of
// tasks it is one.
func (r *Rule) estimate(task *Task, m usage.Meter) (int64, bool) {
	if amount, ok := task.Estimate[m]; ok {
		return amount, true
	}
	if amount, ok := r.scope.Default[m]; ok {
		return amount, true
	}
	return 1, m == usage.Tasks
}

// keep is how long a record must be kept for a period. Where windows open at
// their first use, each window hangs on all the uses before it, so that no
// record may ever be forgotten.
func keep(p *period.Period) (time.Duration, bool) {
	if p.Kind() == period.FirstUse {
		return 0, false
	}
	return p.Longest()
}

// RetentionFloor is how long the records that count in these rules must be kept
// after their completion, so that none is forgotten in a window in which it
// counts. false means for ever: a rule has a window without an end, one that is
// not known, or windows that open at their first use.
func RetentionFloor(rules ...*Rule) (time.Duration, bool) {
	var floor time.Duration
	for _, r := range rules {
		if !r.compiled() || r.scope == nil {
			return 0, false
		}
		longest, bounded := keep(r.scope.Period)
		if !bounded {
			return 0, false
		}
		floor = max(floor, longest, r.ttl)
	}
	return floor, true
}
