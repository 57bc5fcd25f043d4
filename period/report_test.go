package period_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/period"
)

// TestDaysOfZonesWithAwkwardMidnights are days on which time.Date at midnight
// plus AddDate gives a window that is wrong, empty, or does not hold the instant.
func TestDaysOfZonesWithAwkwardMidnights(t *testing.T) {
	for name, c := range map[string]struct{ zone, now, start, end string }{
		"Havana, 23:30 before the day without midnight": {"America/Havana", "2026-03-08T04:30:00Z", "2026-03-07T05:00:00Z", "2026-03-08T05:00:00Z"},
		"Havana, 23:30 of the day without midnight":     {"America/Havana", "2026-03-09T03:30:00Z", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"},
		"Santiago, before the day without midnight":     {"America/Santiago", "2026-09-06T03:30:00Z", "2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z"},
		"Azores, end of the day without midnight":       {"Atlantic/Azores", "2026-03-29T23:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"},
		"Asuncion, end of the day without midnight":     {"America/Asuncion", "2024-10-07T02:30:00Z", "2024-10-06T04:00:00Z", "2024-10-07T03:00:00Z"},
		"Sao Paulo, end of the day without midnight":    {"America/Sao_Paulo", "2018-11-05T01:30:00Z", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		"Cairo, 01:00 is the first hour":                {"Africa/Cairo", "2026-04-23T22:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},
		"Beirut, 01:00 is the first hour":               {"Asia/Beirut", "2026-03-28T22:00:00Z", "2026-03-28T22:00:00Z", "2026-03-29T21:00:00Z"},
		"Amman, the first of two 00:30":                 {"Asia/Amman", "2021-10-28T21:30:00Z", "2021-10-28T21:00:00Z", "2021-10-29T22:00:00Z"},
		"St John's, 23:01 again after midnight":         {"America/St_Johns", "2010-11-07T02:31:00Z", "2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z"},
		"Goose Bay, back to the day before by two":      {"America/Goose_Bay", "1988-10-30T03:30:00Z", "1988-10-30T02:00:00Z", "1988-10-31T04:00:00Z"},
		"Apia, the day before the one left out":         {"Pacific/Apia", "2011-12-29T10:00:00Z", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},
		"Kwajalein, the day before the one left out":    {"Pacific/Kwajalein", "1993-08-21T00:00:00Z", "1993-08-20T12:00:00Z", "1993-08-21T12:00:00Z"},
		"Kathmandu, a jump of 15 minutes at midnight":   {"Asia/Kathmandu", "1985-12-31T18:30:00Z", "1985-12-31T18:30:00Z", "1986-01-01T18:15:00Z"},
		"Ciudad Juarez, 23:00 again at a midnight":      {"America/Ciudad_Juarez", "2022-11-30T06:59:59Z", "2022-11-29T06:00:00Z", "2022-11-30T07:00:00Z"},
		"Toronto, a jump over midnight from 23:30":      {"America/Toronto", "1919-03-31T04:29:59Z", "1919-03-30T05:00:00Z", "1919-03-31T04:30:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			p := compile(t, period.Spec{Type: period.Daily, Timezone: c.zone})
			now := instant(t, c.now)
			got, err := p.At(now)
			if diff := cmp.Diff(window(t, c.start, c.end), got); diff != "" || err != nil || !got.Contains(now) {
				t.Errorf("error %v, -want +got:\n%s", err, diff)
			}
		})
	}
}

func daily(zone string) period.Spec { return period.Spec{Type: period.Daily, Timezone: zone} }

func from(t *testing.T, anchor, unit string, every int32) period.Spec {
	t.Helper()
	at := instant(t, anchor)
	return period.Spec{Type: period.Cycle, Anchor: &at, Unit: unit, Every: &every}
}

// TestPublicBugReports walks the windows over the place at which other
// implementations were reported wrong: the bounds are those of windows that
// follow one another, from the one that holds the first.
func TestPublicBugReports(t *testing.T) {
	weekly := func(zone, start, at string) period.Spec {
		return period.Spec{Type: period.Weekly, Timezone: zone, WeekStart: start, TimeOfDay: at}
	}
	for report, c := range map[string]struct {
		spec   period.Spec
		bounds []string
	}{
		"golang/go#41272: AddDate makes two days of 23 hours in Santiago": {daily("America/Santiago"),
			[]string{"2020-09-05T04:00:00Z", "2020-09-06T04:00:00Z", "2020-09-07T03:00:00Z"}},
		"golang/go#50223, #24551, #80937: Date of a skipped time lies before or after the gap": {daily("Africa/Cairo"),
			[]string{"2026-04-22T22:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"}},
		"golang/go#29602: Samoa plus one day is the same day": {daily("Pacific/Apia"),
			[]string{"2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"}},
		"golang/go#81583, #70633: ZoneBounds ends in the past on day 366": {daily("Europe/Warsaw"),
			[]string{"2040-12-29T23:00:00Z", "2040-12-30T23:00:00Z", "2040-12-31T23:00:00Z", "2041-01-01T23:00:00Z"}},
		"tc39/proposal-temporal#2910: the start of a day is off by the gap": {daily("America/Toronto"),
			[]string{"1919-03-30T05:00:00Z", "1919-03-31T04:30:00Z", "1919-04-01T04:00:00Z"}},
		"tc39/proposal-temporal#2938: a date starts twice": {daily("America/St_Johns"),
			[]string{"2010-11-06T02:30:00Z", "2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z"}},
		"moment/moment#1994, moment/moment-timezone#672: the day starts at 23:00 of the day before": {daily("America/Sao_Paulo"),
			[]string{"2014-10-18T03:00:00Z", "2014-10-19T03:00:00Z", "2014-10-20T02:00:00Z"}},
		"apache/druid#8711: a day without hour 0 cannot start": {daily("America/Sao_Paulo"),
			[]string{"2017-10-14T03:00:00Z", "2017-10-15T03:00:00Z", "2017-10-16T02:00:00Z"}},
		"jmrozanec/cron-utils#332: a midnight that does not exist is looked for without end": {daily("America/Santiago"),
			[]string{"2018-08-11T04:00:00Z", "2018-08-12T04:00:00Z", "2018-08-13T03:00:00Z"}},
		"PrefectHQ/prefect#5957: a weekly schedule sticks at 23:00 of the day before": {weekly("America/Santiago", "Sunday", ""),
			[]string{"2022-08-28T04:00:00Z", "2022-09-04T04:00:00Z", "2022-09-11T04:00:00Z", "2022-09-18T03:00:00Z"}},
		"kubernetes/kubernetes#121594: the repeated hour resets twice": {period.Spec{Type: period.Daily, Timezone: "Europe/Berlin", TimeOfDay: "02:00"},
			[]string{"2023-10-28T00:00:00Z", "2023-10-29T00:00:00Z", "2023-10-30T01:00:00Z"}},
		"cronie-crond/cronie#218: 86,400 s more skip a day": {weekly("Europe/Berlin", "Sunday", "12:00"),
			[]string{"2022-03-20T11:00:00Z", "2022-03-27T10:00:00Z", "2022-04-03T10:00:00Z"}},
		"diegosouzapw/OmniRoute#13671: a day of 25 hours": {daily("Europe/Paris"),
			[]string{"2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", "2026-10-26T23:00:00Z"}},
		"useautumn/autumn#2115: May 31 plus a month is July 1": {from(t, "2026-05-31T13:13:09Z", "Month", 1),
			[]string{"2026-05-31T13:13:09Z", "2026-06-30T13:13:09Z", "2026-07-31T13:13:09Z"}},
		"polarsource/polar#10664: a clamped day sticks": {from(t, "2024-01-31T00:00:00Z", "Month", 1),
			[]string{"2024-01-31T00:00:00Z", "2024-02-29T00:00:00Z", "2024-03-31T00:00:00Z", "2024-04-30T00:00:00Z"}},
		"openmeterio/openmeter#2166: January 29 has no next month": {from(t, "2025-01-29T12:00:00Z", "Month", 1),
			[]string{"2025-01-29T12:00:00Z", "2025-02-28T12:00:00Z", "2025-03-29T12:00:00Z"}},
		"gorkem-bwl/atlas#2: February 29 plus a year overflows": {from(t, "2024-02-29T00:00:00Z", "Year", 1),
			[]string{"2024-02-29T00:00:00Z", "2025-02-28T00:00:00Z", "2026-02-28T00:00:00Z", "2027-02-28T00:00:00Z", "2028-02-29T00:00:00Z"}},
		"gorkem-bwl/atlas#2: March 31 plus three months overflows": {from(t, "2026-03-31T00:00:00Z", "Month", 3),
			[]string{"2026-03-31T00:00:00Z", "2026-06-30T00:00:00Z", "2026-09-30T00:00:00Z", "2026-12-31T00:00:00Z"}},
		"rustledger/rustledger#1864, Doist/bitmapist#86: year and week number merge two weeks": {weekly("", "", ""),
			[]string{"2024-12-23T00:00:00Z", "2024-12-30T00:00:00Z", "2025-01-06T00:00:00Z"}},
		"BerriAI/litellm#4042, #9098, #10288: 30d is no month": {period.Spec{Type: period.Fixed, Duration: "30d", Anchor: new(instant(t, "2026-01-01T00:00:00Z"))},
			[]string{"2026-01-01T00:00:00Z", "2026-01-31T00:00:00Z", "2026-03-02T00:00:00Z", "2026-04-01T00:00:00Z"}},
		"BerriAI/litellm#4042, #9098, #10288: a month is no 30d": {period.Spec{Type: period.Monthly},
			[]string{"2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"}},
		"astaxie/TokenHub#335: the day of Shanghai is not that of UTC": {daily("Asia/Shanghai"),
			[]string{"2026-09-07T16:00:00Z", "2026-09-08T16:00:00Z", "2026-09-09T16:00:00Z"}},
	} {
		t.Run(report, func(t *testing.T) {
			p := compile(t, c.spec)
			got := []string{}
			now := instant(t, c.bounds[0])
			for range c.bounds {
				w, err := p.At(now)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, w.Start.Format(time.RFC3339Nano))
				now = w.End
			}
			if diff := cmp.Diff(c.bounds, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPublicBugReportsOnLookBacksAndZones(t *testing.T) {
	t.Run("textbee/textbee#287: a look-back of 30 days does not shrink on March 31", func(t *testing.T) {
		p := compile(t, period.Spec{Type: period.Sliding, Duration: "30d"})
		got, err := p.At(instant(t, "2026-03-31T12:00:00Z"))
		want := window(t, "2026-03-01T12:00:00Z", "2026-03-31T12:00:00Z")
		want.LookBack = true
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v, -want +got:\n%s", err, diff)
		}
	})
	t.Run("anthropics/claude-code#86068: never more left than the window is long", func(t *testing.T) {
		p := compile(t, period.Spec{Type: period.FirstUse, Duration: "5h"})
		now := instant(t, "2026-03-31T23:59:59.999999999Z")
		w, err := p.Resume(period.Window{}, now)
		if left := w.End.Sub(now); left != 5*time.Hour || err != nil {
			t.Errorf("%s left of %s, %v", left, w, err)
		}
	})
	t.Run("james-6-23/codex2api#498: the process's own zone has no say", func(t *testing.T) {
		if _, err := period.Compile(period.Spec{Type: period.Daily, Timezone: "Local"}); err == nil {
			t.Error("Local was accepted")
		}
		p := compile(t, period.Spec{Type: period.Daily})
		kiritimati := time.FixedZone("", 14*3600)
		w, err := p.At(time.Date(2026, 1, 2, 3, 0, 0, 0, kiritimati))
		if want := window(t, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"); w != want || err != nil {
			t.Errorf("got %s, %v", w, err)
		}
	})
}
