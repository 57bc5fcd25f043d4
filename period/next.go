package period

import (
	"math"
	"time"
)

// Next gives the first instant after now at which At starts to answer with
// another window: the end of the current one, or the start of a Lifetime that
// has not begun. It gives ErrNoNext for a Lifetime without an end or behind it
// (then also ErrAfterEnd), for Sliding, in which each event leaves by itself one
// Duration after it came, and for FirstUse, which only a use opens (then also
// ErrNotOpen); else the errors of At.
func (p *Period) Next(now time.Time) (time.Time, error) {
	if err := p.check(now); err != nil {
		return time.Time{}, err
	}
	switch p.kind {
	case Sliding:
		return time.Time{}, noNext(now, ErrNoNext, "a look-back has no boundary; each event leaves it one duration after it came")
	case FirstUse:
		return time.Time{}, noNext(now, errNoNextNotOpen, "no window is open; one opens at the first admitted use")
	case Lifetime:
		return p.nextOfLifetime(now)
	default:
		w, err := p.At(now)
		return w.End, err
	}
}

func (p *Period) nextOfLifetime(now time.Time) (time.Time, error) {
	switch {
	case !p.startsAt.IsZero() && now.Before(p.startsAt):
		return p.startsAt, nil
	case p.endsAt.IsZero():
		return time.Time{}, noNext(now, ErrNoNext, "the period never ends")
	case !now.Before(p.endsAt):
		return time.Time{}, noNext(now, errNoNextAfterEnd, "the period ended for good at "+instantText(p.endsAt))
	}
	return p.endsAt, nil
}

func noNext(now time.Time, cause error, reason string) *Error {
	return fault("now", instantText(now), cause, "%s", reason)
}

// Longest gives the longest that any window of p can be that At gives and
// that starts in 1970 or later, clock changes included: 25h for a day in Berlin.
// A record that is kept for so long is counted to the end of its window. It is
// false if there is no such bound: a Lifetime that lacks an end or a start, a
// window longer than the 292 years of a time.Duration, and a nil or zero Period.
// It walks the zone's clock changes, some 0.1 ms: ask once.
//
// Only Resume, after zone data changed, can give one window that is longer, by
// at most half of the one before.
func (p *Period) Longest() (time.Duration, bool) {
	if p == nil || p.kind == "" {
		return 0, false
	}
	switch p.kind {
	case Fixed, FirstUse, Sliding:
		return p.duration(), true
	case Lifetime:
		if p.startsAt.IsZero() || p.endsAt.IsZero() {
			return 0, false
		}
		d := p.endsAt.Sub(p.startsAt)
		if d == math.MaxInt64 {
			return 0, false // what Sub answers where a Duration is too small
		}
		return d, true
	case Hourly:
		return time.Duration(hour+p.clock.setBack()) * time.Second, true
	default:
		return time.Duration(p.labels.longest()+p.clock.setBack()) * time.Second, true
	}
}
