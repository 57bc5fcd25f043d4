package period_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/period"
)

// everyKind gives a valid spec of each kind.
func everyKind(tb testing.TB) []period.Spec {
	tb.Helper()
	anchor, end := instant(tb, "2026-01-31T09:30:00Z"), instant(tb, "2030-01-01T00:00:00Z")
	const zone = "America/New_York"
	return []period.Spec{
		{Type: period.Hourly, Timezone: zone}, {Type: period.Daily, Timezone: zone}, {Type: period.Weekly, Timezone: zone},
		{Type: period.Monthly, Timezone: zone, DayOfMonth: new(int32(31))}, {Type: period.Quarterly, Timezone: zone},
		{Type: period.Yearly, Timezone: zone}, {Type: period.Cycle, Anchor: &anchor, Unit: "Month", Timezone: zone},
		{Type: period.Fixed, Duration: "5h"}, {Type: period.FirstUse, Duration: "5h"}, {Type: period.Sliding, Duration: "24h"},
		{Type: period.Lifetime, EndsAt: &end},
	}
}

func TestInstantsThatNoPeriodCanAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		now time.Time
		is  error
	}{
		"the zero time":                    {time.Time{}, period.ErrZeroTime},
		"the zero time in another zone":    {time.Time{}.In(time.FixedZone("", 3600)), period.ErrZeroTime},
		"the year 0":                       {time.Date(0, 12, 31, 23, 59, 59, 999999999, time.UTC), period.ErrOutOfRange},
		"the year 9999":                    {time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), period.ErrOutOfRange},
		"the furthest past":                {time.Unix(-1<<63, 0), period.ErrOutOfRange},
		"the furthest future":              {time.Unix(1<<62, 999999999), period.ErrOutOfRange},
		"a year before Christ":             {time.Date(-4000, 1, 1, 0, 0, 0, 0, time.UTC), period.ErrOutOfRange},
		"a year of six digits":             {time.Date(123456, 1, 1, 0, 0, 0, 0, time.UTC), period.ErrOutOfRange},
		"the year 10000 of a distant zone": {time.Date(9999, 1, 1, 0, 0, 0, 0, time.FixedZone("", -3600)), period.ErrOutOfRange},
	} {
		t.Run(name, func(t *testing.T) {
			for _, spec := range everyKind(t) {
				p := compile(t, spec)
				_, err := p.At(c.now)
				_, errNext := p.Next(c.now)
				_, errResume := p.Resume(period.Window{}, c.now)
				_, errCursor := period.NewCursor(p).At(c.now)
				for _, err := range []error{err, errNext, errResume, errCursor} {
					if found := period.Errors(err); !errors.Is(err, c.is) || len(found) != 1 || found[0].Field != "now" {
						t.Errorf("%s: got %v, want %v", p, err, c.is)
					}
				}
			}
		})
	}
}

func TestTheFirstAndTheLastYears(t *testing.T) {
	first, last := time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(9998, 12, 31, 23, 59, 59, 999999999, time.UTC)
	for _, spec := range everyKind(t) {
		for _, zone := range []string{"UTC", "America/New_York", "Pacific/Kiritimati", "Asia/Manila", "America/Juneau"} {
			spec.Timezone = zone
			p := compile(t, spec)
			for _, now := range []time.Time{first, first.AddDate(0, 3, 5), last, last.AddDate(-1, 0, 0)} {
				w, err := p.At(now)
				if known := errors.Is(err, period.ErrNotOpen) || errors.Is(err, period.ErrAfterEnd); err != nil && !known || err == nil && !w.Contains(now) {
					t.Errorf("%s at %s: %s, %v", p, now, w, err)
				}
				if _, err := w.End.MarshalJSON(); err != nil {
					t.Errorf("%s at %s: %v", p, now, err)
				}
			}
		}
	}
}

