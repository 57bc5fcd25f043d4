package controller

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// fire notes in a status the thresholds that are reached, and gives what is to be
// told once it is written.
func fire(status *budgetv1alpha1.TaskBudgetStatus, s *standing) []string {
	if s.observation.Outside != "" {
		return nil
	}
	if !s.grouped {
		news, told := s.observation.Fire(status.ThresholdsReached, timeOf(status.PeriodStart))
		status.ThresholdsReached, status.GroupThresholds = told, nil
		return notesOf(&s.observation, news)
	}
	news, kept := fireGroups(byGroup(status.GroupThresholds), s.alerts)
	status.ThresholdsReached, status.GroupThresholds = nil, kept
	for i := range kept {
		if kept[i].Group == s.observation.Group {
			status.ThresholdsReached = slices.Clone(kept[i].Reached)
		}
	}
	return news
}

// fired is what was told of a group by now, and what is to be told of it.
type fired struct {
	budgetv1alpha1.GroupThresholds

	notes []string
}

// fireGroups does so for each group by itself. What it gives to be kept are the
// groups that are still in the window that they were told in and, while there
// is room, those that are new.
func fireGroups(told map[string]budgetv1alpha1.GroupThresholds, alerts []budget.Observation) (news []string, kept []budgetv1alpha1.GroupThresholds) {
	var all, fresh []fired
	for i := range alerts {
		o := &alerts[i]
		last := told[o.Group]
		now, reached := o.Fire(last.Reached, timeOf(last.PeriodStart))
		f := fired{budgetv1alpha1.GroupThresholds{Group: o.Group, PeriodStart: last.PeriodStart, Reached: reached}, notesOf(o, now)}
		switch {
		case o.Closed && !takes(o): // only holds outlive a window
		case len(reached) > len(now):
			all = append(all, f)
		case len(now) > 0:
			f.PeriodStart, _ = bounds(o)
			fresh = append(fresh, f)
		}
	}
	room := max(0, budgetv1alpha1.MaxGroupThresholds-len(all))
	all = append(all, fresh[:min(room, len(fresh))]...)
	slices.SortFunc(all, func(a, b fired) int { return cmp.Compare(a.Group, b.Group) })
	for i := range all {
		kept, news = append(kept, all[i].GroupThresholds), append(news, all[i].notes...)
	}
	if len(kept) == budgetv1alpha1.MaxGroupThresholds && len(told) < len(kept) {
		news = append(news, fmt.Sprintf("Thresholds of %d groups were told: no other group is told until one of them makes room.", len(kept)))
	}
	return news, kept
}

// notesOf says which thresholds a group has reached.
func notesOf(o *budget.Observation, thresholds []int32) []string {
	var notes []string
	for _, threshold := range thresholds {
		note := fmt.Sprintf("%d%% of the limit are used or held, the threshold is %d%%.", o.Percent, threshold)
		if o.Group != "" {
			note = fmt.Sprintf("Group %s: %s", o.Group, note)
		}
		notes = append(notes, note)
	}
	return notes
}

func byGroup(told []budgetv1alpha1.GroupThresholds) map[string]budgetv1alpha1.GroupThresholds {
	groups := make(map[string]budgetv1alpha1.GroupThresholds, len(told))
	for i := range told {
		groups[told[i].Group] = told[i]
	}
	return groups
}
