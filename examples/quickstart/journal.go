package main

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// A journal keeps what happened. The controller does without it: only the
// report is made of it.
type journal struct {
	rules    []*budget.Rule
	ledger   *usage.Memory
	stories  map[types.UID]*story
	arrivals []*story // in the order of arrival
	records  []usage.Record
	windows  map[windowKey]*window
	order    []*window // in the order of appearance
}

// A story is what became of a run.
type story struct {
	run      finishedRun
	asked    int              // how often
	refusal  *budget.Decision // the first one, nil if there is none
	admitted *budget.Decision // nil if it never started
}

// A window is one window of one group of a budget.
type window struct {
	rule   *budget.Rule
	group  string
	labels map[string]string // of a task of the group
	bounds period.Window
	at     time.Time // an instant in it
	peak   usage.Amounts
	used   int64 // of the first limit, when it was last seen
}

type windowKey struct {
	budget     types.NamespacedName
	group      string
	start, end time.Time
}

func newJournal(rules []*budget.Rule, ledger *usage.Memory) *journal {
	return &journal{rules: rules, ledger: ledger, stories: map[types.UID]*story{}, windows: map[windowKey]*window{}}
}

// decided notes a decision about a task.
func (j *journal) decided(t *task, d budget.Decision) {
	s := j.stories[t.UID]
	if s == nil {
		s = &story{run: t.finishedRun}
		j.stories[t.UID] = s
		j.arrivals = append(j.arrivals, s)
	}
	s.asked++
	switch {
	case d.Allowed:
		s.admitted = &d
	case s.refusal == nil:
		s.refusal = &d
	}
}

// recorded notes a record.
func (j *journal) recorded(r usage.Record) { j.records = append(j.records, r) }

// observe looks at how the budgets for these labels stand: as often as that
// changes, so that no peak is missed.
func (j *journal) observe(namespace string, labels map[string]string, now time.Time) {
	for _, rule := range j.rules {
		if !rule.Matches(namespace, labels) {
			continue
		}
		o := budget.Observe(rule, j.ledger, labels, now)
		if o.Fault == nil && o.Outside == "" {
			j.window(rule, labels, &o, now).see(&o, now)
		}
	}
}

// window finds the window of an observation. A window that slides is another
// one at every instant: all of them share an entry.
func (j *journal) window(rule *budget.Rule, labels map[string]string, o *budget.Observation, now time.Time) *window {
	key := windowKey{budget: rule.Name(), group: o.Group}
	if !o.Window.LookBack {
		key.start, key.end = o.Window.Start, o.Window.End
	}
	w := j.windows[key]
	if w == nil {
		w = &window{rule: rule, group: o.Group, labels: labels, bounds: o.Window, at: now, peak: usage.Amounts{}}
		j.windows[key] = w
		j.order = append(j.order, w)
	}
	return w
}

// see notes the most that was held, and of a window that slides when it was
// the fullest.
func (w *window) see(o *budget.Observation, now time.Time) {
	for _, limit := range w.rule.Limits() {
		w.peak[limit.Meter] = max(w.peak[limit.Meter], o.Held[limit.Meter])
	}
	used := o.Used[w.rule.Limits()[0].Meter]
	if used >= w.used || !o.Window.LookBack {
		w.used, w.at, w.bounds = used, now, o.Window
	}
}
