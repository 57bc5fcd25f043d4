package period_test

import (
	"sort"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
)

// The oracle shares no formula with the package. It knows two things: what a
// zone's wall clock shows at an instant, and how to step through dates one by one.
// The clock's high-water mark decides which window an instant is in: a window has
// begun as soon as the clock has once shown its label or later.

// reading is what a wall clock shows, in seconds as if it ran on UTC.
func reading(u int64, zone *time.Location) int64 {
	_, offset := time.Unix(u, 0).In(zone).Zone()
	return u + int64(offset)
}

// A mark that is older than this no longer matters: no zone repeats more.
const lookBack = 32 * 3600

// sampling of a clock; labels and clock changes are at whole or half minutes.
const sample = 30

// highWater is the latest that the clock has shown up to u.
func highWater(u int64, zone *time.Location) int64 {
	high := reading(u, zone)
	for v := u - u%sample; v > u-lookBack; v -= sample {
		if v <= u {
			high = max(high, reading(v, zone))
		}
	}
	return high
}

// labelOf gives the latest label of the spec that is not after a reading, by
// stepping back from date to date.
func labelOf(t rapid.TB, spec period.Spec, civil int64, zone *time.Location) int64 {
	t.Helper()
	if spec.Type == period.Cycle {
		return cycleLabel(spec, civil, zone)
	}
	var second int64
	if spec.TimeOfDay != "" {
		at, err := time.Parse("15:04", spec.TimeOfDay)
		if err != nil {
			t.Fatal(err)
		}
		second = int64(at.Hour()*3600 + at.Minute()*60)
	}
	date := time.Unix(civil, 0).UTC().Truncate(24 * time.Hour)
	for range 400 {
		if label := date.Unix() + second; startsOn(spec, date) && label <= civil {
			return label
		}
		date = date.AddDate(0, 0, -1)
	}
	t.Fatalf("no label of %+v before %d", spec, civil)
	return 0
}

// startsOn says whether a window of the spec starts on a date.
func startsOn(spec period.Spec, date time.Time) bool {
	wanted, month := 1, 1
	if spec.DayOfMonth != nil {
		wanted = int(*spec.DayOfMonth)
	}
	if spec.StartMonth != nil {
		month = int(*spec.StartMonth)
	}
	tomorrow := date.AddDate(0, 0, 1)
	rightDay := date.Day() == wanted || date.Day() < wanted && tomorrow.Day() == 1
	months := int(date.Month()) - month + 12
	switch spec.Type {
	case period.Weekly:
		return date.Weekday().String() == spec.WeekStart || spec.WeekStart == "" && date.Weekday() == time.Monday
	case period.Monthly:
		return rightDay
	case period.Quarterly:
		return rightDay && months%3 == 0
	case period.Yearly:
		return rightDay && months%12 == 0
	}
	return true
}

// cycleLabel walks from the anchor, one interval at a time.
func cycleLabel(spec period.Spec, civil int64, zone *time.Location) int64 {
	origin := time.Unix(reading(spec.Anchor.Unix(), zone), 0).UTC()
	every := 1
	if spec.Every != nil {
		every = int(*spec.Every)
	}
	k := 0
	for cycleStep(origin, spec.Unit, k*every).Unix() > civil {
		k--
	}
	for cycleStep(origin, spec.Unit, (k+1)*every).Unix() <= civil {
		k++
	}
	return cycleStep(origin, spec.Unit, k*every).Unix()
}

// cycleStep adds units to a date and stays within the month that it aims at.
func cycleStep(origin time.Time, unit string, n int) time.Time {
	switch unit {
	case "Day":
		return origin.AddDate(0, 0, n)
	case "Week":
		return origin.AddDate(0, 0, 7*n)
	case "Year":
		n *= 12
	}
	first := origin.AddDate(0, 0, 1-origin.Day()).AddDate(0, n, 0)
	day := first.AddDate(0, 0, origin.Day()-1)
	for day.Month() != first.Month() {
		day = day.AddDate(0, 0, -1)
	}
	return day
}

