package period

import "time"

// Civil seconds are a wall clock's reading, counted as if the clock ran on UTC.
// They carry no offset: turning them into an instant is the boundary's business.

const (
	hour = int64(60 * 60)
	day  = 24 * hour
	week = 7 * day
)

// calendar lays labels, numbered by k, on the civil line. Labels rise with k.
type calendar struct {
	// step is the distance of two labels: months if inMonths, else seconds.
	step     int64
	inMonths bool
	// origin is label 0: its month number if inMonths, else its civil second.
	origin int64
	// monthDay and second are the day and second of day of a label, if inMonths.
	monthDay, second int64
}

// label gives the civil second of label k. The day is clamped to the month's
// length, from the anchor's day each time, so that no clamp ever sticks.
func (c calendar) label(k int64) int64 {
	if !c.inMonths {
		return c.origin + k*c.step
	}
	m := c.origin + k*c.step
	first := monthStart(m)
	length := (monthStart(m+1) - first) / day
	return first + (min(c.monthDay, length)-1)*day + c.second
}

// index gives the largest k whose label is not after the civil second.
func (c calendar) index(civil int64) int64 {
	if !c.inMonths {
		return floorDiv(civil-c.origin, c.step)
	}
	k := floorDiv(monthOf(civil)-c.origin, c.step)
	if c.label(k) > civil {
		k-- // later in this month
	}
	return k
}

// longest gives the largest distance, in civil seconds, of two labels that
// follow one another. The calendar repeats after 400 years.
func (c calendar) longest() int64 {
	if !c.inMonths {
		return c.step
	}
	most, last := int64(0), c.label(0)
	for k := int64(1); k <= 400*12; k++ {
		next := c.label(k)
		most, last = max(most, next-last), next
	}
	return most
}

// monthOf numbers the month of a civil second: year * 12 + month, from 0.
func monthOf(civil int64) int64 {
	year, month, _ := time.Unix(civil, 0).UTC().Date()
	return int64(year)*12 + int64(month) - 1
}

// monthStart gives the civil second at which month m starts. UTC has no gaps, so
// that time.Date is only the calendar here.
func monthStart(m int64) int64 {
	year := floorDiv(m, 12)
	return time.Date(int(year), time.Month(m-year*12+1), 1, 0, 0, 0, 0, time.UTC).Unix()
}

// floorDiv divides towards minus infinity; b is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// floorMod is the remainder that belongs to floorDiv: never negative.
func floorMod(a, b int64) int64 {
	return a - floorDiv(a, b)*b
}
