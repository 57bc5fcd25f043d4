package period

import "time"

// Period is a compiled Spec. It never changes and is safe for concurrent use.
// The nil Period and the zero Period answer with ErrNotCompiled.
type Period struct {
	spec  Spec
	kind  Kind
	zone  string
	clock clock
	key   string

	labels           calendar  // Daily to Cycle
	anchored         bool      // boundary 0 is the anchor: Cycle
	anchor           int64     // Unix seconds; Cycle, Fixed
	length           int64     // seconds; Fixed, FirstUse, Sliding
	startsAt, endsAt time.Time // Lifetime
}

// Unix seconds that can be asked about, the years 1 to 9998, and those that a
// bound can have, the years 0 to 9999: all that RFC 3339 can write.
const (
	firstSecond = int64(-62135596800) // 0001-01-01T00:00:00Z
	lastSecond  = int64(253370764799) // 9998-12-31T23:59:59Z
	firstBound  = int64(-62167219200) // 0000-01-01T00:00:00Z
	lastBound   = int64(253402300799) // 9999-12-31T23:59:59Z
)

// At gives the window that holds now: exact, to the nanosecond, for every
// instant of the years 1 to 9998, without allocation.
//
// A Sliding period answers with the look-back that ends now. A FirstUse period
// has no window of its own and answers with ErrNotOpen: see [Period.Resume]. A
// Lifetime answers with ErrBeforeStart or ErrAfterEnd outside of its bounds. The
// zero time gives ErrZeroTime; an instant outside of those years, or a window
// that reaches beyond the years 0 to 9999, gives ErrOutOfRange, and so does a
// location from a ZoneSource whose clock no zone can have. Every error is an
// *Error, and means that whatever depends on the window cannot be decided.
func (p *Period) At(now time.Time) (Window, error) {
	if err := p.check(now); err != nil {
		return Window{}, err
	}
	switch p.kind {
	case FirstUse:
		return Window{}, fault("now", instantText(now), ErrNotOpen, "no window is open; one opens at the first admitted use")
	case Sliding:
		return p.sliding(now)
	case Lifetime:
		return p.lifetime(now)
	default:
		return p.fixed(now)
	}
}

// sideBySide reports a kind whose windows follow each other without an end.
func (p *Period) sideBySide() bool {
	return p.kind != FirstUse && p.kind != Sliding && p.kind != Lifetime
}

// fixed answers for the kinds whose windows lie side by side.
func (p *Period) fixed(now time.Time) (Window, error) {
	u := now.Unix()
	var start, end int64
	ok := true
	switch p.kind {
	case Hourly:
		start, end, ok = p.clock.hourAround(u)
	case Fixed:
		start = p.anchor + floorDiv(u-p.anchor, p.length)*p.length
		end = start + p.length
	default:
		start, end, ok = p.calendar(u)
	}
	if !ok || u < start || end <= u {
		return Window{}, fault("timezone", p.zone, ErrOutOfRange, "the zone's data cannot be right: no window holds %s", instantText(now))
	}
	if start < firstBound || end > lastBound {
		return Window{}, outOfRange(now)
	}
	return between(start, end), nil
}

// check refuses what no period can answer.
func (p *Period) check(now time.Time) error {
	if p == nil || p.kind == "" {
		return fault("period", "", ErrNotCompiled, "it is nil or empty; use one that Compile gave")
	}
	if now.IsZero() {
		return fault("now", "", ErrZeroTime, "the time is zero: nobody has set it")
	}
	if u := now.Unix(); u < firstSecond || u > lastSecond {
		return outOfRange(now)
	}
	return nil
}

func outOfRange(now time.Time) *Error {
	return fault("now", instantText(now), ErrOutOfRange, "the time and its window must lie in the years 1 to 9998")
}

// calendar gives the last label window that has begun at u. The closed form can
// be off by a few windows: too early where the zone's dates skipped or ran
// backwards, too late before a Cycle's anchor that is a repeated time.
func (p *Period) calendar(u int64) (start, end int64, ok bool) {
	known := regime{from: u, end: u + 1, offset: p.clock.offset(u)}
	if !known.plausible() {
		return 0, 0, false
	}
	k := p.labels.index(u + known.offset)
	for range maxRegimes {
		if start, known, ok = p.boundary(k, known); !ok {
			return 0, 0, false
		}
		if u < start {
			k--
			continue
		}
		if end, known, ok = p.boundary(k+1, known); !ok || u < end {
			return start, end, ok
		}
		k++
	}
	return 0, 0, false
}

// boundary gives boundary k. A Cycle's boundary 0 is its anchor, also where the
// clock showed the same time before, and the others keep their order with it.
func (p *Period) boundary(k int64, hint regime) (int64, regime, bool) {
	b, r, ok := p.clock.boundary(p.labels.label(k), hint)
	switch {
	case !p.anchored:
	case k == 0:
		b = p.anchor
	case k > 0:
		b = max(b, p.anchor)
	default:
		b = min(b, p.anchor)
	}
	return b, r, ok
}

func (p *Period) sliding(now time.Time) (Window, error) {
	if now.Unix()-p.length < firstBound {
		return Window{}, outOfRange(now)
	}
	end := utc(now)
	return Window{Start: end.Add(-p.duration()), End: end, LookBack: true}, nil
}

func (p *Period) lifetime(now time.Time) (Window, error) {
	if !p.startsAt.IsZero() && now.Before(p.startsAt) {
		return Window{}, fault("startsAt", instantText(p.startsAt), ErrBeforeStart, "the period has not started at %s", instantText(now))
	}
	if !p.endsAt.IsZero() && !now.Before(p.endsAt) {
		return Window{}, fault("endsAt", instantText(p.endsAt), ErrAfterEnd, "the period is over at %s", instantText(now))
	}
	return Window{Start: p.startsAt, End: p.endsAt}, nil
}

// duration is the length as a time.Duration; it is at most 3660 days.
func (p *Period) duration() time.Duration { return time.Duration(p.length) * time.Second }

// Kind gives the kind; empty for a nil or zero Period.
func (p *Period) Kind() Kind {
	if p == nil {
		return ""
	}
	return p.kind
}

// Spec gives a copy of the spec that was compiled, as it was written.
func (p *Period) Spec() Spec {
	if p == nil {
		return Spec{}
	}
	return p.spec.clone()
}
