package period

import (
	"math"
	"time"
)

const (
	// maxOffset bounds a zone's distance from UTC. RFC 9636 asks for less than 25
	// hours west and 26 hours east; the largest that any zone had is below 16.
	maxOffset = 26 * hour
	// maxRegimes bounds every walk over clock changes. Real zones need at most
	// four; what needs more is no zone data.
	maxRegimes = 32
)

// clock is a zone's mapping from instants to wall-clock readings. Nil is UTC.
type clock struct{ loc *time.Location }

// regime is a stretch of Unix seconds, [start, end), of one offset. Neighbours
// may have the same offset: a regime is not always as long as it could be.
type regime struct {
	start, end int64
	offset     int64
}

// at gives the regime that holds the Unix second u.
func (c clock) at(u int64) regime {
	if c.loc == nil {
		return regime{start: math.MinInt64, end: math.MaxInt64}
	}
	t := time.Unix(u, 0).In(c.loc)
	_, offset := t.Zone()
	start, end := t.ZoneBounds()
	r := regime{start: math.MinInt64, end: math.MaxInt64, offset: int64(offset)}
	if !start.IsZero() {
		r.start = start.Unix()
	}
	if !end.IsZero() {
		r.end = end.Unix()
	}
	// Where a rule without a table applies, ZoneBounds takes every year for 365
	// days long and on December 31 of a leap year answers with an end that is past
	// (https://github.com/golang/go/issues/81583). Its offset is right all the
	// same, and the year ends with the UTC day.
	if r.end <= u {
		r.end = (floorDiv(u, day) + 1) * day
	}
	return r
}

// plausible says whether the offset is one that boundary can cope with.
func (r regime) plausible() bool { return -maxOffset < r.offset && r.offset < maxOffset }

// boundary gives the first Unix second at which the clock shows the label or a
// later time. The hint is any regime already known. It is false only for a
// location that is no real zone.
func (c clock) boundary(label int64, hint regime) (int64, bool) {
	u, r := label-maxOffset, hint // no clock shows the label before u
	for range maxRegimes {
		if u < r.start || r.end <= u {
			r = c.at(u)
		}
		if !r.plausible() {
			return 0, false
		}
		// Later than label-offset only if the clock jumped over the label at u.
		if first := max(u, label-r.offset); first < r.end {
			return first, true
		}
		u = r.end
	}
	return 0, false
}

// hourStart gives the last Unix second, up to u, at which an hour turns.
func (c clock) hourStart(u int64, r regime) (int64, bool) {
	for range maxRegimes {
		if full := u - floorMod(u+r.offset, hour); full >= r.start {
			return full, true
		}
		before := c.at(r.start - 1)
		if turns(before, r, r.start) {
			return r.start, true
		}
		u, r = r.start-1, before
	}
	return 0, false
}

// hourEnd gives the first Unix second after u at which an hour turns.
func (c clock) hourEnd(u int64, r regime) (int64, bool) {
	for range maxRegimes {
		if full := u - floorMod(u+r.offset, hour) + hour; full < r.end {
			return full, true
		}
		change, after := r.end, c.at(r.end)
		if turns(r, after, change) {
			return change, true
		}
		u, r = change, after
	}
	return 0, false
}

// turns says whether an hour starts where one regime gives way to another: the
// clock shows a full hour then, or a jump forward has raised the hour. A jump
// back that lands within an hour starts none.
func turns(before, after regime, at int64) bool {
	return floorMod(at+after.offset, hour) == 0 ||
		floorDiv(at+after.offset, hour) > floorDiv(at-1+before.offset, hour)
}

// setBack gives the most, in seconds, that the clock has been set back by in all
// between any two instants since 1970: no window is longer than its labels are
// apart by more. Rules without a table repeat within a few years, so that the
// walk ends in 2100.
func (c clock) setBack() int64 {
	const from, until = int64(0), int64(4102444800)
	highest, most := int64(math.MinInt64), int64(0)
	for u := from; u < until; {
		r := c.at(u)
		highest = max(highest, r.offset)
		most = max(most, highest-r.offset)
		u = r.end
	}
	return most
}
