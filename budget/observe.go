package budget

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// Observation is how one group of a budget stands at an instant, for the
// budget's status, its metrics and its thresholds.
type Observation struct {
	// Fault says why the budget can't be evaluated, nil if it can.
	Fault *Fault
	// Outside says where the instant lies outside the budget's life.
	Outside Outside
	// Group names the group, "" without groupBy.
	Group string
	// Window is the current window; zero where the period opens at its first
	// use and no window is open.
	Window period.Window
	// Used and Held are what was used and is set aside, on the limited meters
	// and on cost, tokens and tasks.
	Used, Held usage.Amounts
	// Figures has one entry for each limit, in the order of [Rule.Limits],
	// without an estimate and without a cause.
	Figures []Figure
	// Unknown is the largest number of records, over the limited meters,
	// whose usage is not known.
	Unknown int64
	// Percent is the highest percentage of a limit that used and held make
	// together, rounded down; 100 where a limit is reached, and never more
	// than the largest int32.
	Percent int32
	// Reached are the budget's thresholds that are reached, in rising order.
	Reached []int32
	// Closed is true where the period opens at its first use and no window is
	// open: nothing is used then, and holds may last on.
	Closed bool
}

// Observe says how a budget stands for the group that labels fall into: the
// same code as a decision, without a task. It is pure and total.
func Observe(r *Rule, ledger View, labels map[string]string, now time.Time) Observation {
	if !r.compiled() {
		return Observation{Fault: &Fault{Reason: ReasonInvalidSpec, Message: "the rule was not made by Compile"}}
	}
	in := Input{Task: Task{Labels: labels}, Ledger: ledger, Now: now}
	o := Observation{Fault: r.Fault()}
	if r.fault != nil {
		return o
	}
	if len(r.scope.GroupBy) > 0 {
		o.Group = r.scope.Group(labels)
	}
	o.Used, o.Held = usage.Amounts{}, usage.Amounts{}
	for _, meter := range r.scope.Meters {
		f := Figure{Meter: meter}
		balance, err := r.weigh(&in, in.query(r, meter), &f)
		if err != nil {
			var v Verdict
			v.exclude(err)
			return Observation{Fault: v.Fault, Outside: v.Outside, Group: o.Group}
		}
		if o.Closed = balance.Closed; !o.Closed {
			o.Window = balance.Window
		}
		o.Used[meter], o.Held[meter] = f.Used, f.Held
		o.note(r, f)
	}
	slices.SortFunc(o.Figures, func(a, b Figure) int { return cmp.Compare(r.index(a.Meter), r.index(b.Meter)) })
	for _, threshold := range r.thresholds {
		if o.Percent >= threshold {
			o.Reached = append(o.Reached, threshold)
		}
	}
	return o
}

// note takes a figure into the observation if its meter is limited.
func (o *Observation) note(r *Rule, f Figure) {
	i := r.index(f.Meter)
	if i < 0 {
		return
	}
	taken := usage.SaturatingAdd(f.Used, f.Held)
	f.Limit, f.Remaining = r.limits[i].Max, max(0, r.limits[i].Max-taken)
	f.Estimate, f.Estimated, f.Cause = 0, false, ""
	o.Figures = append(o.Figures, f)
	o.Unknown = max(o.Unknown, f.Unknown)
	o.Percent = max(o.Percent, percent(taken, f.Limit))
}

// index is the place of a meter among the limits, -1 if it has none.
func (r *Rule) index(m usage.Meter) int {
	return slices.IndexFunc(r.limits, func(l Limit) bool { return l.Meter == m })
}

// percent is what part of a limit is taken, rounded down. A limit of zero is
// always reached.
func percent(taken, limit int64) int32 {
	const most = 1<<31 - 1
	if limit <= 0 {
		return 100
	}
	if taken < 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(taken), 100)
	if high >= uint64(limit) {
		return most
	}
	quotient, _ := bits.Div64(high, low, uint64(limit))
	return int32(min(quotient, most))
}

// Fire gives the thresholds that are to be told now, and all that have been told
// once that is done, to be kept for the next time. told are those that were kept
// last, from a window that started at since.
//
// Each threshold is told once per window. A sliding window has no start: there
// a threshold is told again after it was no longer reached. An observation of a
// budget that can't be evaluated, and one in whose period no window is open,
// tells nothing and forgets nothing. Keep all and the window's start, at least in
// whole seconds, for each group.
func (o Observation) Fire(told []int32, since time.Time) (news, all []int32) {
	if o.Fault != nil || o.Outside != "" || o.Closed {
		return nil, told
	}
	if !o.Window.LookBack && !floorSecond(since).Equal(floorSecond(o.Window.Start)) {
		told = nil
	}
	for _, threshold := range o.Reached {
		if !slices.Contains(told, threshold) {
			news = append(news, threshold)
		}
	}
	if o.Window.LookBack {
		return news, slices.Clone(o.Reached)
	}
	all = slices.Concat(told, news)
	slices.Sort(all)
	return news, all
}
