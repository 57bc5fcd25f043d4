package period

import (
	"errors"
	"time"
)

// Option changes how Compile works.
type Option func(*compiler)

// WithZones makes Compile load zones from source instead of the system's tz
// data and the copy that is linked in. Nil changes nothing.
func WithZones(source ZoneSource) Option {
	return func(c *compiler) {
		if source != nil {
			c.zones = source
		}
	}
}

// Compile checks all of spec and loads its zone, so that nothing is left to fail
// but the instants that are asked about. The error joins every fault found, each
// an *Error that names its field; [Errors] lists them. On error the Period is nil.
// The spec is copied: later changes to what it points to have no effect.
func Compile(spec Spec, options ...Option) (*Period, error) {
	c := compiler{spec: spec.clone(), zones: loaded.location}
	for _, option := range options {
		if option != nil {
			option(&c)
		}
	}
	p := c.compile()
	if len(c.faults) > 0 {
		return nil, errors.Join(c.faults...)
	}
	return p, nil
}

// compiler gathers the faults of one spec.
type compiler struct {
	spec   Spec
	zones  ZoneSource
	kind   traits
	known  bool // whether kind is one
	faults []error
}

// parts is what the texts of a spec mean.
type parts struct {
	second   int64 // of the day
	weekday  int64 // days after Monday
	monthDay int64
	month    int64 // 1 is January
	anchor   time.Time
	unit     string
	every    int64
	length   int64 // seconds
}

// compile gives a Period that is of use only if no fault was found.
func (c *compiler) compile() *Period {
	if c.kind, c.known = c.spec.Type.traits(); !c.known {
		c.unknownKind()
	}
	p := &Period{spec: c.spec, kind: c.spec.Type, zone: c.spec.Timezone}
	if p.zone == "" {
		p.zone = utcName
	}
	loc, bad := c.zones.load(p.zone)
	if bad != nil {
		c.faults = append(c.faults, bad)
	}
	p.clock = clock{loc}
	parts := parts{
		second:   c.timeOfDay(),
		weekday:  c.weekStart(),
		monthDay: c.number(dayOfMonth, c.spec.DayOfMonth, 31, "a day of the month from 1 to 31, where 31 is always the last day"),
		month:    c.number(startMonth, c.spec.StartMonth, 12, "a month from 1 (January) to 12"),
		anchor:   c.anchor(),
		unit:     c.unit(),
		every:    c.every(),
		length:   c.duration(),
	}
	c.lifetime(p)
	if len(c.faults) > 0 {
		return nil
	}
	p.lay(parts)
	p.key = p.identity()
	return p
}

// lay sets what the kind computes with.
func (p *Period) lay(from parts) {
	switch p.kind {
	case Daily:
		p.labels = calendar{step: day, origin: from.second}
	case Weekly:
		// 1970-01-05 was a Monday.
		p.labels = calendar{step: week, origin: (4+from.weekday)*day + from.second}
	case Monthly:
		p.labels = calendar{step: 1, inMonths: true, monthDay: from.monthDay, second: from.second}
	case Quarterly:
		p.labels = calendar{step: 3, inMonths: true, origin: from.month - 1, monthDay: from.monthDay, second: from.second}
	case Yearly:
		p.labels = calendar{step: 12, inMonths: true, origin: from.month - 1, monthDay: from.monthDay, second: from.second}
	case Cycle:
		p.layCycle(from)
	case Fixed:
		p.anchor, p.length = from.anchor.Unix(), from.length
	case FirstUse, Sliding:
		p.length = from.length
	default: // Hourly and Lifetime need no more than they have
	}
}

// layCycle counts labels from what the zone's clock showed at the anchor.
func (p *Period) layCycle(from parts) {
	p.anchored, p.anchor = true, from.anchor.Unix()
	civil := p.anchor + p.clock.offset(p.anchor)
	switch from.unit {
	case "Day":
		p.labels = calendar{step: from.every * day, origin: civil}
	case "Week":
		p.labels = calendar{step: from.every * week, origin: civil}
	default:
		p.labels = calendar{
			step: from.every, inMonths: true, origin: monthOf(civil),
			monthDay: int64(time.Unix(civil, 0).UTC().Day()), second: floorMod(civil, day),
		}
		if from.unit == "Year" {
			p.labels.step *= 12
		}
	}
}
