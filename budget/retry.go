package budget

import (
	"errors"
	"time"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// The search for the instant of the next admission ends after so many steps. It
// then answers with how far it has come: a caller who asks again there searches
// on. Only records and holds that are dated far ahead lead there.
const (
	maxRetryRounds  = 64
	maxRetryWindows = 1_000
	maxRetryTurns   = 10_000
)

// retryAt is the earliest instant at which time alone, with no new record and
// no new hold, would admit the task; zero if time alone never does.
//
// Each budget says when it opens; the latest of these instants is the answer,
// unless another budget has closed by then, which is then asked again.
func retryAt(in *Input, rules []*Rule) time.Time {
	at := in.Now
	for range maxRetryRounds {
		latest := at
		for _, r := range rules {
			if r.action == budgetv1alpha1.ActionWarn {
				continue
			}
			opens, ok := r.opensAt(in, at)
			if !ok {
				return time.Time{}
			}
			if opens.After(latest) {
				latest = opens
			}
		}
		if latest.Equal(at) {
			break
		}
		at = latest
	}
	return at.UTC()
}

// opensAt is the first instant from the given one on at which the rule would
// admit the task, false if there is none.
func (r *Rule) opensAt(in *Input, from time.Time) (time.Time, bool) {
	if r.fault != nil || in.Ledger == nil || r.neverFits(&in.Task) {
		return time.Time{}, false
	}
	at := from
	for range maxRetryWindows {
		fits, window, err := r.fits(in, at)
		switch {
		case errors.Is(err, period.ErrBeforeStart):
			starts := r.scope.Period.Spec().StartsAt
			if starts == nil {
				return time.Time{}, false
			}
			at = *starts
			continue
		case err != nil:
			return time.Time{}, false
		case fits:
			return at, true
		}
		opens, ok, err := r.opensWithin(in, at, window)
		if err != nil || ok || !ends(window) {
			return opens, err == nil && ok
		}
		at = window.End
	}
	return at, true
}

// neverFits reports that no passing of time makes room for the task.
func (r *Rule) neverFits(task *Task) bool {
	for _, l := range r.limits {
		estimate, known := r.estimate(task, l.Meter)
		if l.Max <= 0 || known && estimate > l.Max {
			return true
		}
	}
	return false
}

// fits reports whether the rule would admit the task at an instant.
func (r *Rule) fits(in *Input, at time.Time) (bool, period.Window, error) {
	fits, window := true, period.Window{}
	for _, l := range r.limits {
		q := in.query(r, l.Meter)
		q.At = at
		f := Figure{Meter: l.Meter, Limit: l.Max}
		w, err := r.weigh(in, q, &f)
		if err != nil {
			return false, w, err
		}
		fits, window = fits && f.Cause == "", w
	}
	return fits, window, nil
}

// opensWithin is the first instant after one without room, and before the
// window ends, at which holds that expire and records that leave a sliding
// window have made room.
func (r *Rule) opensWithin(in *Input, at time.Time, window period.Window) (time.Time, bool, error) {
	q := in.query(r, r.limits[0].Meter)
	for range maxRetryTurns {
		q.At = at
		turns, err := in.Ledger.Turns(q)
		if err != nil || turns.Next.IsZero() {
			return time.Time{}, false, err
		}
		if turns.Falling {
			return r.search(in, at, window, turns)
		}
		if ends(window) && !turns.Next.Before(window.End) {
			return time.Time{}, false, nil
		}
		at = turns.Next
		var fits bool
		if fits, window, err = r.fits(in, at); fits || err != nil {
			return at, fits, err
		}
	}
	return at, true, nil
}

// ends reports whether a window has an end that comes by itself.
func ends(w period.Window) bool { return !w.LookBack && !w.End.IsZero() }

// search finds the first instant with room by halving: what is taken only falls
// until the window ends.
func (r *Rule) search(in *Input, full time.Time, window period.Window, turns usage.Turns) (time.Time, bool, error) {
	free := turns.Last
	if ends(window) && !free.Before(window.End) {
		free = window.End.Add(-time.Nanosecond)
	}
	if !free.After(full) {
		return time.Time{}, false, nil
	}
	if fits, _, err := r.fits(in, free); err != nil || !fits {
		return time.Time{}, false, err
	}
	for free.Sub(full) > time.Nanosecond {
		middle := full.Add(free.Sub(full) / 2)
		fits, _, err := r.fits(in, middle)
		if err != nil {
			return time.Time{}, false, err
		}
		if fits {
			free = middle
		} else {
			full = middle
		}
	}
	return free, true, nil
}
