package period_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
)

// bruteZones are zones in which every known trouble happens: days without a
// midnight to the west and to the east of Greenwich, midnights shown twice, dates
// that run backwards or are left out, changes of 15, 20, 30 and 120 minutes, odd
// seconds, rules without a table.
var bruteZones = []string{
	"Africa/Cairo", "Africa/Casablanca", "Africa/Monrovia", "America/Asuncion", "America/Caracas", "America/Ciudad_Juarez", "America/Goose_Bay",
	"America/Havana", "America/Santiago", "America/Sao_Paulo", "America/St_Johns", "Antarctica/Casey", "Antarctica/Troll",
	"Asia/Amman", "Asia/Beirut", "Asia/Kathmandu", "Asia/Pyongyang", "Atlantic/Azores", "Australia/Lord_Howe",
	"Europe/Berlin", "Pacific/Apia", "Pacific/Kiritimati", "Pacific/Kwajalein",
}

// bruteSpecs reach every kind that looks at a zone, and a boundary in the hours
// in which clocks change.
func bruteSpecs(t rapid.TB, zone string) []period.Spec {
	anchor := instant(t, "2000-01-31T12:10:30Z")
	return []period.Spec{
		{Type: period.Hourly, Timezone: zone},
		{Type: period.Daily, Timezone: zone},
		{Type: period.Daily, Timezone: zone, TimeOfDay: "02:30"},
		{Type: period.Weekly, Timezone: zone, WeekStart: "Sunday"},
		{Type: period.Monthly, Timezone: zone},
		{Type: period.Monthly, Timezone: zone, DayOfMonth: new(int32(31)), TimeOfDay: "01:00"},
		{Type: period.Quarterly, Timezone: zone, DayOfMonth: new(int32(30)), StartMonth: new(int32(3))},
		{Type: period.Yearly, Timezone: zone, StartMonth: new(int32(4))},
		{Type: period.Cycle, Timezone: zone, Anchor: &anchor, Unit: "Day", Every: new(int32(2))},
		{Type: period.Cycle, Timezone: zone, Anchor: &anchor, Unit: "Month"},
	}
}

func TestEveryWindowAroundEveryClockChangeIsWhatTheClockShows(t *testing.T) {
	zones, step := bruteZones, int64(6*3600)
	if exhaustive() {
		zones, step = zoneNames(t), 1800
	}
	from, until := instant(t, "1970-01-01T00:00:00Z").Unix(), instant(t, "2038-01-01T00:00:00Z").Unix()
	checked := 0
	for _, name := range zones {
		zone, err := pinnedZone(name)
		if err != nil {
			t.Fatal(err)
		}
		found := changes(zone, from, until, step)
		if !exhaustive() {
			found = thin(found, 10)
		}
		for _, at := range found {
			checked += bruteForce(t, name, zone, at)
		}
	}
	if checked < 100*len(bruteZones) {
		t.Errorf("only %d windows were checked", checked)
	}
	t.Logf("%d zones, %d windows", len(zones), checked)
}

// thin keeps about most of the changes, spread over all of them.
func thin(changes []int64, most int) []int64 {
	if len(changes) <= most {
		return changes
	}
	var kept []int64
	for i := range most {
		kept = append(kept, changes[i*(len(changes)-1)/(most-1)])
	}
	return kept
}

// bruteForce walks the clock for 60 hours to both sides of a change, and gives
// the number of windows that it held against what it saw.
func bruteForce(t *testing.T, name string, zone *time.Location, change int64) int {
	t.Helper()
	const reach = 60 * 3600
	from := (change - reach - lookBack) / sample * sample
	clock := make([]int64, (2*reach+lookBack)/sample)
	for i := range clock {
		clock[i] = reading(from+int64(i)*sample, zone)
	}
	checked := 0
	for _, spec := range bruteSpecs(t, name) {
		p := compile(t, spec)
		edges := boundaries(t, spec, zone, clock, from)
		for i, edge := range edges {
			checkEdge(t, p, edge)
			if i == 0 {
				continue
			}
			before := edges[i-1]
			for _, u := range []int64{before, before + 1, (before + edge) / 2, edge - 1} {
				w, err := p.At(time.Unix(u, 0))
				if err != nil || w.Start.Unix() != before || w.End.Unix() != edge {
					t.Fatalf("%s at %d: got %s, %v, want [%d, %d)", p, u, w, err, before, edge)
				}
			}
			checked++
		}
	}
	return checked
}

// checkEdge demands that one window ends and another begins at an instant.
func checkEdge(t *testing.T, p *period.Period, edge int64) {
	t.Helper()
	at := time.Unix(edge, 0)
	after, err := p.At(at)
	before, errBefore := p.At(at.Add(-1))
	if err != nil || errBefore != nil || !after.Start.Equal(at) || !before.End.Equal(at) {
		t.Fatalf("%s: at %d the windows %s (%v) and %s (%v) meet, they do not", p, edge, before, errBefore, after, err)
	}
}

// No zone may trip over a year's end, with and without a rule instead of a table
// (https://github.com/golang/go/issues/81583).
func TestWindowsTileOverTheEndOfEveryKindOfYear(t *testing.T) {
	zones := bruteZones
	years := []int{1972, 2000, 2008, 2037, 2040, 2096, 2100, 2400}
	if exhaustive() {
		zones = zoneNames(t)
	}
	for _, name := range zones {
		for _, spec := range bruteSpecs(t, name) {
			p := compile(t, spec)
			for _, year := range years {
				now := time.Date(year, 12, 30, 7, 30, 0, 0, time.UTC)
				for now.Before(time.Date(year+1, 1, 2, 0, 0, 0, 0, time.UTC)) {
					w, err := p.At(now)
					if err != nil || !w.Contains(now) {
						t.Fatalf("%s at %s: %s, %v", p, now, w, err)
					}
					checkEdge(t, p, w.End.Unix())
					now = w.End
				}
			}
		}
	}
}
