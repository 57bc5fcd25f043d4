package period

import (
	"slices"
	"strconv"
	"time"
)

// add notes a fault.
func (c *compiler) add(f field, value string, cause error, format string, args ...any) {
	c.faults = append(c.faults, fault(f.name(), value, cause, format, args...))
}

func (c *compiler) unknownKind() {
	text := string(c.spec.Type)
	reason := "no such kind of period; it is one of %s (upper and lower case matter)"
	if text == "" {
		reason = "required; it is one of %s"
	}
	c.faults = append(c.faults, fault("type", text, ErrUnknownKind, reason, allKinds()))
}

// reads says whether f is to be read. It notes a field that the kind does not
// take and one that it misses. Of an unknown kind every field is read, so that
// one mistyped word hides no other fault.
func (c *compiler) reads(f field, present bool, value string) bool {
	switch {
	case present && c.known && c.kind.takes&f == 0:
		c.add(f, value, nil, "%s periods have no use for it; remove it, or choose a type that takes it: %s", c.kind.kind, thatTake(f))
		return false
	case !present && c.kind.requires&f != 0:
		c.add(f, "", nil, "required for %s periods", c.kind.kind)
	}
	return present
}

// timeOfDay gives the second of the day.
func (c *compiler) timeOfDay() int64 {
	s := c.spec.TimeOfDay
	if !c.reads(timeOfDay, s != "", s) {
		return 0
	}
	if len(s) == 5 && s[2] == ':' {
		h, okHour := digits(s[:2])
		m, okMinute := digits(s[3:])
		if okHour && okMinute && h < 24 && m < 60 {
			return h*hour + m*60
		}
	}
	c.add(timeOfDay, s, nil, `write hours and minutes of a 24-hour clock as "HH:MM", from 00:00 to 23:59`)
	return 0
}

// weekdays in the order of ISO 8601.
var weekdays = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// weekStart gives the days from Monday to the start of the week.
func (c *compiler) weekStart() int64 {
	s := c.spec.WeekStart
	if !c.reads(weekStart, s != "", s) {
		return 0
	}
	if i := slices.Index(weekdays[:], s); i >= 0 {
		return int64(i)
	}
	c.add(weekStart, s, nil, "write a day in full, Monday to Sunday (upper and lower case matter)")
	return 0
}

// number gives an optional number from 1 to most; 1 if it is not there.
func (c *compiler) number(f field, p *int32, most int64, want string) int64 {
	if p == nil {
		c.reads(f, false, "")
		return 1
	}
	n := int64(*p)
	text := strconv.FormatInt(n, 10)
	if c.reads(f, true, text) && (n < 1 || n > most) {
		c.add(f, text, nil, "write %s", want)
	}
	return n
}

// anchor gives the anchor, or the Unix epoch if it is not there.
func (c *compiler) anchor() time.Time {
	p := c.spec.Anchor
	if p == nil {
		c.reads(anchor, false, "")
		return time.Unix(0, 0)
	}
	if !c.reads(anchor, true, instantText(*p)) || !c.instant(anchor, *p) {
		return time.Unix(0, 0)
	}
	if p.Nanosecond() != 0 {
		c.add(anchor, instantText(*p), nil, "write whole seconds; windows start at whole seconds")
	}
	return *p
}

// unit gives the unit of a Cycle.
func (c *compiler) unit() string {
	s := c.spec.Unit
	if c.reads(unit, s != "", s) && mostUnits(s) == 0 {
		c.add(unit, s, nil, "write Day, Week, Month or Year (upper and lower case matter)")
	}
	return s
}

// every gives the number of units in a window of a Cycle.
func (c *compiler) every() int64 {
	most := mostUnits(c.spec.Unit)
	if most == 0 {
		most = 1<<31 - 1 // the unit is at fault
	}
	return c.number(every, c.spec.Every, most, "a whole number of units, at least 1 and at most a century in all")
}

// mostUnits gives how many units make a century, or 0 if there is no such unit.
func mostUnits(unit string) int64 {
	switch unit {
	case "Day":
		return 36525
	case "Week":
		return 5218
	case "Month":
		return 1200
	case "Year":
		return 100
	}
	return 0
}

// bounds of a duration, in seconds
const (
	minDuration = int64(60)
	maxDuration = 3660 * day
)

// duration gives the duration in seconds.
func (c *compiler) duration() int64 {
	s := c.spec.Duration
	if !c.reads(duration, s != "", s) {
		return 0
	}
	seconds, ok := durationSeconds(s)
	switch {
	case !ok:
		c.add(duration, s, nil, "write one whole number and one unit of s, m, h, d (24 hours), w (7 days), such as 90m, 5h or 30d")
	case seconds < minDuration || seconds > maxDuration:
		c.add(duration, s, nil, "must be from 60s to 3660d")
	}
	return seconds
}

// durationSeconds reads 1 to 9 digits, no leading zero, and a unit.
func durationSeconds(s string) (int64, bool) {
	if len(s) < 2 || len(s) > 10 || s[0] == '0' {
		return 0, false
	}
	n, ok := digits(s[:len(s)-1])
	if !ok {
		return 0, false
	}
	switch s[len(s)-1] {
	case 's':
		return n, true
	case 'm':
		return n * 60, true
	case 'h':
		return n * hour, true
	case 'd':
		return n * day, true
	case 'w':
		return n * week, true
	}
	return 0, false
}

// digits reads a short run of ASCII digits and nothing else.
func digits(s string) (int64, bool) {
	n := int64(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, s != ""
}

// lifetime sets the bounds of a Lifetime.
func (c *compiler) lifetime(p *Period) {
	start, okStart := c.bound(startsAt, c.spec.StartsAt)
	end, okEnd := c.bound(endsAt, c.spec.EndsAt)
	if okStart && okEnd && !start.Before(end) {
		c.add(endsAt, instantText(end), nil, "must be after startsAt, which is %s", instantText(start))
	}
	p.startsAt, p.endsAt = start, end
}

// bound reads one bound of a Lifetime; it is false if there is none to use.
func (c *compiler) bound(f field, t *time.Time) (time.Time, bool) {
	if t == nil {
		c.reads(f, false, "")
		return time.Time{}, false
	}
	if !c.reads(f, true, instantText(*t)) || !c.instant(f, *t) {
		return time.Time{}, false
	}
	return utc(*t), true
}

// instant says whether t can be used; the zero time would mean "unbounded" later
// on.
func (c *compiler) instant(f field, t time.Time) bool {
	switch {
	case t.IsZero():
		c.add(f, "", ErrZeroTime, "the time is empty (0001-01-01T00:00:00Z); write an instant such as 2026-01-31T09:00:00Z, or remove it")
		return false
	case t.Unix() < firstSecond || t.Unix() > lastBound:
		c.add(f, instantText(t), ErrOutOfRange, "the year must be from 1 to 9999")
		return false
	}
	return true
}

// instantText writes t for a message.
func instantText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
