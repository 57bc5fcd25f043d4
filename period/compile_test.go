package period_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/period"
)

// fields lists what an error complains of.
func fields(err error) []string {
	var names []string
	for _, e := range period.Errors(err) {
		names = append(names, e.Field)
	}
	return names
}

func TestCompileReportsTheFieldAtFault(t *testing.T) {
	day := instant(t, "2026-01-01T00:00:00Z")
	subsecond, zero, far := day.Add(1), time.Time{}, day.AddDate(8000, 0, 0)
	edge := instant(t, "9999-12-31T23:59:59Z")
	number := func(n int32) *int32 { return &n }
	for name, c := range map[string]struct {
		spec period.Spec
		want []string
		is   error
	}{
		"no spec at all":                     {period.Spec{}, []string{"type"}, period.ErrUnknownKind},
		"a kind in lower case":               {period.Spec{Type: "daily"}, []string{"type"}, period.ErrUnknownKind},
		"a negative day":                     {period.Spec{Type: period.Monthly, DayOfMonth: number(-1)}, []string{"dayOfMonth"}, nil},
		"the least of days":                  {period.Spec{Type: period.Monthly, DayOfMonth: number(-1 << 31)}, []string{"dayOfMonth"}, nil},
		"month 0":                            {period.Spec{Type: period.Quarterly, StartMonth: number(0)}, []string{"startMonth"}, nil},
		"a day in lower case":                {period.Spec{Type: period.Weekly, WeekStart: "monday"}, []string{"weekStart"}, nil},
		"a time of one digit":                {period.Spec{Type: period.Daily, TimeOfDay: "9:00"}, []string{"timeOfDay"}, nil},
		"a time with seconds":                {period.Spec{Type: period.Daily, TimeOfDay: "09:00:00"}, []string{"timeOfDay"}, nil},
		"minute 60":                          {period.Spec{Type: period.Daily, TimeOfDay: "09:60"}, []string{"timeOfDay"}, nil},
		"a signed time":                      {period.Spec{Type: period.Daily, TimeOfDay: "+9:+1"}, []string{"timeOfDay"}, nil},
		"a cycle of nothing":                 {period.Spec{Type: period.Cycle}, []string{"anchor", "unit"}, nil},
		"an unknown unit":                    {period.Spec{Type: period.Cycle, Anchor: &day, Unit: "Fortnight"}, []string{"unit"}, nil},
		"a negative every":                   {period.Spec{Type: period.Cycle, Anchor: &day, Unit: "Day", Every: number(-5)}, []string{"every"}, nil},
		"a cycle longer than a century":      {period.Spec{Type: period.Cycle, Anchor: &day, Unit: "Year", Every: number(101)}, []string{"every"}, nil},
		"the greatest every":                 {period.Spec{Type: period.Cycle, Anchor: &day, Unit: "Week", Every: number(1<<31 - 1)}, []string{"every"}, nil},
		"a unit and an every at fault":       {period.Spec{Type: period.Cycle, Anchor: &day, Unit: "day", Every: number(0)}, []string{"unit", "every"}, nil},
		"an anchor within a second":          {period.Spec{Type: period.Cycle, Anchor: &subsecond, Unit: "Day"}, []string{"anchor"}, nil},
		"a zero anchor":                      {period.Spec{Type: period.Fixed, Anchor: &zero, Duration: "5h"}, []string{"anchor"}, period.ErrZeroTime},
		"an anchor beyond all years":         {period.Spec{Type: period.Fixed, Anchor: &far, Duration: "5h"}, []string{"anchor"}, period.ErrOutOfRange},
		"an anchor for a day":                {period.Spec{Type: period.Daily, Anchor: &day}, []string{"anchor"}, nil},
		"a unit for a fixed period":          {period.Spec{Type: period.Fixed, Duration: "5h", Unit: "Day"}, []string{"unit"}, nil},
		"an every for a fixed period":        {period.Spec{Type: period.Fixed, Duration: "5h", Every: number(2)}, []string{"every"}, nil},
		"a duration for a day":               {period.Spec{Type: period.Daily, Duration: "24h"}, []string{"duration"}, nil},
		"no duration for first use":          {period.Spec{Type: period.FirstUse}, []string{"duration"}, nil},
		"no duration to look back":           {period.Spec{Type: period.Sliding}, []string{"duration"}, nil},
		"bounds for a day":                   {period.Spec{Type: period.Daily, StartsAt: &day, EndsAt: &day}, []string{"startsAt", "endsAt"}, nil},
		"zero bounds":                        {period.Spec{Type: period.Lifetime, StartsAt: &zero, EndsAt: &zero}, []string{"startsAt", "endsAt"}, period.ErrZeroTime},
		"a start beyond all years":           {period.Spec{Type: period.Lifetime, StartsAt: &far}, []string{"startsAt"}, period.ErrOutOfRange},
		"a life that ends where it starts":   {period.Spec{Type: period.Lifetime, StartsAt: &day, EndsAt: &day}, []string{"endsAt"}, nil},
		"every fault of several":             {period.Spec{Type: "x", Timezone: "x y", TimeOfDay: "x", WeekStart: "x", DayOfMonth: number(0), StartMonth: number(0), Anchor: &zero, Unit: "x", Every: number(0), Duration: "x", StartsAt: &day, EndsAt: &day}, []string{"type", "timezone", "timeOfDay", "weekStart", "dayOfMonth", "startMonth", "anchor", "unit", "every", "duration", "endsAt"}, period.ErrUnknownTimezone},
		"every field that a kind cannot use": {period.Spec{Type: period.Hourly, TimeOfDay: "x", WeekStart: "x", DayOfMonth: number(0), StartMonth: number(0), Anchor: &zero, Unit: "x", Every: number(0), Duration: "x", StartsAt: &day, EndsAt: &day}, []string{"timeOfDay", "weekStart", "dayOfMonth", "startMonth", "anchor", "unit", "every", "duration", "startsAt", "endsAt"}, nil},
		"nothing: the last second of years":  {period.Spec{Type: period.Lifetime, StartsAt: &day, EndsAt: &edge}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := period.Compile(c.spec, period.WithZones(pinnedZone))
			if diff := cmp.Diff(c.want, fields(err)); diff != "" {
				t.Errorf("%v: -want +got:\n%s", err, diff)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is not %v", err, c.is)
			}
			if (err == nil) != (p != nil) {
				t.Errorf("got %v, %v", p, err)
			}
		})
	}
}

