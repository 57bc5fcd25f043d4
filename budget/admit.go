package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// Admit decides whether a task may start. It is pure and total: it changes
// nothing, reads no clock, and every doubt is a refusal that says why.
//
// A task is admitted if every matching budget that blocks has room: for each
// limit used + held < limit and, where an estimate is known, used + held +
// estimate <= limit. No matching budget is no gate. All matching budgets are
// evaluated, so that the decision is complete.
//
// Between Admit and the start of the task others may be admitted on the same
// room: [Reserve] decides and sets the task's amounts aside in one step.
func Admit(in Input) Decision {
	d := Decision{At: in.Now, Task: in.Task.identity(), Labels: in.Task.Labels}
	if d.Fault = in.fault(); d.Fault != "" {
		d.Action = budgetv1alpha1.ActionBlock
		return d
	}
	var buffer [32]*Rule
	rules := in.matching(buffer[:0])
	d.Verdicts = judge(&in, rules)
	d.conclude()
	if !d.Allowed {
		d.RetryAt = retryAt(&in, rules)
	}
	return d
}

// matching appends the rules that are for the task, by namespace and name.
func (in *Input) matching(to []*Rule) []*Rule {
	for _, r := range in.Rules {
		if r.Matches(in.Task.Namespace, in.Task.Labels) {
			to = append(to, r)
		}
	}
	slices.SortStableFunc(to, func(a, b *Rule) int {
		return cmp.Or(cmp.Compare(a.name.Namespace, b.name.Namespace), cmp.Compare(a.name.Name, b.name.Name))
	})
	return to
}

// judge gives the verdict of each rule. All figures share one array.
func judge(in *Input, rules []*Rule) []Verdict {
	if len(rules) == 0 {
		return nil
	}
	n := 0
	for _, r := range rules {
		n += len(r.limits)
	}
	figures := make([]Figure, n)
	verdicts := make([]Verdict, 0, len(rules))
	for _, r := range rules {
		n := len(r.limits)
		verdicts = append(verdicts, r.judge(in, figures[:n:n]))
		figures = figures[n:]
	}
	return verdicts
}

// conclude combines the verdicts: all budgets that block must admit.
func (d *Decision) conclude() {
	d.Allowed = true
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		switch {
		case v.Admits:
		case !v.blocks():
			d.Warnings = append(d.Warnings, v.String())
		default:
			d.Allowed = false
		}
	}
	switch {
	case !d.Allowed:
		d.Action = budgetv1alpha1.ActionBlock
	case len(d.Warnings) > 0:
		d.Action = budgetv1alpha1.ActionWarn
	}
}

// Store is a ledger that can be had to oneself for a moment. [usage.Memory] is
// one.
type Store interface {
	// Do runs f while nothing else happens to the ledger.
	Do(f func(usage.Ledger))
}

// Reserve decides like [Admit] on the store's ledger, whatever in.Ledger is,
// and where the task is admitted it enters a hold of the task's estimate that
// expires after ttl. Both are one step, so that no two tasks are admitted on
// the same room. The hold in force is in the decision.
//
// A task that has a live hold was admitted already: it is admitted again with
// the same hold, however the budgets stand by now. A task that has a record is
// refused, since it has finished: the decision's Reason is TaskRecorded then, and
// asking again is of no use.
//
// ttl must be longer than any task runs: a task that outlives its hold runs
// without one, and its room is given to others.
func Reserve(store Store, in Input, ttl time.Duration) (d Decision) {
	if d, ok := in.lacksStore(store); ok {
		return d
	}
	store.Do(func(ledger usage.Ledger) {
		in.Ledger = ledger
		d = Admit(in)
		if d.Fault != "" {
			return
		}
		wanted, err := in.Task.hold(in.Now, ttl)
		if err != nil {
			d.deny(err)
			return
		}
		held, live := d.running(ledger, &in)
		switch {
		case d.Fault != "":
		case live:
			d.resume(held)
		case d.Allowed:
			d.enter(ledger, wanted)
		}
	})
	return d
}

// deny turns a decision into a refusal that no budget is the cause of.
func (d *Decision) deny(err error) {
	d.Allowed, d.Action, d.RetryAt = false, budgetv1alpha1.ActionBlock, time.Time{}
	d.Fault = bounded(strings.ReplaceAll(err.Error(), "\n", "; "), maxMessage)
}

// resume turns a decision into the admission that a live hold stands for.
func (d *Decision) resume(held usage.Hold) {
	d.Allowed, d.Action, d.RetryAt, d.Hold = true, "", time.Time{}, &held
	d.Labels = held.Labels
	if len(d.Warnings) > 0 {
		d.Action = budgetv1alpha1.ActionWarn
	}
}

// lacksStore gives the refusal where there is no store to ask.
func (in *Input) lacksStore(store Store) (Decision, bool) {
	if m, ok := store.(*usage.Memory); store != nil && (!ok || m != nil) {
		return Decision{}, false
	}
	d := Decision{At: in.Now, Task: in.Task.identity(), Labels: in.Task.Labels}
	d.deny(errNoLedger)
	return d, true
}

// running gives the live hold that the task has. A task that is recorded has
// finished, and a hold of another namespace is another task's, whatever went
// wrong: then the decision denies.
func (d *Decision) running(ledger usage.Ledger, in *Input) (usage.Hold, bool) {
	if ledger.Recorded(in.Task.UID) {
		d.deny(usage.ErrRecorded)
		d.Recorded = true
		return usage.Hold{}, false
	}
	held, ok := ledger.Held(in.Task.UID)
	if !ok || !held.Live(in.Now) {
		return usage.Hold{}, false
	}
	if held.Namespace != in.Task.Namespace {
		d.deny(fmt.Errorf("%s: its UID has a hold in the namespace %s", in.Task.describe(), usage.Quote(held.Namespace)))
		return usage.Hold{}, false
	}
	return held, true
}

// enter sets aside what an admitted task wants.
func (d *Decision) enter(ledger usage.Ledger, wanted usage.Hold) {
	held, err := ledger.Hold(wanted)
	if err != nil {
		d.deny(err)
		return
	}
	d.Hold = &held
}
