package webhook

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// demand is what a selector says about one label key.
type demand struct {
	must, mustNot bool
	in            []string // nil is any value
	notIn         []string
}

// demands reads a valid selector.
func demands(selector *metav1.LabelSelector) map[string]demand {
	all := map[string]demand{}
	if selector == nil {
		return all
	}
	for key, value := range selector.MatchLabels {
		all[key] = demand{must: true, in: []string{value}}
	}
	for _, e := range selector.MatchExpressions {
		all[e.Key] = all[e.Key].and(e)
	}
	return all
}

func (d demand) and(e metav1.LabelSelectorRequirement) demand {
	switch e.Operator {
	case metav1.LabelSelectorOpIn:
		in := slices.Clone(e.Values)
		if d.in != nil {
			in = slices.DeleteFunc(slices.Clone(d.in), func(v string) bool { return !slices.Contains(e.Values, v) })
		}
		d.must, d.in = true, in
	case metav1.LabelSelectorOpNotIn:
		d.notIn = slices.Concat(d.notIn, e.Values)
	case metav1.LabelSelectorOpExists:
		d.must = true
	case metav1.LabelSelectorOpDoesNotExist:
		d.mustNot = true
	}
	return d
}

// values are those that the key may have, where only some are named.
func (d demand) values() (allowed []string, bounded bool) {
	if d.in == nil {
		return nil, false
	}
	for _, value := range d.in {
		if !slices.Contains(d.notIn, value) && !slices.Contains(allowed, value) {
			allowed = append(allowed, value)
		}
	}
	return allowed, true
}

func (d demand) impossible() bool {
	allowed, bounded := d.values()
	return d.must && d.mustNot || bounded && len(allowed) == 0
}

// EmptySelector warns of a selector that no labels can satisfy, since it contradicts
// itself: such a budget is for no task at all.
func EmptySelector(selector *metav1.LabelSelector) []string {
	all := demands(selector)
	var warnings []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if all[key].impossible() {
			warnings = append(warnings, fmt.Sprintf(
				"spec.taskSelector: what it demands of label %s contradicts itself, so that the budget selects no task", key))
		}
	}
	return warnings
}

// IdleGroups warns of keys in groupBy that the selector leaves one value, or none:
// they make no difference between tasks.
func IdleGroups(selector *metav1.LabelSelector, keys []string) []string {
	all := demands(selector)
	var warnings []string
	for i, key := range keys {
		d := all[key]
		allowed, bounded := d.values()
		if !d.impossible() && (d.mustNot || bounded && len(allowed) == 1) {
			warnings = append(warnings, fmt.Sprintf(
				"spec.groupBy[%d]: every task that the budget selects has the same %s, so that it makes no groups", i, key))
		}
	}
	return warnings
}
