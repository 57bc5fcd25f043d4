package budget

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// Compile checks a TaskBudget and makes it ready for use. Every fault is
// reported with the path of its field.
//
// The rule is never nil, so that enforcement can go on with what is stored: a
// budget with a fault gives a rule that refuses what it matches. Webhook, gate
// and reconciler all call this one function, with the same options, which is
// why they agree. tb is only read, and the rule shares nothing with it.
//
// spec.policies need [WithPolicies]: without it a budget that has any is one
// with a fault.
func Compile(tb *budgetv1alpha1.TaskBudget, options ...CompileOption) (*Rule, field.ErrorList) {
	if tb == nil {
		tb = &budgetv1alpha1.TaskBudget{}
	}
	c := compiler{rule: &Rule{
		name:    types.NamespacedName{Namespace: tb.Namespace, Name: tb.Name},
		action:  budgetv1alpha1.ActionBlock,
		unknown: budgetv1alpha1.UnknownChargeHold,
	}}
	for _, option := range options {
		if option != nil {
			option(&c)
		}
	}
	spec := field.NewPath("spec")
	c.selector(spec.Child("taskSelector"), tb.Spec.TaskSelector)
	windows := c.period(spec.Child("period"), tb.Spec.Period)
	c.limits(spec, &tb.Spec)
	standard := c.defaultEstimate(spec.Child("defaultEstimate"), tb.Spec.DefaultEstimate)
	c.enums(spec, &tb.Spec)
	c.groupBy(spec.Child("groupBy"), tb.Spec.GroupBy)
	c.thresholds(spec.Child("thresholds"), tb.Spec.Thresholds)
	c.recordTTL(spec.Child("recordTTLSeconds"), tb.Spec.RecordTTLSeconds, windows)
	c.policies(spec.Child("policies"), tb.Spec.Policies)
	c.metadata(tb)
	if c.rule.fault != nil {
		return c.rule, c.faults
	}
	c.rule.scope = &usage.Scope{
		Name:      c.rule.name.String(),
		Namespace: c.rule.name.Namespace,
		Selector:  c.rule.selector,
		Period:    windows,
		GroupBy:   slices.Clone(tb.Spec.GroupBy),
		Meters:    meters(c.rule.limits),
		Default:   standard,
	}
	return c.rule, nil
}

// compiler gathers what is wrong with a budget.
type compiler struct {
	rule         *Rule
	faults       field.ErrorList
	compileRules policy.RuleCompiler
}

// fail notes faults, on the rule, too, if it is a rule that is compiled.
func (c *compiler) fail(reason string, faults ...*field.Error) {
	for _, fault := range faults {
		shorten(fault)
	}
	c.faults = append(c.faults, faults...)
	if c.rule == nil {
		return
	}
	for _, fault := range faults {
		c.rule.note(reason, fault.Error())
	}
}

// shorten cuts what a fault repeats of the manifest.
func shorten(fault *field.Error) {
	if value := fmt.Sprint(fault.BadValue); len(value) > maxValue {
		fault.BadValue = bounded(value, maxValue)
	}
	fault.Detail = bounded(fault.Detail, maxReason)
}

// failAll notes faults, or else one that stands for them all.
func (c *compiler) failAll(reason string, faults field.ErrorList, whole *field.Error) {
	c.fail(reason, append(faults, whole)[:max(1, len(faults))]...)
}

// note adds to what is wrong with the rule. The first reason stays: the
// compiler looks first at what decides whom the budget is for.
func (r *Rule) note(reason, message string) {
	if r.fault == nil {
		r.fault = &Fault{Reason: reason, Message: bounded(message, maxMessage)}
		return
	}
	r.fault.Message = bounded(r.fault.Message+"; "+message, maxMessage)
}

// metadata refuses what is no TaskBudget, and one that no task could match.
func (c *compiler) metadata(tb *budgetv1alpha1.TaskBudget) {
	version := budgetv1alpha1.GroupVersion.String()
	if tb.APIVersion != "" && tb.APIVersion != version {
		c.fail(ReasonInvalidSpec, field.NotSupported(field.NewPath("apiVersion"), tb.APIVersion, []string{version}))
	}
	if tb.Kind != "" && tb.Kind != kindTaskBudget {
		c.fail(ReasonInvalidSpec, field.NotSupported(field.NewPath("kind"), tb.Kind, []string{kindTaskBudget}))
	}
	if tb.Namespace == "" {
		c.fail(ReasonInvalidSpec, field.Required(field.NewPath("metadata", "namespace"), "a budget is for the tasks of its namespace"))
	}
	if tb.Name == "" {
		c.fail(ReasonInvalidSpec, field.Required(field.NewPath("metadata", "name"), "decisions name the budget"))
	}
}

const kindTaskBudget = "TaskBudget"

func (c *compiler) selector(path *field.Path, selector *metav1.LabelSelector) {
	if selector == nil {
		c.fail(ReasonInvalidSelector, field.Required(path, "{} selects every task of the namespace"))
		return
	}
	compiled, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		faults := metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
		c.failAll(ReasonInvalidSelector, faults, field.Invalid(path, metav1.FormatLabelSelector(selector), err.Error()))
		return
	}
	c.rule.selector = compiled
}

