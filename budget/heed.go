package budget

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// heed takes what policies say into a decision. It never turns a refusal into
// an admission.
func (d *Decision) heed(v policy.Verdict) {
	d.Policy = &v
	d.Warnings = slices.Clip(d.Warnings)
	for i := range v.Warnings {
		d.Warnings = append(d.Warnings, told(&v.Warnings[i]))
	}
	switch {
	case !v.Allowed():
		d.Allowed, d.Action, d.Hold, d.RetryAt = false, budgetv1alpha1.ActionBlock, nil, time.Time{}
		if v.Outcome == policy.Hold && v.RetryAfter > 0 {
			d.RetryAt = d.At.Add(v.RetryAfter).UTC()
		}
	case d.Allowed && len(d.Warnings) > 0:
		d.Action = budgetv1alpha1.ActionWarn
	}
}

// heedAs is heed for an operation: what policies would refuse to a task that
// was admitted already is a warning, where they could be asked.
func (d *Decision) heedAs(operation policy.Operation, v policy.Verdict) {
	if operation != policy.Renew || v.Allowed() || len(v.Errors) > 0 {
		d.heed(v)
		return
	}
	for _, r := range v.Reasons {
		r.Outcome = policy.Allow
		v.Warnings = append(v.Warnings, r)
	}
	v.Outcome, v.Reasons, v.RetryAfter = policy.Allow, nil, 0
	d.heed(v)
}

// PolicyRefuses reports that policies refuse what budgets do not.
func (d Decision) PolicyRefuses() bool {
	return !d.Allowed && d.Fault == "" && d.Policy != nil && !d.Policy.Allowed()
}

// MaxCostUSD is the most that policies let the task cost, in nano-USD; false
// if they say nothing. Whoever starts the task has to enforce it; the hold stays
// at the estimate.
func (d Decision) MaxCostUSD() (nano int64, capped bool) {
	if d.Policy == nil || d.Policy.Caps.MaxCostMicros == nil {
		return 0, false
	}
	const micro = usage.USD / 1_000_000
	most := *d.Policy.Caps.MaxCostMicros
	if most > (1<<63-1)/micro {
		return 1<<63 - 1, true
	}
	return most * micro, true
}

// MaxTokens is the most tokens that policies let the task use, input and output
// together; false if they say nothing.
func (d Decision) MaxTokens() (tokens int64, capped bool) {
	if d.Policy == nil || d.Policy.Caps.MaxTokens == nil {
		return 0, false
	}
	return *d.Policy.Caps.MaxTokens, true
}

// told says in one line what a policy says:
// "Policy owner-label denies: every task names its owner (owner-missing)".
func told(r *policy.Reason) string {
	says := map[policy.Outcome]string{policy.Deny: "denies", policy.Hold: "holds off", policy.Allow: "warns"}[r.Outcome]
	return fmt.Sprintf("%s %s: %s (%s)", voice(r.Policy), says, r.Message, r.Code)
}

// voice names who speaks: a budget by its kind and name, or a policy.
func voice(name string) string {
	if strings.HasPrefix(name, "TaskBudget ") {
		return name
	}
	return "Policy " + name
}

// policyMessage says in one line why policies refuse.
func (d *Decision) policyMessage() string {
	var parts []string
	for i := range d.Policy.Reasons {
		parts = append(parts, told(&d.Policy.Reasons[i]))
	}
	if d.Policy.Omitted > 0 {
		parts = append(parts, fmt.Sprintf("and %d more reasons and warnings", d.Policy.Omitted))
	}
	return bounded(strings.Join(parts, "; "), maxMessage)
}

// explainPolicy tells what policies said, one line each.
func (d *Decision) explainPolicy(text *strings.Builder) {
	v := d.Policy
	if v == nil {
		return
	}
	says := map[policy.Outcome]string{policy.Deny: "deny", policy.Hold: "hold off", policy.Allow: "have no objection"}[v.Outcome]
	fmt.Fprintf(text, "\n  Policies %s\n", says)
	for _, list := range [][]policy.Reason{v.Reasons, v.Warnings} {
		for i := range list {
			fmt.Fprintf(text, "    %s\n", told(&list[i]))
		}
	}
	for i := range v.DryRun {
		fmt.Fprintf(text, "    in dry run: %s\n", told(&v.DryRun[i]))
	}
	if v.RetryAfter > 0 {
		fmt.Fprintf(text, "    ask again after %s\n", v.RetryAfter)
	}
	for _, c := range []struct {
		name  string
		value *int64
	}{
		{"cost in micro-USD", v.Caps.MaxCostMicros},
		{"tokens", v.Caps.MaxTokens},
		{"cpu in millicores", v.Caps.CPUMilli},
		{"memory in bytes", v.Caps.MemoryBytes},
		{"seconds until its deadline", v.Caps.DeadlineSeconds},
	} {
		if c.value != nil {
			fmt.Fprintf(text, "    caps %s at %d\n", c.name, *c.value)
		}
	}
	if len(v.Labels) > 0 {
		fmt.Fprintf(text, "    labels: %s\n", labels.Set(v.Labels))
	}
	for _, f := range v.Errors {
		fmt.Fprintf(text, "    error of %s: %s\n", voice(f.Policy), strings.TrimPrefix(f.Rule+": "+f.Message, ": "))
	}
	if v.Revision != "" {
		fmt.Fprintf(text, "    revision %s\n", v.Revision)
	}
}