func TestDurations(t *testing.T) {
	for text, seconds := range map[string]int64{
		"60s": 60, "1m": 60, "90m": 5400, "5h": 18000, "1d": 86400, "30d": 2592000, "2w": 1209600,
		"3660d": 3660 * 86400, "87840h": 3660 * 86400, "316224000s": 3660 * 86400, "522w": 522 * 604800,
	} {
		p := compile(t, period.Spec{Type: period.Sliding, Duration: text})
		if got, bounded := p.Longest(); got != time.Duration(seconds)*time.Second || !bounded {
			t.Errorf("%s: got %s, %t", text, got, bounded)
		}
	}
	for _, text := range []string{
		"0h", "00s", "05h", "-5h", "+5h", "5", "h", "5H", "5 h", " 5h", "5h ", "1h30m", "1.5h", "5ms", "59s", "3661d", "523w",
		"1000000000s", "999999999w", "99999999999999999999h", "٥h", "5\x00", "1e3s", "PT5H", "\xff5h", strings.Repeat("9", 1<<20) + "h",
	} {
		_, err := period.Compile(period.Spec{Type: period.Sliding, Duration: text})
		if diff := cmp.Diff([]string{"duration"}, fields(err)); diff != "" {
			t.Errorf("%.20q: -want +got:\n%s", text, diff)
		}
	}
}

func TestTimesOfDay(t *testing.T) {
	midnight := instant(t, "2026-05-05T00:00:00Z")
	for minute := range 24 * 60 {
		text := fmt.Sprintf("%02d:%02d", minute/60, minute%60)
		w, err := compile(t, period.Spec{Type: period.Daily, TimeOfDay: text}).At(midnight.Add(24*time.Hour - 1))
		if want := midnight.Add(time.Duration(minute) * time.Minute); !w.Start.Equal(want) || err != nil {
			t.Errorf("%s: got %s, %v", text, w, err)
		}
	}
}

