package period

import "time"

// Kind names a way in which windows follow one another. Kinds are
// case-sensitive.
type Kind string

// The kinds. The zone of a [Spec] matters to Hourly through Cycle; the others
// are elapsed time or plain instants, and ignore it.
const (
	// Hourly windows turn with the hour that the zone's wall clock shows.
	Hourly Kind = "Hourly"
	// Daily windows start at TimeOfDay of every date.
	Daily Kind = "Daily"
	// Weekly windows start at TimeOfDay of every WeekStart.
	Weekly Kind = "Weekly"
	// Monthly windows start on DayOfMonth, or on the last day of a shorter month.
	Monthly Kind = "Monthly"
	// Quarterly windows start on DayOfMonth of StartMonth and of every third
	// month from it.
	Quarterly Kind = "Quarterly"
	// Yearly windows start on DayOfMonth of StartMonth.
	Yearly Kind = "Yearly"
	// Cycle windows start every so many days, weeks, months or years, at the
	// wall-clock time and on the day of Anchor, before and after it.
	Cycle Kind = "Cycle"
	// Fixed windows are Duration long and count from Anchor in elapsed time: 30d
	// is 720 hours, whatever the clocks do.
	Fixed Kind = "Fixed"
	// FirstUse windows open at an admitted use and last Duration. Between two of
	// them there is none: see [Period.Resume].
	FirstUse Kind = "FirstUse"
	// Sliding is no window but a look-back: the Duration that ends now.
	Sliding Kind = "Sliding"
	// Lifetime is the one window from StartsAt to EndsAt.
	Lifetime Kind = "Lifetime"
)

// Spec is a period as a person writes it. The zero value of a field means that
// it was not written; a field that the Type has no use for is an error, since
// whoever wrote it expects it to do something.
type Spec struct {
	// Type is the kind of period. Required.
	Type Kind `json:"type"`

	// Timezone is a name of the IANA tz database such as "Europe/Berlin".
	// Empty means UTC.
	Timezone string `json:"timezone,omitempty"`

	// TimeOfDay is the wall-clock time, "HH:MM" from 00:00 to 23:59, at which
	// windows start. Daily, Weekly, Monthly, Quarterly, Yearly. Empty means 00:00.
	TimeOfDay string `json:"timeOfDay,omitempty"`

	// WeekStart is a day, Monday to Sunday. Weekly. Empty means Monday.
	WeekStart string `json:"weekStart,omitempty"`

	// DayOfMonth is 1 to 31; in a shorter month it is that month's last day.
	// Monthly, Quarterly, Yearly. Nil means 1.
	DayOfMonth *int32 `json:"dayOfMonth,omitempty"`

	// StartMonth is 1 (January) to 12. Quarterly, Yearly. Nil means 1.
	StartMonth *int32 `json:"startMonth,omitempty"`

	// Anchor is an instant, in whole seconds, at which a window starts. Cycle
	// (required) and Fixed (nil means 1970-01-01T00:00:00Z).
	Anchor *time.Time `json:"anchor,omitempty"`

	// Unit is Day, Week, Month or Year. Cycle (required).
	Unit string `json:"unit,omitempty"`

	// Every is how many units a window lasts, at least 1 and at most about a
	// century. Cycle. Nil means 1.
	Every *int32 `json:"every,omitempty"`

	// Duration is a whole number with one of the units s, m, h, d (24 hours) and
	// w (168 hours), from 60s to 3660d. Fixed, FirstUse, Sliding (required).
	Duration string `json:"duration,omitempty"`

	// StartsAt is the first instant of a Lifetime. Nil means that it has always
	// been open.
	StartsAt *time.Time `json:"startsAt,omitempty"`

	// EndsAt is the first instant after a Lifetime. Nil means that it never ends.
	EndsAt *time.Time `json:"endsAt,omitempty"`
}

// clone copies s and what its pointers point to.
func (s Spec) clone() Spec {
	s.DayOfMonth = copied(s.DayOfMonth)
	s.StartMonth = copied(s.StartMonth)
	s.Anchor = copied(s.Anchor)
	s.Every = copied(s.Every)
	s.StartsAt = copied(s.StartsAt)
	s.EndsAt = copied(s.EndsAt)
	return s
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
