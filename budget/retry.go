package budget

import (
	"errors"
	"time"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/period"
)

// maxRetrySteps bounds the search for the instant of the next admission, in
// questions whether a budget fits. When it is used up the search answers with
// how far it has come: who asks again there searches on. Only records and holds
// that are dated far ahead lead there.
const maxRetrySteps = 10_000

// retry is one search.
type retry struct {
	in   *Input
	left int
}

// retryAt is the earliest instant at which time alone, with no new record and
// no new hold, would admit the task; zero if time alone never does.
//
// Each budget says when it opens; the latest of these instants is the answer,
// unless another budget has closed by then, which is then asked again.
func retryAt(in *Input, rules []*Rule) time.Time {
	search := retry{in: in, left: maxRetrySteps}
	at := in.Now
	for {
		latest := at
		for _, r := range rules {
			if r.action == budgetv1alpha1.ActionWarn {
				continue
			}
			opens, ok := search.opensAt(r, at)
			if !ok {
				return time.Time{}
			}
			if opens.After(latest) {
				latest = opens
			}
		}
		if latest.Equal(at) || search.left <= 0 {
			return latest.UTC()
		}
		at = latest
	}
}

// opensAt is the first instant from the given one on at which the rule would
// admit the task, false if there is none.
func (s *retry) opensAt(r *Rule, from time.Time) (time.Time, bool) {
	if s.stuck(r) {
		return time.Time{}, false
	}
	at := from
	for s.left > 0 {
		fits, window, err := s.fits(r, at)
		if starts := r.scope.Period.Spec().StartsAt; errors.Is(err, period.ErrBeforeStart) && starts != nil {
			at = *starts
			continue
		}
		if fits || err != nil {
			return at, fits
		}
		opens, ok, err := s.opensWithin(r, at, window)
		if err != nil || ok || !ends(window) {
			return opens, err == nil && ok
		}
		at = window.End
	}
	return at, true
}

// stuck reports a rule that refuses for as long as nothing but time changes.
func (s *retry) stuck(r *Rule) bool {
	return r.fault != nil || s.in.unasked(r) || s.in.Ledger == nil || r.neverFits(&s.in.Task)
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
func (s *retry) fits(r *Rule, at time.Time) (bool, period.Window, error) {
	s.left--
	fits, window := true, period.Window{}
	for _, l := range r.limits {
		q := s.in.query(r, l.Meter)
		q.At = at
		f := Figure{Meter: l.Meter, Limit: l.Max}
		balance, err := r.weigh(s.in, q, &f)
		if err != nil {
			return false, balance.Window, err
		}
		fits, window = fits && f.Cause == "", balance.Window
	}
	return fits, window, nil
}

// opensWithin is the first instant after one without room, and before the
// window ends, at which holds that expire and records that leave a sliding
// window have made room. It goes from one instant at which something comes in to
// the next: in between, what is taken only falls.
func (s *retry) opensWithin(r *Rule, at time.Time, window period.Window) (time.Time, bool, error) {
	q := s.in.query(r, r.limits[0].Meter)
	for s.left > 0 {
		q.At = at
		turns, err := s.in.Ledger.Turns(q)
		if err != nil || turns.Next.IsZero() {
			return time.Time{}, false, err
		}
		until := turns.Last
		if !turns.Rise.IsZero() {
			until = turns.Rise.Add(-time.Nanosecond)
		}
		if opens, ok, err := s.halve(r, at, window, until); ok || err != nil {
			return opens, ok, err
		}
		if turns.Rise.IsZero() || ends(window) && !turns.Rise.Before(window.End) {
			return time.Time{}, false, nil
		}
		at = turns.Rise
		var fits bool
		if fits, window, err = s.fits(r, at); fits || err != nil {
			return at, fits, err
		}
	}
	return at, true, nil
}

// ends reports whether a window has an end that comes by itself.
func ends(w period.Window) bool { return !w.LookBack && !w.End.IsZero() }

// halve finds the first instant with room between one without and the last at
// which anything changes: what is taken only falls until the window ends.
func (s *retry) halve(r *Rule, full time.Time, window period.Window, free time.Time) (time.Time, bool, error) {
	if ends(window) && !free.Before(window.End) {
		free = window.End.Add(-time.Nanosecond)
	}
	if !free.After(full) {
		return time.Time{}, false, nil
	}
	if fits, _, err := s.fits(r, free); err != nil || !fits {
		return time.Time{}, false, err
	}
	for free.Sub(full) > time.Second {
		middle := full.Add(free.Sub(full) / 2)
		fits, _, err := s.fits(r, middle)
		if err != nil {
			return time.Time{}, false, err
		}
		if fits {
			free = middle
		} else {
			full = middle
		}
	}
	return s.step(r, full, free)
}

// step finds the first instant with room by going from change to change. There
// are few changes within a second.
func (s *retry) step(r *Rule, full, free time.Time) (time.Time, bool, error) {
	q := s.in.query(r, r.limits[0].Meter)
	for at := full; s.left > 0; {
		q.At = at
		turns, err := s.in.Ledger.Turns(q)
		if err != nil {
			return time.Time{}, false, err
		}
		if turns.Next.IsZero() || !turns.Next.Before(free) {
			break
		}
		at = turns.Next
		if fits, _, err := s.fits(r, at); fits || err != nil {
			return at, fits, err
		}
	}
	return free, true, nil
}
