package controller

import (
	"cmp"
	"slices"
	"time"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// standing is how a budget stands, and when time alone will change that.
type standing struct {
	// observation is that of the fullest group, the one that has taken most of
	// its limit: the first by name if there are several. Where no group has taken
	// anything, its group is "".
	observation budget.Observation
	// groups counts those that have taken something, and top are the fullest of
	// them. None without groupBy.
	groups int
	top    []budget.Observation
	// alerts are the groups whose thresholds may have to be told or forgotten.
	// None without groupBy.
	alerts  []budget.Observation
	grouped bool      // the budget has groupBy
	next    time.Time // zero if time alone changes nothing
}

// stand looks at the rule of a budget as it is in a generation: nil if that is
// not the one that is known.
func (s *shelf) stand(tb *budgetv1alpha1.TaskBudget, now time.Time) (*budget.Rule, standing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.current(tb)
	if r == nil {
		return nil, standing{}
	}
	return r, s.standingOf(r, tb.Status.GroupThresholds, now)
}

// standingOf looks at every group of a rule. told are those of which thresholds
// were told.
func (s *shelf) standingOf(r *budget.Rule, told []budgetv1alpha1.GroupThresholds, now time.Time) standing {
	stands := standing{grouped: r.Scope() != nil && len(r.Scope().GroupBy) > 0}
	known := byGroup(told)
	var taken []budget.Observation
	for _, group := range s.groups(r, told) {
		var labels map[string]string
		if scope := r.Scope(); scope != nil {
			labels = scope.GroupLabels(group)
		}
		o := budget.Observe(r, s.view(), labels, now)
		stands.next = earliest(stands.next, s.turn(r, labels, &o, now))
		if o.Fault != nil || o.Outside != "" || !stands.grouped {
			stands.observation = o
			return stands // alike for every group
		}
		if takes(&o) {
			taken = append(taken, o)
		}
		if _, ok := known[o.Group]; ok || len(o.Reached) > 0 {
			stands.alerts = append(stands.alerts, o)
		}
	}
	slices.SortStableFunc(taken, func(a, b budget.Observation) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Group, b.Group))
	})
	stands.groups = len(taken)
	stands.top = taken[:min(len(taken), budgetv1alpha1.MaxTopGroups)]
	if len(taken) > 0 {
		stands.observation = taken[0]
		return stands
	}
	stands.observation = budget.Observe(r, s.view(), nil, now)
	stands.observation.Group = ""
	return stands
}

// groups are those that the ledger knows of a rule and those of which thresholds
// were told, sorted, and at least one.
func (s *shelf) groups(r *budget.Rule, told []budgetv1alpha1.GroupThresholds) []string {
	var known []string
	if scope := r.Scope(); scope != nil {
		known = s.ledger.Groups(scope)
		for i := range told {
			if name := scope.Group(scope.GroupLabels(told[i].Group)); name == told[i].Group { // not of another groupBy
				known = append(known, name)
			}
		}
	}
	if len(known) == 0 {
		return []string{""}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// takes reports whether a group has used, or holds, anything.
func takes(o *budget.Observation) bool {
	for meter, amount := range o.Used {
		if amount != 0 || o.Held[meter] != 0 {
			return true
		}
	}
	return o.Unknown > 0
}

// turn is the next instant at which time alone changes a group's figures.
func (s *shelf) turn(r *budget.Rule, labels map[string]string, o *budget.Observation, now time.Time) time.Time {
	if o.Fault != nil {
		return time.Time{}
	}
	if o.Outside != "" {
		next, err := r.Period().Next(now)
		if err != nil {
			return time.Time{} // its life is over
		}
		return next
	}
	var next time.Time
	if !o.Window.LookBack {
		next = o.Window.End
	}
	turns, err := s.ledger.Turns(usage.Query{Scope: r.Scope(), Labels: labels, Meter: r.Scope().Meters[0], At: now})
	if err == nil {
		next = earliest(next, turns.Next)
	}
	return next
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
