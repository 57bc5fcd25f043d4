package period

import "strings"

// field is a field of a Spec that only some kinds take.
type field uint16

const (
	timeOfDay field = 1 << iota
	weekStart
	dayOfMonth
	startMonth
	anchor
	unit
	every
	duration
	startsAt
	endsAt
)

// name is the field's JSON name.
func (f field) name() string {
	switch f {
	case timeOfDay:
		return "timeOfDay"
	case weekStart:
		return "weekStart"
	case dayOfMonth:
		return "dayOfMonth"
	case startMonth:
		return "startMonth"
	case anchor:
		return "anchor"
	case unit:
		return "unit"
	case every:
		return "every"
	case duration:
		return "duration"
	case startsAt:
		return "startsAt"
	default:
		return "endsAt"
	}
}

// traits is what a kind takes and what it cannot do without.
type traits struct {
	kind            Kind
	takes, requires field
}

// kinds are in the order in which messages list them.
var kinds = [...]traits{
	{kind: Hourly},
	{kind: Daily, takes: timeOfDay},
	{kind: Weekly, takes: timeOfDay | weekStart},
	{kind: Monthly, takes: timeOfDay | dayOfMonth},
	{kind: Quarterly, takes: timeOfDay | dayOfMonth | startMonth},
	{kind: Yearly, takes: timeOfDay | dayOfMonth | startMonth},
	{kind: Cycle, takes: anchor | unit | every, requires: anchor | unit},
	{kind: Fixed, takes: anchor | duration, requires: duration},
	{kind: FirstUse, takes: duration, requires: duration},
	{kind: Sliding, takes: duration, requires: duration},
	{kind: Lifetime, takes: startsAt | endsAt},
}

// traits finds the kind's row.
func (k Kind) traits() (traits, bool) {
	for _, t := range kinds {
		if t.kind == k {
			return t, true
		}
	}
	return traits{}, false
}

// thatTake lists the kinds that take f, for a message.
func thatTake(f field) string {
	return list(func(t traits) bool { return t.takes&f != 0 })
}

// allKinds lists every kind, for a message.
func allKinds() string {
	return list(func(traits) bool { return true })
}

func list(wanted func(traits) bool) string {
	var names []string
	for _, t := range kinds {
		if wanted(t) {
			names = append(names, string(t.kind))
		}
	}
	return strings.Join(names, ", ")
}
