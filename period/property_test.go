package period_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
)

var tilingKinds = []period.Kind{
	period.Hourly, period.Daily, period.Weekly, period.Monthly, period.Quarterly, period.Yearly, period.Cycle, period.Fixed,
}

var weekdays = []string{"", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

func optional[T any](t *rapid.T, g *rapid.Generator[T], label string) *T {
	return rapid.Ptr(g, true).Draw(t, label)
}

// drawSpec draws a valid spec of a kind whose windows tile the line.
func drawSpec(t *rapid.T, zones []string) period.Spec {
	spec := period.Spec{
		Type:     rapid.SampledFrom(tilingKinds).Draw(t, "kind"),
		Timezone: rapid.SampledFrom(append([]string{"", "UTC"}, zones...)).Draw(t, "zone"),
	}
	times := rapid.StringMatching(`([01][0-9]|2[0-3]):[0-5][0-9]`)
	switch spec.Type {
	case period.Hourly:
		return spec
	case period.Cycle, period.Fixed:
		anchor := time.Unix(rapid.Int64Range(-4e9, 8e9).Draw(t, "anchor"), 0)
		spec.Anchor = &anchor
		if spec.Type == period.Fixed {
			spec.Duration = rapid.SampledFrom([]string{"60s", "7m", "5h", "30d", "1w", "3660d"}).Draw(t, "duration")
			return spec
		}
		spec.Unit = rapid.SampledFrom([]string{"Day", "Week", "Month", "Year"}).Draw(t, "unit")
		spec.Every = optional(t, rapid.Int32Range(1, 100), "every")
		return spec
	}
	spec.TimeOfDay = rapid.OneOf(rapid.Just(""), times).Draw(t, "timeOfDay")
	if spec.Type == period.Weekly {
		spec.WeekStart = rapid.SampledFrom(weekdays).Draw(t, "weekStart")
	}
	if slices.Contains([]period.Kind{period.Monthly, period.Quarterly, period.Yearly}, spec.Type) {
		spec.DayOfMonth = optional(t, rapid.Int32Range(1, 31), "dayOfMonth")
	}
	if spec.Type == period.Quarterly || spec.Type == period.Yearly {
		spec.StartMonth = optional(t, rapid.Int32Range(1, 12), "startMonth")
	}
	return spec
}

// drawNow draws an instant: mostly of our time, rarely of any year that fits.
func drawNow(t *rapid.T, label string) time.Time {
	seconds := rapid.OneOf(
		rapid.Int64Range(0, 2145916800),
		rapid.Int64Range(-4102444800, 4102444800),
		rapid.Int64Range(-58979923200, 249902000000), // years 101 to 9888, for cycles of a century
	).Draw(t, label)
	return time.Unix(seconds, rapid.Int64Range(0, 999999999).Draw(t, label+" nanoseconds"))
}

func at(t rapid.TB, p *period.Period, now time.Time) period.Window {
	t.Helper()
	w, err := p.At(now)
	if err != nil {
		t.Fatalf("%s at %s: %v", p, now, err)
	}
	return w
}

func TestWindowsTileTheLine(t *testing.T) {
	zones := zoneNames(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := compile(rt, drawSpec(rt, zones))
		now := drawNow(rt, "now")
		w := at(rt, p, now)
		if !w.Contains(now) || !w.Start.Before(w.End) {
			rt.Fatalf("%s: %s does not hold %s", p, w, now)
		}
		middle := w.Start.Add(w.End.Sub(w.Start) / 2)
		for _, inside := range []time.Time{w.Start, middle, w.End.Add(-1)} {
			if again := at(rt, p, inside); again != w {
				rt.Fatalf("%s: %s holds %s, whose window is %s", p, w, inside, again)
			}
		}
		if next := at(rt, p, w.End); next.Start != w.End {
			rt.Fatalf("%s: %s is followed by %s", p, w, next)
		}
		if before := at(rt, p, w.Start.Add(-1)); before.End != w.Start {
			rt.Fatalf("%s: %s follows %s", p, w, before)
		}
	})
}

