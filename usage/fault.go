package usage

import (
	"fmt"
	"time"
)

// faults gathers what is wrong with a value. The empty list costs nothing.
type faults []error

func (f *faults) note(err error) {
	if err != nil {
		*f = append(*f, err)
	}
}

// The first and the last second that a period can be asked about.
const (
	firstSecond = -62135596800 // 0001-01-01T00:00:00Z
	lastSecond  = 253370764799 // 9998-12-31T23:59:59Z
)

// inRange reports whether a period can be asked about an instant.
func inRange(t time.Time) bool {
	s := t.Unix()
	return s >= firstSecond && s <= lastSecond && !t.IsZero()
}

// validateTime reports an instant that is missing or that no period and no
// JSON document can carry.
func validateTime(field string, t time.Time) error {
	switch {
	case inRange(t):
		return nil
	case t.IsZero():
		return fmt.Errorf("%s: required", field)
	default:
		return fmt.Errorf("%s: the year %d is outside 1 to 9998", field, t.UTC().Year())
	}
}

func validateOptionalTime(field string, t time.Time) error {
	if t.IsZero() {
		return nil
	}
	return validateTime(field, t)
}
