package controller

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// standing is how a budget stands, and when time alone will change that.
type standing struct {
	observation budget.Observation
	next        time.Time // zero if time alone changes nothing
}

// stand looks at a rule. Of a rule with groups it gives the group that has taken
// most of its limit, the first by name if there are several.
func (s *shelf) stand(r *budget.Rule, now time.Time) standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := standing{}
	groups := []string{""}
	if r.Scope() != nil {
		if known := s.ledger.Groups(r.Scope()); len(known) > 0 {
			groups = known
		}
	}
	var next time.Time
	for i, group := range groups {
		labels := labelsOf(r.Scope(), group)
		o := budget.Observe(r, s.view(), labels, now)
		if i == 0 || o.Percent > best.observation.Percent {
			best.observation = o
		}
		next = earliest(next, s.turn(r, labels, &o, now))
	}
	if r.Period().Kind() == period.FirstUse && !s.isOpen(r, &best.observation, now) {
		best.observation.Window = period.Window{}
	}
	best.next = next
	return best
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

// isOpen reports whether a window that opens at its first use has opened: one
// that has not would open at whatever instant it is asked for.
func (s *shelf) isOpen(r *budget.Rule, o *budget.Observation, now time.Time) bool {
	later := budget.Observe(r, s.view(), labelsOf(r.Scope(), o.Group), now.Add(time.Nanosecond))
	return later.Window == o.Window
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// labelsOf gives labels that fall into a group, by the group's name: the inverse
// of [usage.Scope.Group].
func labelsOf(scope *usage.Scope, group string) map[string]string {
	labels := map[string]string{}
	if scope == nil {
		return labels
	}
	for _, key := range scope.GroupBy {
		group = strings.TrimPrefix(group, ",")
		if rest, missing := strings.CutPrefix(group, "!"+key); missing {
			group = rest
			continue
		}
		rest, ok := strings.CutPrefix(group, key+"=")
		if !ok {
			return labels
		}
		labels[key], group = cutValue(rest)
	}
	return labels
}

// cutValue takes the first value off a group's name.
func cutValue(text string) (value, rest string) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		if value, err := strconv.Unquote(quoted); err == nil {
			return value, text[len(quoted):]
		}
	}
	if i := strings.IndexByte(text, ','); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// statusOf is the status that a budget should have, and the thresholds that are
// to be told once it is written. old is only read.
func statusOf(old *budgetv1alpha1.TaskBudget, s *standing, now time.Time) (budgetv1alpha1.TaskBudgetStatus, []int32) {
	o := &s.observation
	status := *old.Status.DeepCopy()
	status.ObservedGeneration = old.Generation
	meta.SetStatusCondition(&status.Conditions, o.Fault.Condition(old.Generation, now))
	if o.Fault != nil {
		return status, nil // the last figures stay, beside the reason why there are no newer ones
	}
	news, told := o.Fire(old.Status.ThresholdsReached, timeOf(old.Status.PeriodStart))
	status.ThresholdsReached = told
	status.PeriodStart, status.PeriodEnd = bounds(o)
	status.Used, status.Held = manifest(o.Used), manifest(o.Held)
	status.Group, status.Percent, status.UnknownRecords = o.Group, &o.Percent, o.Unknown
	if o.Outside != "" {
		status.Used, status.Held, status.Percent = nil, nil, nil
	}
	return status, news
}

// bounds are those of the window, without those that move along with the clock.
func bounds(o *budget.Observation) (start, end *metav1.Time) {
	if o.Window.LookBack {
		return nil, nil
	}
	return someTime(o.Window.Start), someTime(o.Window.End)
}

func someTime(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// manifest gives amounts the form in which they are stored.
func manifest(a usage.Amounts) *budgetv1alpha1.Amounts {
	hold := budget.NewTaskHold(usage.Hold{Amounts: a}, usage.Task{})
	return &hold.Spec.Amounts
}

// urgent reports whether a status tells more than newer figures.
func urgent(old, status *budgetv1alpha1.TaskBudgetStatus, news []int32) bool {
	degraded := func(s *budgetv1alpha1.TaskBudgetStatus) string {
		if c := meta.FindStatusCondition(s.Conditions, budget.ConditionDegraded); c != nil {
			return string(c.Status) + c.Reason
		}
		return ""
	}
	return len(news) > 0 || old.ObservedGeneration != status.ObservedGeneration || degraded(old) != degraded(status) ||
		!timeOf(old.PeriodStart).Equal(timeOf(status.PeriodStart)) || !timeOf(old.PeriodEnd).Equal(timeOf(status.PeriodEnd))
}

// resumeFirstUse lets a window that opens at its first use go on from the one
// that the status tells, also when the record of that use is gone by now.
func resumeFirstUse(r *budget.Rule, tb *budgetv1alpha1.TaskBudget) {
	if scope := r.Scope(); scope != nil && scope.Period.Kind() == period.FirstUse && len(scope.GroupBy) == 0 &&
		tb.Status.ObservedGeneration == tb.Generation {
		scope.Opened = timeOf(tb.Status.PeriodStart)
	}
}
