package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/usage"
)

// report tells what the journal has kept.
func (j *journal) report() (*report, error) {
	r := &report{Runs: len(j.arrivals), Records: j.records, HeldBack: []heldBack{}, Warned: map[string]int{}}
	r.First, r.Last = j.arrivals[0].run.StartTime, j.arrivals[0].run.StartTime
	for _, record := range j.records {
		r.Last = later(r.Last, record.CompletionTime)
	}
	for _, s := range j.arrivals {
		if s.refusal != nil {
			r.HeldBack = append(r.HeldBack, s.heldBack())
		}
		if s.admitted != nil {
			for _, v := range s.admitted.Warners() {
				r.Warned[v.Budget.Name]++
			}
		}
	}
	for _, rule := range j.rules {
		b, err := j.reportBudget(rule)
		if err != nil {
			return nil, err
		}
		r.Budgets = append(r.Budgets, b)
	}
	r.Unknown = j.reportUnknown()
	return r, nil
}

func (s *story) heldBack() heldBack {
	h := heldBack{
		UID: s.run.UID, Name: s.run.title(), AskedAt: s.refusal.At, Asked: s.asked, Message: s.refusal.Message(),
	}
	if s.admitted != nil {
		h.StartedAt = s.admitted.At
	}
	for _, v := range s.refusal.Refusals() {
		if len(v.Figures) == 0 {
			h.Refusals = append(h.Refusals, refusal{Budget: v.Budget.Name})
		}
		for _, f := range v.Figures {
			if f.Cause != "" {
				h.Refusals = append(h.Refusals, refusal{
					Budget: v.Budget.Name, Meter: f.Meter, Cause: f.Cause,
					Used: f.Used, Held: f.Held, Estimate: f.Estimate, Limit: f.Limit,
				})
			}
		}
	}
	return h
}

// reportBudget tells how a budget's windows stand now that everything is over.
func (j *journal) reportBudget(rule *budget.Rule) (budgetReport, error) {
	p := rule.Period()
	b := budgetReport{
		Name:    rule.Name().Name,
		About:   fmt.Sprintf("%s; %s; unknown usage: %s", p, rule.Action(), rule.UnknownUsage()),
		Windows: []windowReport{},
	}
	if estimate := rule.Scope().Default; len(estimate) > 0 {
		b.About += "; a task holds " + estimate.String()
	}
	zone, err := time.LoadLocation(p.Spec().Timezone)
	if err != nil {
		return b, err
	}
	b.zone = zone
	for _, w := range j.order {
		if w.rule != rule {
			continue
		}
		told, err := j.reportWindow(w)
		if err != nil {
			return b, err
		}
		b.Windows = append(b.Windows, told)
	}
	slices.SortStableFunc(b.Windows, func(x, y windowReport) int {
		return cmp.Or(x.Window.Start.Compare(y.Window.Start), cmp.Compare(x.Group, y.Group))
	})
	return b, nil
}

func (j *journal) reportWindow(w *window) (windowReport, error) {
	told := windowReport{Group: w.group, Window: w.bounds, Known: usage.Amounts{}}
	balances := map[usage.Meter]usage.Balance{}
	for _, meter := range w.rule.Scope().Meters {
		balance, err := j.ledger.Used(usage.Query{Scope: w.rule.Scope(), Labels: w.labels, Meter: meter, At: w.at})
		if err != nil {
			return told, err
		}
		balances[meter], told.Known[meter] = balance, balance.Known
	}
	used := budget.Observe(w.rule, j.ledger, w.labels, w.at).Used
	for _, limit := range w.rule.Limits() {
		balance := balances[limit.Meter]
		told.Limits = append(told.Limits, limitReport{
			Meter: limit.Meter, Limit: limit.Max, Used: used[limit.Meter], PeakHeld: w.peak[limit.Meter],
			Charged: used[limit.Meter] - balance.Known, Unknown: balance.Unknown,
		})
	}
	for i := range j.records {
		record := &j.records[i]
		if !w.holds(record) {
			continue
		}
		told.Tasks++
		switch {
		case j.reportedNothing(record):
			told.NoUsage++
		case unreadable(record, usage.CostUSD):
			told.UnknownCost++
		}
	}
	return told, nil
}

// holds reports whether a record counts in the window.
func (w *window) holds(r *usage.Record) bool {
	return w.rule.Matches(r.Namespace, r.Labels) && w.rule.Scope().Group(r.Labels) == w.group &&
		w.bounds.Contains(r.CompletionTime)
}

// reportedNothing reports whether the task of a record had no result about its
// usage, not even one that can't be read.
func (j *journal) reportedNothing(r *usage.Record) bool {
	amounts, problems := usage.ReadResults(j.stories[r.UID].run.Results, nil)
	return len(amounts) == 0 && len(problems) == 0
}

// unreadable reports whether a meter's result was there and can't be read.
func unreadable(r *usage.Record, m usage.Meter) bool {
	return slices.ContainsFunc(r.Problems, func(p usage.Problem) bool {
		return p.Meter == m && strings.HasPrefix(p.Source, "result ")
	})
}

// stillUnknown reports whether a result can't be read and nothing else, such as
// a price list, gave the figure.
func stillUnknown(r *usage.Record) bool {
	return slices.ContainsFunc(r.Problems, func(p usage.Problem) bool { return !r.Usage.Of(p.Meter).Basis.Known() })
}

func (j *journal) reportUnknown() unknownReport {
	u := unknownReport{Unreadable: []problemReport{}, NoUsage: []string{}}
	for i := range j.records {
		record := &j.records[i]
		name := j.stories[record.UID].run.title()
		if record.Usage.Of(usage.CostUSD).Basis == usage.Priced {
			u.Priced++
		}
		switch {
		case j.reportedNothing(record):
			u.NoUsage = append(u.NoUsage, name)
		case stillUnknown(record):
			u.Unreadable = append(u.Unreadable, problemReport{Run: name, Problems: record.Problems})
		}
	}
	slices.Sort(u.NoUsage)
	return u
}
