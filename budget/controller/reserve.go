package controller

import (
	"context"
	"maps"
	"time"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/usage"
)

// request is a task that asks to start.
type request struct {
	task  budget.Task
	about budget.Subject
	ref   usage.Task
	now   time.Time
	ttl   time.Duration
}

// reserve decides on a task and sets its estimate aside if it is admitted. It
// gives the number of moves that the decision knows of. Policies are asked while
// the shelf is unlocked.
//
// The labels of a hold that the task has stand in for its own: they were taken
// down at its admission, and nothing that is edited later moves its spend.
func (s *shelf) reserve(ctx context.Context, by *budget.Reviewer, r request) (d budget.Decision, moves uint64) {
	for {
		if known, _, ok := s.held(r.task.UID); ok {
			r.task.Labels = known.hold.Labels
		}
		at := &desk{shelf: s, request: &r}
		d = by.Reserve(ctx, at, budget.Input{Task: r.task, Now: r.now}, r.about, r.ttl)
		switch {
		case at.snapshot:
			continue
		case at.fault != "":
			return budget.Decision{Task: d.Task, At: d.At, Fault: at.fault}, at.moves
		case d.Hold != nil && at.hold != nil:
			d.Hold = at.hold
		}
		return d, at.moves
	}
}

// desk is a shelf while one task is decided on. It implements [budget.Store].
type desk struct {
	*shelf

	request *request
	// hold is the one that was entered, as it will be stored, and fault says
	// why it could not be.
	hold  *usage.Hold
	fault string
	moves uint64
	// snapshot says that a hold has come whose labels are others than those
	// that the task is judged by.
	snapshot bool
}

// Do implements [budget.Store].
func (d *desk) Do(f func(usage.Ledger)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	task := &d.request.task
	if known, ok := d.holds[task.UID]; ok && !maps.Equal(known.hold.Labels, task.Labels) {
		d.snapshot = true
		return
	}
	d.ledger.Do(func(ledger usage.Ledger) { f(clouded{ledger, d.shelf}) })
	if err := d.keep(); err != nil {
		d.fault = "the hold can't be stored: " + err.Error()
		d.release(task.UID)
	}
	d.moves = d.shelf.moves
}

// keep takes note of the hold that was entered, if one was.
func (d *desk) keep() error {
	uid, now := d.request.task.UID, d.request.now
	entered, ok := d.ledger.Held(uid)
	known, had := d.holds[uid]
	if !ok || !entered.Live(now) || had && known.hold.Live(now) {
		return nil
	}
	hold, faults := budget.HoldFrom(budget.NewTaskHold(entered, d.request.ref)) // as it will be stored
	if len(faults) > 0 {
		return faults.ToAggregate()
	}
	if err := d.ledger.Renew(hold); err != nil {
		return err
	}
	d.hold = &hold
	d.enter()
	d.holds[uid] = &holding{hold: hold, task: d.request.ref}
	if had && known.stored {
		d.holds[uid].before, d.holds[uid].version = known, known.version
	}
	return nil
}
