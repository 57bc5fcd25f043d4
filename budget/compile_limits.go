package budget

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// The bounds of lists, which the resource's schema has, too: what Compile is
// given need not have been at an API server.
const (
	maxLimits = 32
	maxMeters = 256 // of a default estimate
)

func (c *compiler) limits(path *field.Path, spec *budgetv1alpha1.TaskBudgetSpec) {
	if nano, ok := c.money(path.Child("maxCostUSD"), spec.MaxCostUSD); ok {
		c.limit(usage.CostUSD, nano)
	}
	if n, ok := c.count(path.Child("maxInputTokens"), spec.MaxInputTokens); ok {
		c.limit(usage.InputTokens, n)
	}
	if n, ok := c.count(path.Child("maxOutputTokens"), spec.MaxOutputTokens); ok {
		c.limit(usage.OutputTokens, n)
	}
	c.otherLimits(path.Child("limits"), spec.Limits)
	if spec.MaxCostUSD == nil && spec.MaxInputTokens == nil && spec.MaxOutputTokens == nil && len(spec.Limits) == 0 {
		c.fail(ReasonInvalidSpec, field.Required(path,
			"at least one of maxCostUSD, maxInputTokens, maxOutputTokens and limits is required"))
	}
}

// otherLimits are those on meters without a field of their own, by name.
func (c *compiler) otherLimits(path *field.Path, list []budgetv1alpha1.Limit) {
	if len(list) > maxLimits {
		c.fail(ReasonInvalidSpec, field.TooMany(path, len(list), maxLimits))
		return
	}
	first := len(c.rule.limits)
	seen := map[usage.Meter]bool{}
	for i, l := range list {
		meter, ok := c.meter(path.Index(i).Child("meter"), l.Meter, limitFields, seen)
		if n, valid := c.count(path.Index(i).Child("max"), &l.Max); ok && valid {
			c.limit(meter, n)
		}
	}
	slices.SortFunc(c.rule.limits[first:], func(a, b Limit) int { return cmp.Compare(a.Meter, b.Meter) })
}

func (c *compiler) limit(m usage.Meter, amount int64) {
	c.rule.limits = append(c.rule.limits, Limit{Meter: m, Max: amount})
}

func (c *compiler) money(path *field.Path, q *resource.Quantity) (int64, bool) {
	if q == nil {
		return 0, false
	}
	nano, err := usage.USDFromQuantity(*q)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), usage.Quote(q.String())+": ")
		c.fail(ReasonInvalidSpec, field.Invalid(path, q.String(), reason))
	}
	return nano, err == nil
}

func (c *compiler) count(path *field.Path, n *int64) (int64, bool) {
	switch {
	case n == nil:
		return 0, false
	case *n < 0:
		c.fail(ReasonInvalidSpec, field.Invalid(path, *n, "must not be negative"))
		return 0, false
	default:
		return *n, true
	}
}

// limitFields and amountFields name the fields of the meters that have one of
// their own.
var (
	limitFields = map[usage.Meter]string{
		usage.CostUSD:      "maxCostUSD",
		usage.InputTokens:  "maxInputTokens",
		usage.OutputTokens: "maxOutputTokens",
	}
	amountFields = map[usage.Meter]string{
		usage.CostUSD:      "costUSD",
		usage.InputTokens:  "inputTokens",
		usage.OutputTokens: "outputTokens",
	}
)

func (c *compiler) meter(
	path *field.Path, name budgetv1alpha1.MeterName, fields map[usage.Meter]string, seen map[usage.Meter]bool,
) (usage.Meter, bool) {
	m := usage.Meter(name)
	own, hasOwn := fields[m]
	err := usage.ValidateMeter(m)
	switch {
	case err != nil:
		c.fail(ReasonInvalidSpec, field.Invalid(path, bounded(string(name), maxValue), err.Error()))
	case hasOwn:
		c.fail(ReasonInvalidSpec, field.Invalid(path, string(name), "this meter has a field of its own: "+own))
	case seen[m]:
		c.fail(ReasonInvalidSpec, field.Duplicate(path, string(name)))
	default:
		seen[m] = true
		return m, true
	}
	return "", false
}

func (c *compiler) defaultEstimate(path *field.Path, a *budgetv1alpha1.Amounts) usage.Amounts {
	if a != nil && len(a.Meters) > maxMeters {
		c.fail(ReasonInvalidSpec, field.TooMany(path.Child("meters"), len(a.Meters), maxMeters))
		return nil
	}
	return amounts(c, path, a)
}

// amounts turns amounts of a manifest into those of package usage.
func amounts(c *compiler, path *field.Path, a *budgetv1alpha1.Amounts) usage.Amounts {
	if a == nil {
		return nil
	}
	read := usage.Amounts{}
	if nano, ok := c.money(path.Child("costUSD"), a.CostUSD); ok {
		read[usage.CostUSD] = nano
	}
	if n, ok := c.count(path.Child("inputTokens"), a.InputTokens); ok {
		read[usage.InputTokens] = n
	}
	if n, ok := c.count(path.Child("outputTokens"), a.OutputTokens); ok {
		read[usage.OutputTokens] = n
	}
	seen := map[usage.Meter]bool{}
	for i, amount := range a.Meters {
		at := path.Child("meters").Index(i)
		m, ok := c.meter(at.Child("meter"), amount.Meter, amountFields, seen)
		if n, valid := c.count(at.Child("amount"), &amount.Amount); ok && valid {
			read[m] = n
		}
	}
	return read
}

// meters are the meters that a budget's ledger sums: those that it limits, and
// cost, tokens and tasks, which its status shows.
func meters(limits []Limit) []usage.Meter {
	list := []usage.Meter{usage.CostUSD, usage.InputTokens, usage.OutputTokens, usage.Tasks}
	for _, l := range limits {
		if !slices.Contains(list, l.Meter) {
			list = append(list, l.Meter)
		}
	}
	return list
}
