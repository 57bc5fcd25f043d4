package period_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/bursar-dev/bursar/period"
)

// On March 8, 2026 Havana's clocks go from 23:59:59 to 01:00:00: the day has no
// midnight, and all the same each instant has one window.
func ExampleCompile() {
	p, err := period.Compile(period.Spec{Type: period.Daily, Timezone: "America/Havana"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p)
	for _, now := range []time.Time{
		time.Date(2026, time.March, 8, 4, 30, 0, 0, time.UTC),
		time.Date(2026, time.March, 8, 12, 0, 0, 0, time.UTC),
		time.Date(2026, time.March, 9, 3, 30, 0, 0, time.UTC),
	} {
		w, err := p.At(now)
		fmt.Println(now.Format(time.RFC3339), "is in", w, err)
	}
	// Output:
	// Daily from 00:00 America/Havana
	// 2026-03-08T04:30:00Z is in [2026-03-07T05:00:00Z, 2026-03-08T05:00:00Z) <nil>
	// 2026-03-08T12:00:00Z is in [2026-03-08T05:00:00Z, 2026-03-09T04:00:00Z) <nil>
	// 2026-03-09T03:30:00Z is in [2026-03-08T05:00:00Z, 2026-03-09T04:00:00Z) <nil>
}

// Every fault is reported, each with its field.
func ExampleCompile_faults() {
	_, err := period.Compile(period.Spec{
		Type:      period.Weekly,
		Timezone:  "Local",
		TimeOfDay: "24:00",
		Duration:  "7d",
	})
	for _, fault := range period.Errors(err) {
		fmt.Printf("spec.period.%s: %q\n", fault.Field, fault.Value)
	}
	fmt.Println(period.Errors(err)[1])
	fmt.Println(errors.Is(err, period.ErrUnknownTimezone))
	// Output:
	// spec.period.timezone: "Local"
	// spec.period.timeOfDay: "24:00"
	// spec.period.duration: "7d"
	// timeOfDay "24:00": write hours and minutes of a 24-hour clock as "HH:MM", from 00:00 to 23:59
	// true
}

// The week in which Berlin's clocks go back lasts an hour longer.
func ExamplePeriod_At() {
	p, err := period.Compile(period.Spec{Type: period.Weekly, WeekStart: "Monday", TimeOfDay: "09:00", Timezone: "Europe/Berlin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := p.At(time.Date(2024, time.October, 24, 12, 0, 0, 0, time.UTC))
	fmt.Println(p)
	fmt.Println(w, err)
	fmt.Println(w.End.Sub(w.Start))
	// Output:
	// Weekly from Monday 09:00 Europe/Berlin
	// [2024-10-21T07:00:00Z, 2024-10-28T08:00:00Z) <nil>
	// 169h0m0s
}

// A look-back ends at the instant that is asked about, and holds it.
func ExamplePeriod_At_sliding() {
	p, err := period.Compile(period.Spec{Type: period.Sliding, Duration: "24h"})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, time.March, 8, 12, 0, 0, 0, time.UTC)
	w, err := p.At(now)
	fmt.Println(p)
	fmt.Println(w, err)
	fmt.Println(w.Contains(now), w.Contains(now.Add(-24*time.Hour)))
	// Output:
	// last 24h
	// (2026-03-07T12:00:00Z, 2026-03-08T12:00:00Z] <nil>
	// true false
}

// A window of five hours opens at the first use, and the next one at the first
// use after it. The caller stores the window in between.
func ExamplePeriod_Resume() {
	p, err := period.Compile(period.Spec{Type: period.FirstUse, Duration: "5h"})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := func(hour, minute int) time.Time {
		return time.Date(2026, time.January, 1, hour, minute, 0, 0, time.UTC)
	}
	var stored period.Window
	for _, use := range []time.Time{at(11, 55), at(16, 54), at(18, 30)} {
		if stored, err = p.Resume(stored, use); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(use.Format("15:04"), stored)
	}
	_, err = p.Resume(stored, at(17, 0))
	fmt.Println(errors.Is(err, period.ErrNotOpen), err)
	// Output:
	// 11:55 [2026-01-01T11:55:00Z, 2026-01-01T16:55:00Z)
	// 16:54 [2026-01-01T11:55:00Z, 2026-01-01T16:55:00Z)
	// 18:30 [2026-01-01T18:30:00Z, 2026-01-01T23:30:00Z)
	// true now "2026-01-01T17:00:00Z": it lies before the window that opened at 2026-01-01T18:30:00Z
}

// A Cursor gives the answers of its period at the cost of two comparisons.
func ExampleNewCursor() {
	p, err := period.Compile(period.Spec{Type: period.Hourly, Timezone: "Asia/Kolkata"})
	if err != nil {
		fmt.Println(err)
		return
	}
	cursor := period.NewCursor(p)
	for minute := 20; minute < 50; minute += 10 {
		now := time.Date(2026, time.January, 1, 0, minute, 0, 0, time.UTC)
		w, err := cursor.At(now)
		fmt.Println(now.Format("15:04"), w, err)
	}
	// Output:
	// 00:20 [2025-12-31T23:30:00Z, 2026-01-01T00:30:00Z) <nil>
	// 00:30 [2026-01-01T00:30:00Z, 2026-01-01T01:30:00Z) <nil>
	// 00:40 [2026-01-01T00:30:00Z, 2026-01-01T01:30:00Z) <nil>
}