func (c *compiler) period(path *field.Path, p budgetv1alpha1.Period) *period.Period {
	compiled, err := period.Compile(period.Spec{
		Type:       period.Kind(p.Type),
		Timezone:   p.Timezone,
		TimeOfDay:  p.TimeOfDay,
		WeekStart:  p.WeekStart,
		DayOfMonth: p.DayOfMonth,
		StartMonth: p.StartMonth,
		Anchor:     instant(p.Anchor),
		Unit:       p.Unit,
		Every:      p.Every,
		Duration:   p.Duration,
		StartsAt:   instant(p.StartsAt),
		EndsAt:     instant(p.EndsAt),
	})
	if err != nil {
		var faults field.ErrorList
		for _, fault := range period.Errors(err) {
			at := path.Child(fault.Field)
			if fault.Value == "" && strings.HasPrefix(fault.Reason, "required") {
				faults = append(faults, field.Required(at, fault.Reason))
			} else {
				faults = append(faults, field.Invalid(at, fault.Value, fault.Reason))
			}
		}
		c.failAll(ReasonInvalidPeriod, faults, field.Invalid(path, p.Type, err.Error()))
	}
	return compiled
}

func instant(t *metav1.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}

func (c *compiler) enums(path *field.Path, spec *budgetv1alpha1.TaskBudgetSpec) {
	switch spec.Action {
	case "", budgetv1alpha1.ActionBlock:
	case budgetv1alpha1.ActionWarn:
		c.rule.action = spec.Action
	default:
		c.fail(ReasonInvalidSpec, field.NotSupported(path.Child("action"), spec.Action,
			[]budgetv1alpha1.Action{budgetv1alpha1.ActionBlock, budgetv1alpha1.ActionWarn}))
	}
	switch spec.UnknownUsage {
	case "", budgetv1alpha1.UnknownChargeHold:
	case budgetv1alpha1.UnknownBlock, budgetv1alpha1.UnknownIgnore:
		c.rule.unknown = spec.UnknownUsage
	default:
		c.fail(ReasonInvalidSpec, field.NotSupported(path.Child("unknownUsage"), spec.UnknownUsage,
			[]budgetv1alpha1.UnknownUsage{
				budgetv1alpha1.UnknownChargeHold, budgetv1alpha1.UnknownBlock, budgetv1alpha1.UnknownIgnore,
			}))
	}
}

const (
	maxGroupBy    = 8
	maxThresholds = 16
	maxValue      = 64 // of a value that a fault repeats, in bytes
)

func (c *compiler) groupBy(path *field.Path, keys []string) {
	if len(keys) > maxGroupBy {
		c.fail(ReasonInvalidSpec, field.TooMany(path, len(keys), maxGroupBy))
		return
	}
	for i, key := range keys {
		if reasons := validation.IsQualifiedName(key); len(reasons) > 0 {
			c.fail(ReasonInvalidSpec, field.Invalid(path.Index(i), bounded(key, maxValue), "no label key: "+reasons[0]))
		}
		if slices.Index(keys, key) < i {
			c.fail(ReasonInvalidSpec, field.Duplicate(path.Index(i), bounded(key, maxValue)))
		}
	}
}

func (c *compiler) thresholds(path *field.Path, percents []int32) {
	if len(percents) > maxThresholds {
		c.fail(ReasonInvalidSpec, field.TooMany(path, len(percents), maxThresholds))
		return
	}
	for i, percent := range percents {
		if percent < 1 || percent > 100 {
			c.fail(ReasonInvalidSpec, field.Invalid(path.Index(i), percent, "a percentage from 1 to 100"))
		}
		if slices.Index(percents, percent) < i {
			c.fail(ReasonInvalidSpec, field.Duplicate(path.Index(i), percent))
		}
	}
	c.rule.thresholds = slices.Sorted(slices.Values(percents))
}

func (c *compiler) recordTTL(path *field.Path, seconds *int64, windows *period.Period) {
	if seconds == nil {
		return
	}
	const most = int64(1<<63-1) / int64(time.Second)
	if *seconds < 1 || *seconds > most {
		c.fail(ReasonInvalidSpec, field.Invalid(path, *seconds, fmt.Sprintf("from 1 to %d seconds", most)))
		return
	}
	c.rule.ttl = time.Duration(*seconds) * time.Second
	if windows == nil {
		return
	}
	longest, bounded := keep(windows)
	switch {
	case !bounded:
		c.fail(ReasonInvalidSpec, field.Invalid(path, *seconds,
			"windows of this period have no end or hang on all uses before them, so its records must be kept for ever"))
	case c.rule.ttl < longest:
		c.fail(ReasonInvalidSpec, field.Invalid(path, *seconds, fmt.Sprintf(
			"a window of this period can last %d seconds; a record must be kept that long, or its spend would be forgotten",
			int64(longest/time.Second))))
	}
}
