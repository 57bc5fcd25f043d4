package corpus

import (
	"time"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/usage"
)

// Observed puts a decision into the form of what a case wants, with those
// figures that the case asks for.
func (w *Want) Observed(d budget.Decision) Want {
	got := Want{Allowed: d.Allowed, Figures: map[string]Figures{}, Degraded: map[string]string{}}
	if !d.RetryAt.IsZero() {
		got.RetryAt = &d.RetryAt
	}
	for _, v := range d.Refusals() {
		got.RefusedBy = append(got.RefusedBy, v.Budget.String())
	}
	for _, v := range d.Warners() {
		got.Warnings = append(got.Warnings, v.Budget.String())
	}
	for _, v := range d.Verdicts {
		name := v.Budget.String()
		if v.Fault != nil {
			got.Degraded[name] = v.Fault.Reason
		}
		if asked, ok := w.Figures[name]; ok {
			got.Figures[name] = asked.observed(v)
		}
	}
	return got
}

func (f *Figures) observed(v budget.Verdict) Figures {
	got := Figures{
		Used:      pick(f.Used, v, func(f budget.Figure) int64 { return f.Used }),
		Held:      pick(f.Held, v, func(f budget.Figure) int64 { return f.Held }),
		Remaining: pick(f.Remaining, v, func(f budget.Figure) int64 { return f.Remaining }),
	}
	if f.Window != nil {
		got.Window = []*time.Time{bound(v.Window.Start), bound(v.Window.End)}
	}
	if f.Group != "" {
		got.Group = v.Group
	}
	return got
}

// pick gives a figure of each meter that is asked for.
func pick(asked usage.Amounts, v budget.Verdict, of func(f budget.Figure) int64) usage.Amounts {
	if asked == nil {
		return nil
	}
	amounts := usage.Amounts{}
	for _, f := range v.Figures {
		if _, ok := asked[f.Meter]; ok {
			amounts[f.Meter] = of(f)
		}
	}
	return amounts
}

func bound(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
