package period_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bursar-dev/bursar/period"
)

// FuzzCompile demands of any spec: no panic, a period or faults, and that each
// fault names a field and is fit to print.
func FuzzCompile(f *testing.F) {
	f.Add("Daily", "America/Havana", "00:00", "", int32(0), int32(0), int64(0), "", int32(0), "", int64(0), int64(0), uint8(0))
	f.Add("Cycle", "UTC", "", "", int32(0), int32(0), int64(1706697000), "Month", int32(1), "", int64(0), int64(0), uint8(12))
	f.Add("Yearly", "Asia/Kolkata", "24:00", "monday", int32(31), int32(13), int64(1), "Day", int32(-1), "5h", int64(5), int64(4), uint8(255))
	f.Add("Lifetime", "right/UTC", "\xff", "", int32(0), int32(0), int64(-1<<63), "", int32(0), "1.5h", int64(1<<62), int64(-62135596800), uint8(48))
	f.Fuzz(func(t *testing.T, kind, zone, timeOfDay, weekStart string, day, month int32, anchor int64, unit string, every int32,
		duration string, startsAt, endsAt int64, given uint8) {
		spec := period.Spec{Type: period.Kind(kind), Timezone: zone, TimeOfDay: timeOfDay, WeekStart: weekStart, Unit: unit, Duration: duration}
		at := func(seconds int64) *time.Time { return new(time.Unix(seconds, 0)) }
		for i, set := range []func(){
			func() { spec.DayOfMonth = &day }, func() { spec.StartMonth = &month }, func() { spec.Anchor = at(anchor) },
			func() { spec.Every = &every }, func() { spec.StartsAt = at(startsAt) }, func() { spec.EndsAt = at(endsAt) },
		} {
			if given>>i&1 == 1 {
				set()
			}
		}
		p, err := period.Compile(spec, period.WithZones(pinnedZone))
		if (p == nil) != (err != nil) {
			t.Fatalf("%v and %v", p, err)
		}
		for _, e := range period.Errors(err) {
			if e.Field == "" || e.Reason == "" || !utf8.ValidString(e.Error()) || len(e.Error()) > 1000 {
				t.Fatalf("%q", e.Error())
			}
		}
		if err == nil && (p.String() == "" || p.Key() == "" || p.Kind() != spec.Type) {
			t.Fatalf("%q, %q", p, p.Key())
		}
		probe(t, p, time.Unix(startsAt, 0))
	})
}

// probe asks a period about an instant: an answer that holds it, or an error.
func probe(t *testing.T, p *period.Period, now time.Time) {
	t.Helper()
	w, err := p.At(now)
	if err == nil && !w.Contains(now) || err != nil && (w != period.Window{} || len(period.Errors(err)) != 1) {
		t.Fatalf("%s at %s: %s, %v", p, now, w, err)
	}
	if next, err := p.Next(now); err == nil && !next.After(now) {
		t.Fatalf("%s after %s: %s", p, now, next)
	}
	p.Longest()
}

// FuzzAt holds windows of 1970 to 2100 against the oracle, and those of other
// years against the laws.
func FuzzAt(f *testing.F) {
	f.Add(uint16(142), uint8(1), uint16(0), int32(0), int64(1772944200), int64(0))
	f.Add(uint16(470), uint8(0), uint16(0), int32(0), int64(2240740800), int64(1))
	f.Add(uint16(300), uint8(3), uint16(90), int32(31), int64(-62135596799), int64(999999999))
	f.Add(uint16(595), uint8(6), uint16(1439), int32(-1), int64(253370764799), int64(5))
	f.Fuzz(func(t *testing.T, zone uint16, kind uint8, minute uint16, number int32, seconds, nanoseconds int64) {
		names := zoneNames(t)
		spec := fuzzSpec(tilingKinds[int(kind)%len(tilingKinds)], names[int(zone)%len(names)], int(minute)%1440, number)
		p := compile(t, spec)
		now := time.Unix(seconds, nanoseconds&(1<<29-1))
		probe(t, p, now)
		w, err := p.At(now)
		if err != nil {
			return
		}
		checkNeighbours(t, p, w)
		if spec.Type != period.Fixed && spec.Type != period.Cycle && 0 < seconds && seconds < 4102444800 {
			loc, err := pinnedZone(spec.Timezone)
			if err != nil {
				t.Fatal(err)
			}
			verify(t, spec, loc, now, w)
		}
	})
}

func fuzzSpec(kind period.Kind, zone string, minute int, number int32) period.Spec {
	spec := period.Spec{Type: kind, Timezone: zone}
	positive := number&0x7fffffff - number&0x7fffffff/100*100 + 1 // 1 to 100
	switch kind {
	case period.Hourly:
		return spec
	case period.Fixed:
		spec.Duration = "97m"
		return spec
	case period.Cycle:
		spec.Unit = []string{"Day", "Week", "Month", "Year"}[minute%4]
		spec.Every = &positive
		spec.Anchor = new(time.Unix(int64(number), 0))
		return spec
	case period.Weekly:
		spec.WeekStart = weekdays[positive%8]
	case period.Monthly, period.Quarterly, period.Yearly:
		spec.DayOfMonth = new(positive%31 + 1)
	}
	if kind == period.Quarterly || kind == period.Yearly {
		spec.StartMonth = new(positive%12 + 1)
	}
	spec.TimeOfDay = time.Unix(int64(minute)*60, 0).UTC().Format("15:04")
	return spec
}

