package webhook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// Warnings lists what is legal and probably not meant, in a fixed order. rule is
// what Compile made of tb without a fault. The result is nil if there is nothing
// to say. It depends on the arguments alone.
func Warnings(tb *budgetv1alpha1.TaskBudget, rule *budget.Rule, now time.Time) []string {
	if tb == nil || rule == nil || rule.Fault() != nil {
		return nil
	}
	return slices.Concat(
		EmptySelector(tb.Spec.TaskSelector),
		IdleGroups(tb.Spec.TaskSelector, tb.Spec.GroupBy),
		ZeroLimits(rule),
		LookalikeMeters(rule),
		EstimateAboveLimit(rule),
		ShortTTL(rule, tb.Spec.RecordTTLSeconds),
		WarnThresholds(rule, tb.Spec.Thresholds),
		EndedLifetime(tb.Spec.Period, now),
		InvertedZone(tb.Spec.Period.Timezone),
	)
}

// fieldPath is where a limit is written.
func fieldPath(m usage.Meter) string {
	switch m {
	case usage.CostUSD:
		return "spec.maxCostUSD"
	case usage.InputTokens:
		return "spec.maxInputTokens"
	case usage.OutputTokens:
		return "spec.maxOutputTokens"
	default:
		return fmt.Sprintf("spec.limits[%s]", m)
	}
}

// ZeroLimits warns of limits of 0, which refuse every task.
func ZeroLimits(rule *budget.Rule) []string {
	effect := "refuses every task that the budget selects"
	if rule.Action() == budgetv1alpha1.ActionWarn {
		effect = "warns of every task that the budget selects"
	}
	var warnings []string
	for _, limit := range rule.Limits() {
		if limit.Max == 0 {
			warnings = append(warnings, fmt.Sprintf("%s: 0 %s; leave it out for no limit", fieldPath(limit.Meter), effect))
		}
	}
	return warnings
}

// EstimateAboveLimit warns of a default estimate that exceeds a whole limit: no
// task that comes without an estimate of its own will ever be admitted.
func EstimateAboveLimit(rule *budget.Rule) []string {
	if rule.Scope() == nil || rule.Action() == budgetv1alpha1.ActionWarn {
		return nil
	}
	var warnings []string
	for _, limit := range rule.Limits() {
		estimate, known := rule.Scope().Default[limit.Meter]
		if known && limit.Max > 0 && estimate > limit.Max {
			warnings = append(warnings, fmt.Sprintf(
				"spec.defaultEstimate: %s of %s is more than %s allows (%s); no task without an estimate of its own will be admitted",
				limit.Meter.Format(estimate), limit.Meter, fieldPath(limit.Meter), limit.Meter.Format(limit.Max)))
		}
	}
	return warnings
}

var standardMeters = []usage.Meter{
	usage.CostUSD, usage.InputTokens, usage.OutputTokens, usage.CacheReadTokens, usage.CacheWriteTokens,
	usage.ReasoningTokens, usage.Tasks, usage.Seconds, usage.GPUSeconds,
}

// LookalikeMeters warns of limits on a meter whose name is that of a standard
// meter but for upper and lower case: it is another meter, which probably nobody
// counts, so that the limit never bites.
func LookalikeMeters(rule *budget.Rule) []string {
	var warnings []string
	for _, limit := range rule.Limits() {
		for _, standard := range standardMeters {
			if limit.Meter != standard && strings.EqualFold(string(limit.Meter), string(standard)) {
				warnings = append(warnings, fmt.Sprintf(
					"%s: a meter of that name is not counted by itself; the standard meter is %s", fieldPath(limit.Meter), standard))
			}
		}
	}
	return warnings
}

// WarnThresholds reminds that a budget that only warns refuses nothing, whatever
// thresholds are told.
func WarnThresholds(rule *budget.Rule, thresholds []int32) []string {
	if rule.Action() != budgetv1alpha1.ActionWarn || len(thresholds) == 0 {
		return nil
	}
	return []string{"spec.thresholds: the thresholds are told, but a budget with action Warn refuses no task, not even at 100 percent"}
}