// hourTurns says whether an hour starts at u.
func hourTurns(u int64, zone *time.Location) bool {
	now, before := reading(u, zone), reading(u-1, zone)
	return floor(now, 3600)*3600 == now || floor(now, 3600) > floor(before, 3600)
}

func floor(a, b int64) int64 {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// verify holds one window of a calendar kind against the oracle.
func verify(t rapid.TB, spec period.Spec, zone *time.Location, now time.Time, w period.Window) {
	t.Helper()
	start, end, u := w.Start.Unix(), w.End.Unix(), now.Unix()
	if u < start || end <= u {
		t.Fatalf("%+v at %s: %s does not hold it", spec, now, w)
	}
	if spec.Type == period.Hourly {
		if !hourTurns(start, zone) || !hourTurns(end, zone) {
			t.Fatalf("%+v at %s: no hour turns at a bound of %s", spec, now, w)
		}
		for v := start + 1; v < end; v++ {
			if hourTurns(v, zone) {
				t.Fatalf("%+v at %s: an hour turns at %d inside %s", spec, now, v, w)
			}
		}
		return
	}
	want := labelOf(t, spec, highWater(u, zone), zone)
	label := func(u int64) int64 { return labelOf(t, spec, highWater(u, zone), zone) }
	if label(start) != want || label(start-1) >= want || label(end-1) != want || label(end) <= want {
		t.Fatalf("%+v at %s: %s is not the window that the clock shows", spec, now, w)
	}
}

// boundaries walks the clock from one Unix second to another and gives the
// instants at which a window of the spec begins, except those of the first
// lookBack seconds, which only set the mark.
func boundaries(t rapid.TB, spec period.Spec, zone *time.Location, clock []int64, from int64) []int64 {
	t.Helper()
	if spec.Type == period.Hourly {
		return hourBoundaries(zone, clock, from)
	}
	origin := int64(0) // of the label's second of day
	if spec.Type == period.Cycle {
		origin = reading(spec.Anchor.Unix(), zone)
	} else if spec.TimeOfDay != "" {
		origin = labelOf(t, spec, clock[0], zone)
	}
	var found []int64
	high := clock[0]
	label := labelOf(t, spec, high, zone)
	for i := 1; i < len(clock); i++ {
		if clock[i] <= high {
			continue
		}
		sameDay := floor(clock[i]-origin, 86400) == floor(high-origin, 86400)
		high = clock[i]
		if sameDay {
			continue
		}
		next := labelOf(t, spec, high, zone)
		if next == label {
			continue
		}
		label = next
		if at := from + int64(i)*sample; at > from+lookBack {
			found = append(found, firstShown(at-sample, at, label, zone))
		}
	}
	return found
}

// firstShown steps by seconds to the first that shows the label or later.
func firstShown(after, upTo, label int64, zone *time.Location) int64 {
	for u := after + 1; u < upTo; u++ {
		if reading(u, zone) >= label {
			return u
		}
	}
	return upTo
}

func hourBoundaries(zone *time.Location, clock []int64, from int64) []int64 {
	var found []int64
	for i := lookBack/sample + 1; i < len(clock); i++ {
		if clock[i]-clock[i-1] == sample && floor(clock[i]-1, 3600) == floor(clock[i-1], 3600) && floor(clock[i], 3600)*3600 != clock[i] {
			continue
		}
		at := from + int64(i)*sample
		for u := at - sample + 1; u <= at; u++ {
			if hourTurns(u, zone) {
				found = append(found, u)
			}
		}
	}
	return found
}

// changes finds the Unix seconds at which a zone's offset changes, by sampling
// and bisection.
func changes(zone *time.Location, from, until, step int64) []int64 {
	var found []int64
	offset := func(u int64) int64 { return reading(u, zone) - u }
	for u := from; u < until; u += step {
		if offset(u) == offset(u+step) {
			continue
		}
		after := sort.Search(int(step), func(i int) bool { return offset(u+int64(i)) != offset(u) })
		found = append(found, u+int64(after))
	}
	return found
}