func TestLaterInstantsHaveNoEarlierWindow(t *testing.T) {
	zones := zoneNames(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := compile(rt, drawSpec(rt, zones))
		first := drawNow(rt, "first")
		second := first.Add(time.Duration(rapid.Int64Range(0, int64(80*time.Hour)).Draw(rt, "later")))
		a, b := at(rt, p, first), at(rt, p, second)
		if b.Start.Before(a.Start) || b.Start.Equal(a.Start) != (a == b) {
			rt.Fatalf("%s: %s at %s, then %s at %s", p, a, first, b, second)
		}
	})
}

func TestNoWindowSince1970IsLongerThanLongest(t *testing.T) {
	zones := zoneNames(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := compile(rt, drawSpec(rt, zones))
		w := at(rt, p, drawNow(rt, "now"))
		longest, bounded := p.Longest()
		if !bounded {
			rt.Fatalf("%s has no bound", p)
		}
		if got := w.End.Sub(w.Start); got > longest && w.Start.Unix() >= 0 {
			rt.Fatalf("%s: %s lasts %s, longest is %s", p, w, got, longest)
		}
	})
}

func TestNextIsTheWindowsEnd(t *testing.T) {
	zones := zoneNames(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := compile(rt, drawSpec(rt, zones))
		now := drawNow(rt, "now")
		next, err := p.Next(now)
		w := at(rt, p, now)
		if left := next.Sub(now); err != nil || next != w.End || left <= 0 || left > w.End.Sub(w.Start) {
			rt.Fatalf("%s: %s after %s, %v; the window is %s", p, next, now, err, w)
		}
	})
}

// One instant has one window, however it is written.
func TestOnlyTheInstantMatters(t *testing.T) {
	zones := zoneNames(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := compile(rt, drawSpec(rt, zones))
		now := drawNow(rt, "now")
		elsewhere, err := pinnedZone(rapid.SampledFrom(zones).Draw(rt, "elsewhere"))
		if err != nil {
			rt.Fatal(err)
		}
		want := at(rt, p, now)
		for _, same := range []time.Time{now.UTC(), now.In(elsewhere), now.Truncate(time.Second)} {
			if got := at(rt, p, same); got != want {
				rt.Fatalf("%s: %s at %s, %s at %s", p, want, now, got, same)
			}
		}
	})
}

func TestAReadingOfAMonotonicClockDoesNotMatter(t *testing.T) {
	now := time.Now()
	for _, spec := range []period.Spec{
		{Type: period.Daily, Timezone: "Europe/Berlin"}, {Type: period.Fixed, Duration: "5h"}, {Type: period.Sliding, Duration: "24h"},
	} {
		p := compile(t, spec)
		if with, without := at(t, p, now), at(t, p, now.Round(0)); with != without {
			t.Errorf("%s: %v with, %v without", p, with, without)
		}
	}
	p := compile(t, period.Spec{Type: period.FirstUse, Duration: "5h"})
	with, err := p.Resume(period.Window{}, now)
	without, errWithout := p.Resume(period.Window{}, now.Round(0).UTC())
	if with != without || err != nil || errWithout != nil {
		t.Errorf("%s: %v (%v) with, %v (%v) without", p, with, err, without, errWithout)
	}
}

func TestWindowsAreWhatTheClockShows(t *testing.T) {
	zones := zoneNames(t)
	rapid.Check(t, func(rt *rapid.T) {
		spec := drawSpec(rt, zones)
		if spec.Type == period.Fixed || spec.Type == period.Cycle {
			spec = period.Spec{Type: period.Daily, Timezone: spec.Timezone}
		}
		p := compile(rt, spec)
		zone, err := pinnedZone(or(spec.Timezone, "UTC"))
		if err != nil {
			rt.Fatal(err)
		}
		now := time.Unix(rapid.Int64Range(0, 4102444800).Draw(rt, "now"), 0)
		verify(rt, spec, zone, now, at(rt, p, now))
	})
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