func TestWindowsThatNoManifestCouldShowAreOutOfRange(t *testing.T) {
	anchor := instant(t, "2026-01-01T00:00:00Z")
	early, late := time.Date(3, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9998, 12, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		spec period.Spec
		now  time.Time
	}{
		"a century that began before the year 0": {period.Spec{Type: period.Cycle, Anchor: &anchor, Unit: "Year", Every: new(int32(100))}, early},
		"a century that ends after 9999":         {period.Spec{Type: period.Cycle, Anchor: &anchor, Unit: "Year", Every: new(int32(100))}, late},
		"ten years that began before the year 0": {period.Spec{Type: period.Fixed, Anchor: &early, Duration: "3660d"}, early.Add(-1)},
		"a look-back to before the year 0":       {period.Spec{Type: period.Sliding, Duration: "3660d"}, early},
		"ten years from a use in 9998":           {period.Spec{Type: period.FirstUse, Duration: "3660d"}, late},
	} {
		t.Run(name, func(t *testing.T) {
			if w, err := compile(t, c.spec).Resume(period.Window{}, c.now); !errors.Is(err, period.ErrOutOfRange) || w != (period.Window{}) {
				t.Errorf("got %s, %v", w, err)
			}
		})
	}
}

func TestAPeriodThatWasNotCompiledAnswersWithAnError(t *testing.T) {
	now := instant(t, "2026-01-01T00:00:00Z")
	for name, p := range map[string]*period.Period{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			_, err := p.At(now)
			_, errNext := p.Next(now)
			_, errResume := p.Resume(period.Window{}, now)
			_, errCursor := period.NewCursor(p).At(now)
			_, errZero := (&period.Cursor{}).At(now)
			_, errNil := (*period.Cursor)(nil).At(now)
			for _, err := range []error{err, errNext, errResume, errCursor, errZero, errNil} {
				if !errors.Is(err, period.ErrNotCompiled) {
					t.Errorf("got %v", err)
				}
			}
			if d, bounded := p.Longest(); d != 0 || bounded {
				t.Errorf("longest is %s", d)
			}
			if p.Key() != "" || p.Kind() != "" || p.String() != "invalid period" {
				t.Errorf("got %q, %q, %q", p.Key(), p.Kind(), p.String())
			}
			if diff := cmp.Diff(period.Spec{}, p.Spec()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLifetimes(t *testing.T) {
	start, end := instant(t, "2026-01-01T00:00:00.5Z"), instant(t, "2026-02-01T00:00:00Z")
	before, last := start.Add(-1), end.Add(-1)
	both := period.Spec{Type: period.Lifetime, StartsAt: &start, EndsAt: &end}
	for name, c := range map[string]struct {
		spec       period.Spec
		now        time.Time
		want       period.Window
		err        error
		next       time.Time
		errNext    error
		alsoErrOne error
	}{
		"just before it starts": {both, before, period.Window{}, period.ErrBeforeStart, start, nil, nil},
		"when it starts":        {both, start, period.Window{Start: start, End: end}, nil, end, nil, nil},
		"in its last instant":   {both, last, period.Window{Start: start, End: end}, nil, end, nil, nil},
		"when it has ended":     {both, end, period.Window{}, period.ErrAfterEnd, time.Time{}, period.ErrNoNext, period.ErrAfterEnd},
		"without an end":        {period.Spec{Type: period.Lifetime, StartsAt: &start}, end, period.Window{Start: start}, nil, time.Time{}, period.ErrNoNext, nil},
		"without a start":       {period.Spec{Type: period.Lifetime, EndsAt: &end}, before, period.Window{End: end}, nil, end, nil, nil},
		"without any bound":     {period.Spec{Type: period.Lifetime}, end, period.Window{}, nil, time.Time{}, period.ErrNoNext, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := compile(t, c.spec)
			got, err := p.At(c.now)
			if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
				t.Errorf("error %v, -want +got:\n%s", err, diff)
			}
			again, errResume := p.Resume(period.Window{Start: before, End: end}, c.now)
			if again != got || !errors.Is(errResume, c.err) {
				t.Errorf("resumed: %s, %v", again, errResume)
			}
			next, err := p.Next(c.now)
			if !next.Equal(c.next) || !errors.Is(err, c.errNext) || c.alsoErrOne != nil && !errors.Is(err, c.alsoErrOne) {
				t.Errorf("next is %s, %v", next, err)
			}
		})
	}
}

func TestSlidingLooksBackAndHasNoBoundary(t *testing.T) {
	p := compile(t, period.Spec{Type: period.Sliding, Duration: "24h"})
	now := instant(t, "2026-03-08T12:00:00.000000007+02:00")
	want := period.Window{Start: instant(t, "2026-03-07T10:00:00.000000007Z"), End: instant(t, "2026-03-08T10:00:00.000000007Z"), LookBack: true}
	for name, ask := range map[string]func(time.Time) (period.Window, error){
		"At": p.At, "a Cursor": period.NewCursor(p).At,
		"Resume": func(now time.Time) (period.Window, error) { return p.Resume(want, now) },
	} {
		if got, err := ask(now); got != want || err != nil {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	if next, err := p.Next(now); !errors.Is(err, period.ErrNoNext) || !next.IsZero() {
		t.Errorf("next is %s, %v", next, err)
	}
}

func TestFirstUseHasNoWindowOfItsOwn(t *testing.T) {
	p := compile(t, period.Spec{Type: period.FirstUse, Duration: "5h"})
	now := instant(t, "2026-03-08T12:00:00Z")
	for name, ask := range map[string]func(time.Time) (period.Window, error){"At": p.At, "a Cursor": period.NewCursor(p).At} {
		if got, err := ask(now); !errors.Is(err, period.ErrNotOpen) || got != (period.Window{}) {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	if next, err := p.Next(now); !errors.Is(err, period.ErrNoNext) || !errors.Is(err, period.ErrNotOpen) || !next.IsZero() {
		t.Errorf("next is %s, %v", next, err)
	}
}

// The anchor of a cycle may be a time that the clock showed before.
func TestACycleStartsAtItsAnchorAndNotAtAnEarlierShowing(t *testing.T) {
	anchor := instant(t, "2026-11-01T06:30:00Z") // the second 01:30 of New York
	p := compile(t, period.Spec{Type: period.Cycle, Timezone: "America/New_York", Anchor: &anchor, Unit: "Day"})
	for now, want := range map[string]period.Window{
		"2026-10-31T05:30:00Z": window(t, "2026-10-31T05:30:00Z", "2026-11-01T06:30:00Z"),
		"2026-11-01T05:30:00Z": window(t, "2026-10-31T05:30:00Z", "2026-11-01T06:30:00Z"), // the first 01:30
		"2026-11-01T06:29:59Z": window(t, "2026-10-31T05:30:00Z", "2026-11-01T06:30:00Z"),
		"2026-11-01T06:30:00Z": window(t, "2026-11-01T06:30:00Z", "2026-11-02T06:30:00Z"),
		"2026-11-02T06:30:00Z": window(t, "2026-11-02T06:30:00Z", "2026-11-03T06:30:00Z"),
	} {
		if got, err := p.At(instant(t, now)); got != want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", now, got, err, want)
		}
	}
}

func TestLongest(t *testing.T) {
	start, end := instant(t, "2026-01-01T00:00:00Z"), instant(t, "2026-02-01T00:00:00.5Z")
	ancient, far := instant(t, "0002-01-01T00:00:00Z"), instant(t, "9999-01-01T00:00:00Z")
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		spec    period.Spec
		want    time.Duration
		bounded bool
	}{
		"an hour of UTC":                            {period.Spec{Type: period.Hourly}, time.Hour, true},
		"an hour of Lord Howe":                      {period.Spec{Type: period.Hourly, Timezone: "Australia/Lord_Howe"}, 2 * time.Hour, true},
		"a day of UTC":                              {period.Spec{Type: period.Daily}, day, true},
		"a day of Tokyo":                            {daily("Asia/Tokyo"), day, true},
		"a day of Berlin":                           {daily("Europe/Berlin"), 25 * time.Hour, true},
		"a day of Troll":                            {daily("Antarctica/Troll"), 26 * time.Hour, true},
		"a day of Apia, which left one out":         {daily("Pacific/Apia"), 25 * time.Hour, true},
		"a week of Berlin":                          {period.Spec{Type: period.Weekly, Timezone: "Europe/Berlin"}, 7*day + time.Hour, true},
		"a month":                                   {period.Spec{Type: period.Monthly}, 31 * day, true},
		"a month that starts on the 31st":           {period.Spec{Type: period.Monthly, DayOfMonth: new(int32(31))}, 31 * day, true},
		"a quarter":                                 {period.Spec{Type: period.Quarterly}, 92 * day, true},
		"a quarter from the end of February":        {period.Spec{Type: period.Quarterly, StartMonth: new(int32(2)), DayOfMonth: new(int32(31))}, 92 * day, true},
		"a year":                                    {period.Spec{Type: period.Yearly}, 366 * day, true},
		"a year from February 29":                   {period.Spec{Type: period.Yearly, StartMonth: new(int32(2)), DayOfMonth: new(int32(29))}, 366 * day, true},
		"two weeks from an anchor":                  {period.Spec{Type: period.Cycle, Anchor: &start, Unit: "Week", Every: new(int32(2))}, 14 * day, true},
		"four years from an anchor":                 {period.Spec{Type: period.Cycle, Anchor: &start, Unit: "Year", Every: new(int32(4))}, 1461 * day, true},
		"30d":                                       {period.Spec{Type: period.Fixed, Duration: "30d"}, 30 * day, true},
		"5h from first use":                         {period.Spec{Type: period.FirstUse, Duration: "5h"}, 5 * time.Hour, true},
		"the last 90m":                              {period.Spec{Type: period.Sliding, Duration: "90m"}, 90 * time.Minute, true},
		"a lifetime":                                {period.Spec{Type: period.Lifetime, StartsAt: &start, EndsAt: &end}, 31*day + 500*time.Millisecond, true},
		"a lifetime without end":                    {period.Spec{Type: period.Lifetime, StartsAt: &start}, 0, false},
		"a lifetime without start":                  {period.Spec{Type: period.Lifetime, EndsAt: &end}, 0, false},
		"a lifetime longer than a Duration can say": {period.Spec{Type: period.Lifetime, StartsAt: &ancient, EndsAt: &far}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, bounded := compile(t, c.spec).Longest(); got != c.want || bounded != c.bounded {
				t.Errorf("got %s, %t, want %s, %t", got, bounded, c.want, c.bounded)
			}
		})
	}
}

func TestAnswersDoNotAllocate(t *testing.T) {
	now := instant(t, "2026-10-25T12:00:00Z")
	stored := period.Window{Start: now.Add(-time.Hour), End: now.Add(time.Hour)}
	for _, spec := range everyKind(t) {
		p := compile(t, spec)
		cursor := period.NewCursor(p)
		asks := map[string]func() error{
			"At":      func() error { _, err := p.At(now); return err },
			"Cursor":  func() error { _, err := cursor.At(now); return err },
			"Next":    func() error { _, err := p.Next(now); return err },
			"Resume":  func() error { _, err := p.Resume(stored, now); return err },
			"a start": func() error { _, err := p.Resume(period.Window{}, now); return err },
		}
		for name, ask := range asks {
			if ask() != nil {
				continue // an error is an allocation
			}
			if n := testing.AllocsPerRun(100, func() { _ = ask() }); n != 0 {
				t.Errorf("%s of %s allocates %v times", name, p, n)
			}
		}
	}
}
