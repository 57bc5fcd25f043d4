package controller

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// statusOf is the status that a budget should have, and what of thresholds is to
// be told once it is written. old is only read.
func statusOf(old *budgetv1alpha1.TaskBudget, s *standing, now time.Time) (budgetv1alpha1.TaskBudgetStatus, []string) {
	o := &s.observation
	status := *old.Status.DeepCopy()
	status.ObservedGeneration = old.Generation
	meta.SetStatusCondition(&status.Conditions, o.Fault.Condition(old.Generation, now))
	if o.Fault != nil {
		return status, nil // the last figures stay, beside the reason why there are no newer ones
	}
	news := fire(&status, s)
	status.PeriodStart, status.PeriodEnd = bounds(o)
	status.Used, status.Held = manifest(o.Used), manifest(o.Held)
	status.Group, status.Percent, status.UnknownRecords = o.Group, &o.Percent, o.Unknown
	status.Groups, status.TopGroups = int64(s.groups), groupStatuses(s.top)
	status.Display = display(o, s.groups)
	if o.Outside != "" {
		status.Used, status.Held, status.Percent, status.Display = nil, nil, nil, nil
	}
	return status, news
}

func groupStatuses(top []budget.Observation) []budgetv1alpha1.GroupStatus {
	var list []budgetv1alpha1.GroupStatus
	for i := range top {
		o := &top[i]
		_, end := bounds(o)
		g := budgetv1alpha1.GroupStatus{Group: o.Group, Percent: o.Percent, PeriodEnd: end}
		g.Used, g.Held = readable(o)
		list = append(list, g)
	}
	return list
}

// longestGroup bounds the name of a group that kubectl prints, in bytes.
const longestGroup = 60

// readable gives what was used and is held as people read it: of the cost, or else
// of the limit that is nearest.
func readable(o *budget.Observation) (used, held string) {
	f := nearest(o.Figures)
	switch {
	case f == nil:
		return "", ""
	case f.Meter == usage.CostUSD:
		return f.Meter.Format(f.Used), f.Meter.Format(f.Held)
	default:
		return fmt.Sprintf("%s %s", f.Meter.Format(f.Used), f.Meter), fmt.Sprintf("%s %s", f.Meter.Format(f.Held), f.Meter)
	}
}

// display gives the figures that kubectl prints.
func display(o *budget.Observation, groups int) *budgetv1alpha1.StatusDisplay {
	d := &budgetv1alpha1.StatusDisplay{}
	d.Used, d.Held = readable(o)
	if groups > 0 {
		name := o.Group
		if len(name) > longestGroup {
			name = strings.ToValidUTF8(name[:longestGroup], "") + "…"
		}
		d.Group = fmt.Sprintf("%s (1 of %d)", name, groups)
	}
	return d
}

// nearest is the figure of the cost, or else the one with the least part of its
// limit left; nil without any.
func nearest(figures []budget.Figure) *budget.Figure {
	var best *budget.Figure
	left := func(f *budget.Figure) float64 { return float64(f.Remaining) / float64(max(1, f.Limit)) }
	for i := range figures {
		f := &figures[i]
		if f.Meter == usage.CostUSD {
			return f
		}
		if best == nil || left(f) < left(best) {
			best = f
		}
	}
	return best
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
func urgent(old, status *budgetv1alpha1.TaskBudgetStatus, news []string) bool {
	degraded := func(s *budgetv1alpha1.TaskBudgetStatus) string {
		if c := meta.FindStatusCondition(s.Conditions, budget.ConditionDegraded); c != nil {
			return string(c.Status) + c.Reason
		}
		return ""
	}
	return len(news) > 0 || old.ObservedGeneration != status.ObservedGeneration || degraded(old) != degraded(status) ||
		!timeOf(old.PeriodStart).Equal(timeOf(status.PeriodStart)) || !timeOf(old.PeriodEnd).Equal(timeOf(status.PeriodEnd))
}
