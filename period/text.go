package period

import (
	"strconv"
	"strings"
	"time"
)

// String says what the period is, for people: "Weekly from Monday 09:00
// Europe/Berlin".
func (p *Period) String() string {
	if p == nil || p.kind == "" {
		return "invalid period"
	}
	at := or(p.spec.TimeOfDay, "00:00") + " " + p.zone
	switch p.kind {
	case Hourly:
		return "Hourly " + p.zone
	case Daily:
		return "Daily from " + at
	case Weekly:
		return "Weekly from " + or(p.spec.WeekStart, "Monday") + " " + at
	case Monthly:
		return "Monthly from " + monthDayText(p.labels.monthDay) + " " + at
	case Quarterly, Yearly:
		return string(p.kind) + " from " + monthDayText(p.labels.monthDay) + " of " + time.Month(p.labels.origin+1).String() + " " + at
	case Cycle:
		return "Every " + p.cycleText() + " from " + instantText(*p.spec.Anchor) + " " + p.zone
	case Fixed:
		return "Every " + p.spec.Duration + " from " + instantText(time.Unix(p.anchor, 0))
	case FirstUse:
		return p.spec.Duration + " from first use"
	default:
		return p.boundlessText()
	}
}

// boundlessText is for the kinds that no window follows.
func (p *Period) boundlessText() string {
	if p.kind == Sliding {
		return "last " + p.spec.Duration
	}
	return p.lifetimeText()
}

func (p *Period) cycleText() string {
	unit := strings.ToLower(p.spec.Unit)
	if p.spec.Every == nil || *p.spec.Every == 1 {
		return unit
	}
	return strconv.Itoa(int(*p.spec.Every)) + " " + unit + "s"
}

func (p *Period) lifetimeText() string {
	start, end := instantText(p.startsAt), instantText(p.endsAt)
	switch {
	case p.startsAt.IsZero() && p.endsAt.IsZero():
		return "Lifetime without end"
	case p.endsAt.IsZero():
		return "Lifetime from " + start
	case p.startsAt.IsZero():
		return "Lifetime until " + end
	}
	return "Lifetime from " + start + " until " + end
}

func monthDayText(d int64) string {
	if d == 31 {
		return "the last day"
	}
	return "day " + strconv.FormatInt(d, 10)
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
