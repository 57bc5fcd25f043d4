package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/usage"
)

// holdTTL is how long a hold counts if nobody releases it. It must be longer
// than any task runs, or a running task stops to count; it ends what a lost
// task would otherwise block for ever.
const holdTTL = 24 * time.Hour

// A controller does with tasks what a controller in a cluster does, and nothing
// else: it asks before a task starts, holds while it runs, and records what it
// spent. Its clock is the queue of events.
type controller struct {
	rules   []*budget.Rule
	prices  *usage.PriceList
	ledger  *usage.Memory
	events  queue
	waiting []*task // refused so far, in the order of arrival
	journal *journal
}

// A task is a run that happens again.
type task struct {
	finishedRun
	hold  *usage.Hold // what is set aside, once it is admitted
	askAt time.Time   // when it asks again, while it waits
}

// play lets all runs happen and returns when nothing is left that could. Who
// waits then has no room in any window, whatever time passes.
func (c *controller) play(runs []finishedRun) error {
	for _, r := range runs {
		c.events.push(event{at: r.StartTime, kind: asks, task: &task{finishedRun: r, askAt: r.StartTime}})
	}
	for {
		e, ok := c.events.pop()
		if !ok {
			return nil
		}
		step := c.ask
		if e.kind == completes {
			step = c.complete
		}
		if err := step(e.at, e.task); err != nil {
			return err
		}
	}
}

// ask decides whether a task may start. Reserve decides and holds in one step:
// with Admit and a hold after it, two tasks could start on the same room.
func (c *controller) ask(now time.Time, t *task) error {
	if t.hold != nil || !now.Equal(t.askAt) {
		return nil // it was woken in the meantime
	}
	t.askAt = time.Time{}
	decision := budget.Reserve(c.ledger, budget.Input{
		Task:  budget.Task{UID: t.UID, Namespace: t.Namespace, Name: t.Name, Labels: t.Labels},
		Rules: c.rules,
		Now:   now,
	}, holdTTL)
	if decision.Fault != "" {
		return fmt.Errorf("run %s: %s", t.title(), decision.Fault)
	}
	c.journal.decided(t, decision)
	if !decision.Allowed {
		c.wait(t, decision)
		return nil
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(other *task) bool { return other == t })
	t.hold = decision.Hold
	c.events.push(event{at: now.Add(t.CompletionTime.Sub(t.StartTime)), kind: completes, task: t})
	c.journal.observe(t.Namespace, t.Labels, now)
	return nil
}

// wait makes a refused task ask again when time alone makes room for it. In a
// cluster a reconciler returns ctrl.Result{RequeueAfter: decision.RequeueAfter()}:
// it asks at least every five minutes, since events can get lost. Here none can.
func (c *controller) wait(t *task, decision budget.Decision) {
	if !slices.Contains(c.waiting, t) {
		c.waiting = append(c.waiting, t)
	}
	if !decision.RetryAt.IsZero() {
		c.askAgain(t, later(decision.RetryAt, decision.At.Add(budget.MinRequeue)))
	}
}

func (c *controller) askAgain(t *task, at time.Time) {
	t.askAt = at
	c.events.push(event{at: at, kind: asks, task: t})
}

// complete records what a task spent and releases its hold, in this order:
// between the two the record supersedes the hold, and a crash loses nothing.
func (c *controller) complete(now time.Time, t *task) error {
	c.journal.observe(t.Namespace, t.Labels, now)
	record, err := usage.RecordUsage(usage.Completion{
		Task:           usage.Task{UID: t.UID, Namespace: t.Namespace, Name: t.Name, Type: t.Type, Model: t.Model},
		Phase:          t.Phase,
		StartTime:      t.hold.AdmittedAt,
		CompletionTime: now,
		Results:        t.Results,
		Hold:           t.hold,
		Prices:         c.prices,
	})
	if err != nil {
		return err
	}
	if err := c.ledger.Add(record); err != nil {
		return err
	}
	c.ledger.Release(t.UID)
	c.journal.recorded(record)
	c.journal.observe(t.Namespace, t.Labels, now)
	for _, other := range c.waiting { // what was held may be more than what was spent
		c.askAgain(other, now)
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