func TestAFaultIsOneLineAndNamesFieldValueAndReason(t *testing.T) {
	_, err := period.Compile(period.Spec{Type: period.Monthly, DayOfMonth: new(int32(32)), StartMonth: new(int32(4))})
	want := `dayOfMonth "32": write a day of the month from 1 to 31, where 31 is always the last day` + "\n" +
		`startMonth "4": Monthly periods have no use for it; remove it, or choose a type that takes it: Quarterly, Yearly`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, err = period.Compile(period.Spec{Type: period.FirstUse})
	if diff := cmp.Diff("duration: required for FirstUse periods", fmt.Sprint(err)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestHugeAndBrokenTextDoesNotFloodAMessage(t *testing.T) {
	texts := []string{
		strings.Repeat("x", 1<<20), strings.Repeat("é", 1<<19), strings.Repeat("\xff", 1<<20), "\xff\xfe\x00\n\x1b[31m",
		strings.Repeat("\U0001F600", 100), "a\xe2\x82", strings.Repeat("a", 62) + "\U0001F600",
	}
	for _, text := range texts {
		_, err := period.Compile(period.Spec{
			Type: period.Kind(text), Timezone: text, TimeOfDay: text, WeekStart: text, Unit: text, Duration: text,
		})
		found := period.Errors(err)
		if len(found) != 6 {
			t.Fatalf("%.20q: %d faults: %v", text, len(found), err)
		}
		for _, e := range found {
			message := e.Error()
			if !utf8.ValidString(message) || !utf8.ValidString(e.Value) || len(e.Value) > 300 || len(message) > 1000 || strings.ContainsAny(message, "\n\x00\x1b") {
				t.Errorf("%s: %d bytes: %q", e.Field, len(message), message)
			}
		}
	}
}

func TestErrorsWalksWhateverWrapsThem(t *testing.T) {
	one, two := &period.Error{Field: "one"}, &period.Error{Field: "two", Value: "2", Reason: "why"}
	tree := fmt.Errorf("budget: %w", errors.Join(one, errors.New("other"), fmt.Errorf("deep: %w", errors.Join(two))))
	if diff := cmp.Diff([]string{"one", "two"}, fields(tree)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, none := range []error{nil, errors.New("other"), (*period.Error)(nil), fmt.Errorf("deep: %w", errors.New("other"))} {
		if got := period.Errors(none); got != nil {
			t.Errorf("%v: got %v", none, got)
		}
	}
	if (*period.Error)(nil).Error() == "" || (*period.Error)(nil).Unwrap() != nil || two.Unwrap() != nil {
		t.Error("a nil Error is not harmless")
	}
}

func TestCompileCopiesTheSpec(t *testing.T) {
	start := instant(t, "2026-01-01T00:00:00Z")
	end := instant(t, "2027-01-01T00:00:00Z")
	day, month, every, anchor := int32(5), int32(4), int32(3), start
	specs := []period.Spec{
		{Type: period.Yearly, DayOfMonth: &day, StartMonth: &month, TimeOfDay: "09:30", Timezone: "Europe/Berlin"},
		{Type: period.Cycle, Anchor: &anchor, Every: &every, Unit: "Week"},
		{Type: period.Lifetime, StartsAt: &start, EndsAt: &end},
	}
	var before []string
	var compiled []*period.Period
	for _, spec := range specs {
		p := compile(t, spec)
		if diff := cmp.Diff(spec, p.Spec()); diff != "" || p.Kind() != spec.Type {
			t.Errorf("%s: -want +got:\n%s", p.Kind(), diff)
		}
		compiled, before = append(compiled, p), append(before, seen(t, p))
	}
	day, month, every, anchor, start, end = 6, 5, 4, anchor.Add(time.Hour), start.Add(time.Hour), end.Add(time.Hour)
	for i, p := range compiled {
		got := p.Spec()
		for _, n := range []*int32{got.DayOfMonth, got.StartMonth, got.Every} {
			if n != nil {
				*n = 9
			}
		}
		if diff := cmp.Diff(before[i], seen(t, p)); diff != "" {
			t.Errorf("the spec was changed from outside: -want +got:\n%s", diff)
		}
	}
}

// seen writes down all that a period shows.
func seen(t *testing.T, p *period.Period) string {
	t.Helper()
	spec, err := json.Marshal(p.Spec())
	w, errAt := p.At(instant(t, "2026-06-15T12:00:00Z"))
	return fmt.Sprint(string(spec), err, p, p.Key(), w, errAt)
}

func TestSpecIsWrittenAsAManifestSpellsIt(t *testing.T) {
	manifest := `{"type":"Cycle","timezone":"Europe/Berlin","timeOfDay":"09:00","weekStart":"Sunday","dayOfMonth":31,"startMonth":4,` +
		`"anchor":"2026-01-31T09:00:00Z","unit":"Month","every":3,"duration":"5h","startsAt":"2026-01-01T00:00:00Z","endsAt":"2027-01-01T00:00:00Z"}`
	var spec period.Spec
	if err := json.Unmarshal([]byte(manifest), &spec); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(spec)
	if diff := cmp.Diff(manifest, string(got)); diff != "" || err != nil {
		t.Errorf("error %v, -want +got:\n%s", err, diff)
	}
	got, err = json.Marshal(period.Spec{Type: period.Daily})
	if diff := cmp.Diff(`{"type":"Daily"}`, string(got)); diff != "" || err != nil {
		t.Errorf("error %v, -want +got:\n%s", err, diff)
	}
}

func TestPeriodsReadWell(t *testing.T) {
	anchor := instant(t, "2025-08-31T00:00:00Z")
	end := instant(t, "2026-01-01T00:00:00Z")
	for want, spec := range map[string]period.Spec{
		"Hourly Asia/Kolkata":                                           {Type: period.Hourly, Timezone: "Asia/Kolkata"},
		"Daily from 00:00 America/Havana":                               daily("America/Havana"),
		"Daily from 00:00 UTC":                                          {Type: period.Daily},
		"Weekly from Monday 09:00 Europe/Berlin":                        {Type: period.Weekly, TimeOfDay: "09:00", Timezone: "Europe/Berlin"},
		"Weekly from Saturday 00:00 UTC":                                {Type: period.Weekly, WeekStart: "Saturday"},
		"Monthly from day 1 00:00 UTC":                                  {Type: period.Monthly},
		"Monthly from the last day 00:00 UTC":                           {Type: period.Monthly, DayOfMonth: new(int32(31))},
		"Quarterly from day 1 of January 00:00 UTC":                     {Type: period.Quarterly},
		"Yearly from day 6 of April 00:00 Europe/London":                {Type: period.Yearly, StartMonth: new(int32(4)), DayOfMonth: new(int32(6)), Timezone: "Europe/London"},
		"Every 3 months from 2025-08-31T00:00:00Z UTC":                  {Type: period.Cycle, Anchor: &anchor, Unit: "Month", Every: new(int32(3))},
		"Every day from 2025-08-31T00:00:00Z Asia/Tokyo":                {Type: period.Cycle, Anchor: &anchor, Unit: "Day", Timezone: "Asia/Tokyo"},
		"Every year from 2025-08-31T00:00:00Z UTC":                      {Type: period.Cycle, Anchor: &anchor, Unit: "Year", Every: new(int32(1))},
		"Every 5h from 1970-01-01T00:00:00Z":                            {Type: period.Fixed, Duration: "5h"},
		"Every 30d from 2025-08-31T00:00:00Z":                           {Type: period.Fixed, Duration: "30d", Anchor: &anchor},
		"5h from first use":                                             {Type: period.FirstUse, Duration: "5h"},
		"last 24h":                                                      {Type: period.Sliding, Duration: "24h"},
		"Lifetime without end":                                          {Type: period.Lifetime},
		"Lifetime from 2025-08-31T00:00:00Z":                            {Type: period.Lifetime, StartsAt: &anchor},
		"Lifetime until 2026-01-01T00:00:00Z":                           {Type: period.Lifetime, EndsAt: &end},
		"Lifetime from 2025-08-31T00:00:00Z until 2026-01-01T00:00:00Z": {Type: period.Lifetime, StartsAt: &anchor, EndsAt: &end},
	} {
		if diff := cmp.Diff(want, compile(t, spec).String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

var keyShaped = regexp.MustCompile(`^[0-9a-f]{32}$`)

func TestKeysTellPeriodsApartAndNotSpellings(t *testing.T) {
	anchor := instant(t, "2026-01-31T09:00:00Z")
	berlin := anchor.In(time.FixedZone("", 3600))
	later, sevens := anchor.Add(10*time.Hour), anchor.Add(-70*time.Hour)
	number := func(n int32) *int32 { return &n }
	groups := [][]period.Spec{
		{{Type: period.Hourly}, {Type: period.Hourly, Timezone: "UTC"}},
		{{Type: period.Daily}, {Type: period.Daily, TimeOfDay: "00:00"}},
		{{Type: period.Daily, TimeOfDay: "00:01"}},
		{{Type: period.Daily, Timezone: "Europe/Berlin"}},
		{{Type: period.Weekly}, {Type: period.Weekly, WeekStart: "Monday"}},
		{{Type: period.Weekly, WeekStart: "Sunday"}},
		{{Type: period.Monthly}, {Type: period.Monthly, DayOfMonth: number(1)}},
		{{Type: period.Monthly, DayOfMonth: number(31)}},
		{{Type: period.Quarterly}, {Type: period.Quarterly, StartMonth: number(4)}, {Type: period.Quarterly, StartMonth: number(1)}},
		{{Type: period.Quarterly, StartMonth: number(2)}},
		{{Type: period.Yearly}},
		{{Type: period.Yearly, StartMonth: number(4)}},
		{{Type: period.Cycle, Anchor: &anchor, Unit: "Week"}, {Type: period.Cycle, Anchor: &berlin, Unit: "Day", Every: number(7)}},
		{{Type: period.Cycle, Anchor: &anchor, Unit: "Month", Every: number(12)}, {Type: period.Cycle, Anchor: &anchor, Unit: "Year"}},
		{{Type: period.Cycle, Anchor: &later, Unit: "Year"}},
		{{Type: period.Cycle, Anchor: &anchor, Unit: "Year", Timezone: "Europe/Berlin"}},
		{{Type: period.Fixed, Duration: "5h"}, {Type: period.Fixed, Duration: "300m", Timezone: "Europe/Berlin"}},
		{{Type: period.Fixed, Duration: "7h", Anchor: &anchor}, {Type: period.Fixed, Duration: "420m", Anchor: &sevens}},
		{{Type: period.FirstUse, Duration: "1d"}, {Type: period.FirstUse, Duration: "24h"}},
		{{Type: period.Sliding, Duration: "24h"}},
		{{Type: period.Lifetime}},
		{{Type: period.Lifetime, StartsAt: &anchor}},
		{{Type: period.Lifetime, EndsAt: &anchor}},
	}
	owner := map[string]int{}
	for i, group := range groups {
		for _, spec := range group {
			key := compile(t, spec).Key()
			if other, taken := owner[key]; taken && other != i || !keyShaped.MatchString(key) {
				t.Errorf("%+v has key %q of group %d", spec, key, other)
			}
			owner[key] = i
		}
	}
	if len(owner) != len(groups) {
		t.Errorf("%d keys for %d meanings", len(owner), len(groups))
	}
}

// A key is stored beside windows: if this fails, every stored window is lost.
func TestKeysStayTheSameInAllReleases(t *testing.T) {
	anchor := instant(t, "2025-08-31T00:00:00Z")
	for want, spec := range map[string]period.Spec{
		"fa319288e2a38f6b22040a1dddc939be": {Type: period.Daily, Timezone: "America/Havana"},
		"8a25d178c0ab19211838adcd4252c35b": {Type: period.Quarterly, DayOfMonth: new(int32(31)), StartMonth: new(int32(5)), TimeOfDay: "09:30"},
		"7baa734c60f1482826eb8bf31ef66e47": {Type: period.Cycle, Anchor: &anchor, Unit: "Month", Every: new(int32(3))},
		"c70902abf0080be012f24384da2363fb": {Type: period.Fixed, Duration: "5h"},
		"39fa93e5a0d8596aa82799f7269009aa": {Type: period.FirstUse, Duration: "5h"},
		"d9ebea0d7dd7ac8a60f431014b26e8d9": {Type: period.Lifetime, StartsAt: &anchor},
	} {
		if got := compile(t, spec).Key(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
