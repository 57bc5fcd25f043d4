package controller

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/period"
)

// fingerprint says what of a refusal a person would act on: which budgets
// refuse, for which group, why, at which limit, and until when. The running
// figures are no part of it, so that a record does not rewrite the status of
// every task that waits. It is "" for an admission.
func fingerprint(d *budget.Decision) string {
	if d.Allowed {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s|%s", d.Reason(), d.Fault)
	for _, v := range d.Refusals() {
		fmt.Fprintf(&text, "|%s %q %s", v.Budget, v.Group, v.Outside)
		if v.Fault != nil {
			fmt.Fprintf(&text, " %s %s", v.Fault.Reason, v.Fault.Message)
		}
		if standsStill(&v) {
			fmt.Fprintf(&text, " %d", v.Window.End.Unix())
		}
		for _, f := range v.Figures {
			if f.Cause != "" {
				fmt.Fprintf(&text, " %s %s %d", f.Meter, f.Cause, f.Limit)
			}
		}
	}
	return text.String()
}

// standsStill reports that a verdict's window has an end that does not move
// along with the clock.
func standsStill(v *budget.Verdict) bool {
	return !v.Window.LookBack && !v.Window.End.IsZero() && v.Period.Kind() != period.FirstUse
}

// running are the figures in a condition's message that run. It lets a process
// that was just started, and remembers no fingerprint, see that nothing has
// changed. A wrong answer costs one write, or leaves older figures in a message.
var running = regexp.MustCompile(`(used|held|for|of|ends at) \d[\d.TZ:-]*`)

// tells reports whether a condition tells of a refusal already.
func tells(old, refusal *metav1.Condition) bool {
	return old != nil && old.Status == refusal.Status && old.Reason == refusal.Reason &&
		old.ObservedGeneration == refusal.ObservedGeneration &&
		running.ReplaceAllString(old.Message, "$1") == running.ReplaceAllString(refusal.Message, "$1")
}

// blocked gives the BudgetBlocked condition that a task carries, nil if it has
// none.
func blocked(conditions []metav1.Condition) *metav1.Condition {
	return meta.FindStatusCondition(conditions, budget.ConditionBudgetBlocked)
}
