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

// regime is a stretch of Unix seconds, [from, end), of one offset. It need not be
// as long as it could be: from is what was asked about, and the next regime may
// have the same offset.
type regime struct {
	from, end int64
	offset    int64
}

// plausible says whether the offset is one that boundary can cope with.
func (r regime) plausible() bool { return -maxOffset < r.offset && r.offset < maxOffset }

// offset gives the zone's distance from UTC at the Unix second u.
func (c clock) offset(u int64) int64 {
	if c.loc == nil {
		return 0
	}
	_, offset := time.Unix(u, 0).In(c.loc).Zone()
	return int64(offset)
}

// at gives the regime from the Unix second u on.
//
// Of ZoneBounds only the end is used. Its start, behind the last clock change of
// the zone's table, is that of the rule which follows the table and can lie
// before that change (Ciudad Juarez after 2022-11-30T06:00Z). Its end can be past:
// where the rule applies, every year is taken for 365 days long, which on
// December 31 of a leap year ends before the day (golang/go issue 81583). The
// offset is right all the same, and the year ends with the UTC day.
func (c clock) at(u int64) regime {
	r := regime{from: u, end: math.MaxInt64}
	if c.loc == nil {
		return r
	}
	t := time.Unix(u, 0).In(c.loc)
	r.offset = c.offset(u)
	if _, end := t.ZoneBounds(); !end.IsZero() {
		r.end = end.Unix()
	}
	if r.end <= u {
		r.end = (floorDiv(u, day) + 1) * day
	}
	return r
}

// boundary gives the first Unix second at which the clock shows the label or a
// later time, and the regime that it is in. The hint is any regime already known.
// It is false only for a location that is no real zone.
func (c clock) boundary(label int64, hint regime) (int64, regime, bool) {
	u, r := label-maxOffset, hint // no clock shows the label before u
	for range maxRegimes {
		if u < r.from || r.end <= u {
			r = c.at(u)
		}
		if !r.plausible() {
			return 0, r, false
		}
		// Later than label-offset only if the clock jumped over the label at u.
		if first := max(u, label-r.offset); first < r.end {
			return first, r, true
		}
		u = r.end
	}
	return 0, r, false
}

// turn gives the first Unix second after u at which an hour turns, and the regime
// that it is in; r is the regime of u. An hour turns when the clock shows a full
// hour, and when a jump forward raises the hour. A jump back within an hour turns
// none.
func (c clock) turn(u int64, r regime) (int64, regime, bool) {
	for range maxRegimes {
		if full := u - floorMod(u+r.offset, hour) + hour; full < r.end {
			return full, r, true
		}
		before := r.end - 1 + r.offset
		u, r = r.end, c.at(r.end)
		if now := u + r.offset; floorMod(now, hour) == 0 || floorDiv(now, hour) > floorDiv(before, hour) {
			return u, r, true
		}
	}
	return 0, r, false
}

// hourAround gives the hour that holds u, by walking from turn to turn from some
// time before it. Three hours before are enough for every real zone.
func (c clock) hourAround(u int64) (start, end int64, ok bool) {
	for _, back := range [...]int64{3 * hour, 2 * maxOffset} {
		v := u - back
		r := c.at(v)
		for found := false; ; found = true {
			if !r.plausible() {
				return 0, 0, false
			}
			if end, r, ok = c.turn(v, r); !ok {
				return 0, 0, false
			}
			if end > u {
				if found {
					return start, end, true
				}
				break
			}
			start, v = end, end
		}
	}
	return 0, 0, false
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
