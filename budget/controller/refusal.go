package controller

import (
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/period"
)

// fingerprint says what of a refusal a person would act on: which budgets
// refuse, for which group, why, at which limit, and until when; which policies
// refuse, and with which code. The running figures are no part of it, nor are the
// words of policies, so that a record does not rewrite the status of every task
// that waits. It is "" for an admission.
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
	if d.PolicyRefuses() {
		for i := range d.Policy.Reasons {
			r := &d.Policy.Reasons[i]
			fmt.Fprintf(&text, "|%q %s %s", r.Policy, r.Outcome, r.Code)
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

// digits are the figures in the words of policies.
var digits = regexp.MustCompile(`\d+`)

// tells reports whether a condition tells of a refusal already.
func tells(old, refusal *metav1.Condition) bool {
	figures, kept := running, "$1"
	if refusal.Reason == budget.ReasonPolicyDenied || refusal.Reason == budget.ReasonPolicyHold {
		figures, kept = digits, "" // policies have words of their own
	}
	return old != nil && old.Status == refusal.Status && old.Reason == refusal.Reason &&
		sameGeneration(old, refusal) &&
		figures.ReplaceAllString(old.Message, kept) == figures.ReplaceAllString(refusal.Message, kept)
}