// checkNeighbours demands that the windows on both sides touch w, or that they
// are out of range.
func checkNeighbours(t *testing.T, p *period.Period, w period.Window) {
	t.Helper()
	if next, err := p.At(w.End); err == nil && next.Start != w.End {
		t.Fatalf("%s: %s is followed by %s", p, w, next)
	}
	if last, err := p.At(w.End.Add(-1)); err == nil && last != w {
		t.Fatalf("%s: %s ends as %s", p, w, last)
	}
	if before, err := p.At(w.Start.Add(-1)); err == nil && before.End != w.Start {
		t.Fatalf("%s: %s follows %s", p, w, before)
	}
}

var (
	zonePattern     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)
	durationPattern = regexp.MustCompile(`^[1-9]\d{0,8}[smhdw]$`)
	timePattern     = regexp.MustCompile(`^([01]\d|2[0-3]):[0-5]\d$`)
)

// FuzzTimezone demands that exactly the names of the rule reach the source, and
// that UTC does not.
func FuzzTimezone(f *testing.F) {
	for _, seed := range []string{"", "UTC", "Europe/Berlin", "Local", "LOCALTIME", "right/UTC", "a//b", "../x", "UTC+3", "\xff", "Etc/GMT+3", "a/", "posix"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		asked := ""
		_, err := period.Compile(daily(name), period.WithZones(func(name string) (*time.Location, error) {
			asked = name
			return time.UTC, nil
		}))
		lower := strings.ToLower(name)
		first, _, _ := strings.Cut(lower, "/")
		banned := first == "local" || first == "localtime" || first == "posixrules" || first == "factory" ||
			strings.HasPrefix(lower, "right/") || strings.HasPrefix(lower, "posix/")
		want := name == "" || len(name) <= 64 && zonePattern.MatchString(name) && !banned
		if (err == nil) != want || err != nil && !errors.Is(err, period.ErrUnknownTimezone) {
			t.Fatalf("%q: %v, want acceptance %t", name, err, want)
		}
		if reaches := want && name != "" && name != "UTC"; (asked == name) != reaches && name != "" {
			t.Fatalf("%q: the source was asked for %q", name, asked)
		}
	})
}

// FuzzDuration holds the parser against the pattern of the rule.
func FuzzDuration(f *testing.F) {
	for _, seed := range []string{"5h", "60s", "59s", "3660d", "3661d", "999999999w", "0h", "-5h", "1.5h", "5", "h", "", "1000000000s", "५h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := period.Compile(period.Spec{Type: period.Fixed, Duration: text})
		if err == nil && !durationPattern.MatchString(text) {
			t.Fatalf("%q was accepted", text)
		}
		if d, _ := p.Longest(); err == nil && (d < time.Minute || d > 3660*24*time.Hour || d%time.Second != 0) {
			t.Fatalf("%q is %s", text, d)
		}
	})
}

// FuzzTimeOfDay holds the parser against the pattern of the rule, and what it
// reads against the time package.
func FuzzTimeOfDay(f *testing.F) {
	for _, seed := range []string{"00:00", "23:59", "24:00", "9:00", "09:60", "09-00", "+9:00", "", "09:00 ", "٠٩:٠٠"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := period.Compile(period.Spec{Type: period.Daily, TimeOfDay: text})
		if want := text == "" || timePattern.MatchString(text); (err == nil) != want {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil || text == "" {
			return
		}
		w, err := p.At(time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC))
		if got := w.Start.Format("15:04:05"); got != text+":00" || err != nil {
			t.Fatalf("%q starts at %s, %v", text, got, err)
		}
	})
}

// FuzzZoneData demands that any zone data that the time package accepts gives an
// answer or an error, in bounded time.
func FuzzZoneData(f *testing.F) {
	f.Add(tzif(0), uint8(0), int64(0))
	f.Add(tzif(-3600, shift{1767225600, 30 * 3600}, shift{1767229200, -1 << 31}), uint8(1), int64(1767225600))
	f.Add(tzif(60, shift{1767225600, 0}, shift{1767225601, 60}, shift{1767225602, 0}), uint8(0), int64(1767225601))
	f.Fuzz(func(t *testing.T, data []byte, kind uint8, seconds int64) {
		loc, err := time.LoadLocationFromTZData("Made/Up", data)
		if err != nil {
			return
		}
		spec := fuzzSpec(tilingKinds[int(kind)%len(tilingKinds)], "Made/Up", 0, 0)
		p, err := period.Compile(spec, period.WithZones(func(string) (*time.Location, error) { return loc, nil }))
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(seconds, 0)
		if w, err := p.At(now); err == nil && !w.Contains(now) {
			t.Fatalf("%s at %s: %s", p, now, w)
		}
	})
}
