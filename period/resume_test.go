package period_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
)

// onOffset compiles a spec on zone data in which the only zone never changes.
func onOffset(t rapid.TB, spec period.Spec, seconds int) *period.Period {
	t.Helper()
	spec.Timezone = "Made/Up"
	p, err := period.Compile(spec, period.WithZones(func(name string) (*time.Location, error) {
		return time.FixedZone(name, seconds), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// In 2024 Paraguay did away with winter time: tz data of 2024a and of 2025c put
// June's end an hour apart.
func TestResumeStitchesWindowsWhenZoneDataChanges(t *testing.T) {
	june := window(t, "2026-06-01T04:00:00Z", "2026-07-01T04:00:00Z") // as of 2024a
	early := window(t, "2026-06-01T02:00:00Z", "2026-07-01T02:00:00Z")
	p := compile(t, period.Spec{Type: period.Monthly, Timezone: "America/Asuncion"})
	for name, c := range map[string]struct {
		prev       period.Window
		now        string
		start, end string
	}{
		"nothing is stored: the data's own window":             {period.Window{}, "2026-07-01T03:30:00Z", "2026-07-01T03:00:00Z", "2026-08-01T03:00:00Z"},
		"what is stored holds now: it stays":                   {june, "2026-07-01T03:30:00Z", "2026-06-01T04:00:00Z", "2026-07-01T04:00:00Z"},
		"its last nanosecond: it stays":                        {june, "2026-07-01T03:59:59.999999999Z", "2026-06-01T04:00:00Z", "2026-07-01T04:00:00Z"},
		"its end: the next one begins late":                    {june, "2026-07-01T04:00:00Z", "2026-07-01T04:00:00Z", "2026-08-01T03:00:00Z"},
		"the last nanosecond of the next one":                  {june, "2026-08-01T02:59:59.999999999Z", "2026-07-01T04:00:00Z", "2026-08-01T03:00:00Z"},
		"one further: the data's own window":                   {june, "2026-08-01T03:00:00Z", "2026-08-01T03:00:00Z", "2026-09-01T03:00:00Z"},
		"much later: the data's own window":                    {june, "2026-12-24T00:00:00Z", "2026-12-01T03:00:00Z", "2027-01-01T03:00:00Z"},
		"it ended before the boundary: no window for the hour": {early, "2026-07-01T02:30:00Z", "2026-07-01T02:00:00Z", "2026-08-01T03:00:00Z"},
		"before what is stored, in a window that reaches over": {june, "2026-06-01T03:30:00Z", "2026-06-01T03:00:00Z", "2026-06-01T04:00:00Z"},
		"long before what is stored":                           {june, "2026-03-01T03:00:00Z", "2026-03-01T03:00:00Z", "2026-04-01T03:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := p.Resume(c.prev, instant(t, c.now))
			if diff := cmp.Diff(window(t, c.start, c.end), got); diff != "" || err != nil {
				t.Errorf("error %v, -want +got:\n%s", err, diff)
			}
		})
	}
}

// With the same data Resume never says anything else than At.
func TestResumeAgreesWithAtWhileDataStaysTheSame(t *testing.T) {
	zones := zoneNames(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := compile(rt, drawSpec(rt, zones))
		now := drawNow(rt, "now")
		prev := at(rt, p, now)
		span := int64(min(prev.End.Sub(prev.Start), 80000*time.Hour))
		later := now.Add(time.Duration(rapid.Int64Range(-3*span, 3*span).Draw(rt, "later")))
		got, err := p.Resume(prev, later)
		if want := at(rt, p, later); got != want || err != nil {
			rt.Fatalf("%s at %s after %s: %s, %v, want %s", p, later, prev, got, err, want)
		}
	})
}

// A clock that is set to another offset between two questions makes no window
// overlap, leaves no gap, and grants nothing for a stub.
func TestResumedWindowsTileWhateverTheDataBecomes(t *testing.T) {
	specs := []period.Spec{
		{Type: period.Daily}, {Type: period.Weekly, TimeOfDay: "09:30"}, {Type: period.Monthly, DayOfMonth: new(int32(31))}, {Type: period.Hourly},
	}
	rapid.Check(t, func(rt *rapid.T) {
		spec := rapid.SampledFrom(specs).Draw(rt, "spec")
		offsets := rapid.IntRange(-12*4, 14*4)
		now := time.Unix(rapid.Int64Range(1.7e9, 1.8e9).Draw(rt, "now"), 0)
		prev := at(rt, onOffset(rt, spec, 900*offsets.Draw(rt, "first")), now)
		for range 6 {
			p := onOffset(rt, spec, 900*offsets.Draw(rt, "offset"))
			natural := at(rt, p, prev.End)
			w, err := p.Resume(prev, prev.End)
			if err != nil || w.Start != prev.End || !w.Contains(prev.End) {
				rt.Fatalf("%s follows %s, %v", w, prev, err)
			}
			half := prev.End.Sub(prev.Start) / 2
			if natural.Start != prev.End && w.End.Sub(w.Start) <= half {
				rt.Fatalf("%s after %s is a stub", w, prev)
			}
			if longest, _ := p.Longest(); w.End.Sub(w.Start) > longest+half {
				rt.Fatalf("%s after %s is too long", w, prev)
			}
			for _, inside := range []time.Time{w.Start, w.Start.Add(w.End.Sub(w.Start) / 2), w.End.Add(-1)} {
				if again, err := p.Resume(prev, inside); again != w || err != nil {
					rt.Fatalf("%s at %s after %s, want %s, %v", again, inside, prev, w, err)
				}
			}
			if next, err := p.Resume(prev, w.End); next.Start != w.End || err != nil {
				rt.Fatalf("%s after %s leaves a gap before %s, %v", w, prev, next, err)
			}
			prev = w
		}
	})
}

func TestFirstUseOpensWhenItIsUsed(t *testing.T) {
	p := compile(t, period.Spec{Type: period.FirstUse, Duration: "5h"})
	opened := instant(t, "2026-01-01T11:55:00.123456789Z")
	first := period.Window{Start: opened, End: opened.Add(5 * time.Hour)}
	for name, c := range map[string]struct {
		prev period.Window
		use  time.Time
		want period.Window
		err  error
	}{
		"the first use opens a window":            {period.Window{}, opened, first, nil},
		"the zero window in another zone":         {period.Window{Start: time.Time{}.In(time.FixedZone("", 3600))}, opened, first, nil},
		"a use in another zone":                   {period.Window{}, opened.In(time.FixedZone("", -3600)), first, nil},
		"the same instant again":                  {first, opened, first, nil},
		"the last nanosecond":                     {first, first.End.Add(-1), first, nil},
		"a use at the end opens another":          {first, first.End, period.Window{Start: first.End, End: first.End.Add(5 * time.Hour)}, nil},
		"a use long after opens another":          {first, first.End.AddDate(1, 0, 0), period.Window{Start: first.End.AddDate(1, 0, 0), End: first.End.AddDate(1, 0, 0).Add(5 * time.Hour)}, nil},
		"a late event opens none":                 {first, opened.Add(-1), period.Window{}, period.ErrNotOpen},
		"only the stored start counts":            {period.Window{Start: opened}, opened.Add(time.Hour), first, nil},
		"a stored end that is another is ignored": {period.Window{Start: opened, End: opened.AddDate(5, 0, 0)}, first.End, period.Window{Start: first.End, End: first.End.Add(5 * time.Hour)}, nil},
		"a stored window without a start":         {period.Window{End: opened}, opened, period.Window{}, period.ErrInvalidWindow},
		"a stored look-back":                      {period.Window{Start: opened, End: first.End, LookBack: true}, opened, period.Window{}, period.ErrInvalidWindow},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := p.Resume(c.prev, c.use)
			if got != c.want || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestAStoredWindowThatCannotBeIsAnError(t *testing.T) {
	start, end := instant(t, "2026-01-01T00:00:00Z"), instant(t, "2026-01-02T00:00:00Z")
	for name, prev := range map[string]period.Window{
		"no start":             {End: end},
		"no end":               {Start: start},
		"ends where it starts": {Start: start, End: start},
		"ends before it":       {Start: end, End: start},
		"looks back":           {Start: start, End: end, LookBack: true},
		"looks back, is empty": {LookBack: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, spec := range []period.Spec{{Type: period.Daily}, {Type: period.Fixed, Duration: "5h"}} {
				w, err := compile(t, spec).Resume(prev, start)
				if found := period.Errors(err); !errors.Is(err, period.ErrInvalidWindow) || len(found) != 1 || found[0].Field != "window" || w != (period.Window{}) {
					t.Errorf("got %s, %v", w, err)
				}
			}
		})
	}
}

func TestResumeReportsWhatAtReports(t *testing.T) {
	mad := func(string) (*time.Location, error) {
		return zoneOf(t, 0, shift{1767225600, 30 * 3600}, shift{1774915200, 0}), nil // 2026-01-01 to 2026-03-31
	}
	p, err := period.Compile(daily("Made/Up"), period.WithZones(mad))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ start, end, now string }{
		"the end of what is stored cannot be placed":    {"2026-01-30T00:00:00Z", "2026-02-01T00:00:00Z", "2026-06-01T00:00:00Z"},
		"now cannot be placed":                          {"2025-06-01T00:00:00Z", "2025-06-02T00:00:00Z", "2026-02-01T00:00:00Z"},
		"now cannot be placed and is before":            {"2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z", "2026-02-01T00:00:00Z"},
		"half of what is stored ahead cannot be placed": {"2025-10-01T00:30:00Z", "2025-12-20T00:30:00Z", "2026-06-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			if w, err := p.Resume(window(t, c.start, c.end), instant(t, c.now)); !errors.Is(err, period.ErrOutOfRange) {
				t.Errorf("got %s, %v", w, fmt.Sprint(err))
			}
		})
	}
}
