package period_test

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar-dev/bursar/period"
)

func TestEveryNameOfTheDatabaseIsAccepted(t *testing.T) {
	names := zoneNames(t)
	if len(names) != 597 {
		t.Fatalf("the pinned data has %d zones", len(names))
	}
	for _, name := range names {
		p := compile(t, daily(name))
		if got := p.Spec().Timezone; got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
}

func TestNamesThatNoManifestMayUse(t *testing.T) {
	everything := func(string) (*time.Location, error) { return time.FixedZone("any", 3600), nil }
	for _, name := range []string{
		"Local", "local", "LOCAL", "localtime", "Localtime", "posixrules", "Factory", "factory", "right/UTC", "Right/UTC", "posix/UTC",
		"posix/Europe/Berlin", "America//New_York", "./America/New_York", "America/./New_York", "../UTC", "America/../UTC", "/UTC",
		`\UTC`, "UTC/", "America/New_York/", "UTC+3:30", "UTC ", " UTC", "U TC", "UTC\x00", "UTC\n", "+03:00", "-05", "05:30", "3", "_UTC",
		"EST5EDT,M3.2.0,M11.1.0", "<+03>-3", "zone.tab", "Europe/Berlín", "Europe\\Berlin", "\xff", "C:UTC", "~", "*",
		strings.Repeat("A", 65), strings.Repeat("A/", 1<<19), "UTC" + strings.Repeat("/A", 31),
	} {
		p, err := period.Compile(daily(name), period.WithZones(everything))
		found := period.Errors(err)
		if p != nil || len(found) != 1 || found[0].Field != "timezone" || !errors.Is(err, period.ErrUnknownTimezone) {
			t.Errorf("%.30q: %v, %.200v", name, p, err)
		}
	}
	for _, name := range []string{strings.Repeat("A", 64), "Etc/GMT+3", "Localhost", "Europe/Local", "America/Argentina/Buenos_Aires"} {
		if _, err := period.Compile(daily(name), period.WithZones(everything)); err != nil {
			t.Errorf("%s is admissible: %v", name, err)
		}
	}
}

func TestUTCNeedsNoZoneData(t *testing.T) {
	for _, name := range []string{"", "UTC"} {
		if _, err := period.Compile(daily(name), period.WithZones(noZones)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func noZones(name string) (*time.Location, error) {
	return nil, errors.New("unknown time zone " + name)
}

func TestMissingDataIsNotAnUnknownZone(t *testing.T) {
	for name, c := range map[string]struct {
		source period.ZoneSource
		is     error
		isNot  error
	}{
		"a source that knows nothing":         {noZones, period.ErrNoTZData, period.ErrUnknownTimezone},
		"a source that gives nil for success": {func(string) (*time.Location, error) { return nil, nil }, period.ErrNoTZData, period.ErrUnknownTimezone},
		"a source that knows other zones":     {pinnedZone, period.ErrUnknownTimezone, period.ErrNoTZData},
		"a source that knows one probe": {func(name string) (*time.Location, error) {
			if name == "Asia/Tokyo" {
				return time.FixedZone(name, 9*3600), nil
			}
			return nil, nil
		}, period.ErrUnknownTimezone, period.ErrNoTZData},
		"no source, so the default": {nil, period.ErrUnknownTimezone, period.ErrNoTZData},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := period.Compile(daily("Europe/Atlantis"), period.WithZones(c.source), nil)
			if !errors.Is(err, c.is) || errors.Is(err, c.isNot) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTheDefaultSourceIsSafeForConcurrentUse(t *testing.T) {
	var group sync.WaitGroup
	want := window(t, "2024-07-01T04:00:00Z", "2024-07-02T04:00:00Z")
	for range 16 {
		group.Go(func() {
			p, err := period.Compile(daily("America/New_York"))
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := p.At(want.Start); got != want || err != nil {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	group.Wait()
}

// A container without zone files must work: the package links the data in.
func TestTheDatabaseIsLinkedIn(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range parsed.Imports {
			if path, _ := strconv.Unquote(imported.Path.Value); path == "time/tzdata" {
				return
			}
		}
	}
	t.Error("nothing imports time/tzdata")
}

// shift is a clock change of made-up zone data.
type shift struct {
	at     int64
	offset int32
}

// zoneOf builds a location whose clock is set as told, in TZif (RFC 9636).
func zoneOf(t testing.TB, first int32, shifts ...shift) *time.Location {
	t.Helper()
	loc, err := time.LoadLocationFromTZData("Made/Up", tzif(first, shifts...))
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func tzif(first int32, shifts ...shift) []byte {
	number := func(data []byte, n int32) []byte {
		return append(data, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	data := append([]byte("TZif"), make([]byte, 16)...)
	for _, count := range []int{0, 0, 0, len(shifts), len(shifts) + 1, 1} {
		data = number(data, int32(count))
	}
	for _, s := range shifts {
		data = number(data, int32(s.at))
	}
	for i := range shifts {
		data = append(data, byte(i+1))
	}
	for _, offset := range append([]shift{{0, first}}, shifts...) {
		data = append(number(data, offset.offset), 0, 0)
	}
	return append(data, 0)
}

// Zone data that no clock can have is an error, and never an answer or a hang.
func TestZoneDataThatCannotBeRight(t *testing.T) {
	now := instant(t, "2026-01-10T12:30:30Z")
	var flutter, stuck []shift
	for i := range int64(120) {
		flutter = append(flutter, shift{now.Unix() + (i-60)*1200, int32(i%2) * 60})
		stuck = append(stuck, shift{now.Unix() + (i-60)*60, int32(60-i) * 60})
	}
	for name, c := range map[string]struct {
		zone *time.Location
		kind period.Kind
	}{
		"a clock 30 hours ahead":                {time.FixedZone("X", 30*3600), period.Daily},
		"a clock 30 hours behind":               {time.FixedZone("X", -30*3600), period.Monthly},
		"a clock a lifetime ahead":              {time.FixedZone("X", 1<<31-1), period.Daily},
		"hours of a clock 30 hours ahead":       {time.FixedZone("X", 30*3600), period.Hourly},
		"a clock that will be 30 hours ahead":   {zoneOf(t, 0, shift{now.Unix() + 3600, 30 * 3600}), period.Daily},
		"a clock that was 30 hours ahead":       {zoneOf(t, 30*3600, shift{now.Unix() - 3600, 0}), period.Daily},
		"a clock that changes every 20 minutes": {zoneOf(t, 0, flutter...), period.Daily},
		"a clock that stands still":             {zoneOf(t, 0, stuck...), period.Hourly},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := period.Compile(period.Spec{Type: c.kind, Timezone: "Made/Up"},
				period.WithZones(func(string) (*time.Location, error) { return c.zone, nil }))
			if err != nil {
				t.Fatal(err)
			}
			if w, err := p.At(now); !errors.Is(err, period.ErrOutOfRange) || period.Errors(err)[0].Field != "timezone" {
				t.Errorf("got %s, %v", w, err)
			}
		})
	}
}
