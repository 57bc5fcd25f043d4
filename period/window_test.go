package period_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/period"
)

func TestContains(t *testing.T) {
	start, end := instant(t, "2026-01-01T00:00:00Z"), instant(t, "2026-01-02T00:00:00Z")
	tiny := time.Nanosecond
	for name, c := range map[string]struct {
		w       period.Window
		in, out []time.Time
	}{
		"half-open":                   {period.Window{Start: start, End: end}, []time.Time{start, end.Add(-tiny)}, []time.Time{start.Add(-tiny), end}},
		"look-back":                   {period.Window{Start: start, End: end, LookBack: true}, []time.Time{start.Add(tiny), end}, []time.Time{start, end.Add(tiny)}},
		"without start":               {period.Window{End: end}, []time.Time{start.AddDate(-2000, 0, 0), end.Add(-tiny)}, []time.Time{end}},
		"without end":                 {period.Window{Start: start}, []time.Time{start, end.AddDate(2000, 0, 0)}, []time.Time{start.Add(-tiny)}},
		"without any bound":           {period.Window{}, []time.Time{start, end}, nil},
		"look-back without any bound": {period.Window{LookBack: true}, []time.Time{start, end}, nil},
		"empty":                       {period.Window{Start: start, End: start}, nil, []time.Time{start.Add(-tiny), start, end}},
	} {
		t.Run(name, func(t *testing.T) {
			berlin := time.FixedZone("", 3600)
			for _, at := range c.in {
				if !c.w.Contains(at) || !c.w.Contains(at.In(berlin)) {
					t.Errorf("%s does not hold %s", c.w, at)
				}
			}
			for _, at := range c.out {
				if c.w.Contains(at) || c.w.Contains(at.In(berlin)) {
					t.Errorf("%s holds %s", c.w, at)
				}
			}
		})
	}
}

func TestWindowsReadAsIntervals(t *testing.T) {
	start := instant(t, "2026-01-01T01:00:00+01:00")
	end := instant(t, "2026-01-02T00:00:00.5Z")
	for want, w := range map[string]period.Window{
		"[2026-01-01T00:00:00Z, 2026-01-02T00:00:00.5Z)": {Start: start, End: end},
		"(2026-01-01T00:00:00Z, 2026-01-02T00:00:00.5Z]": {Start: start, End: end, LookBack: true},
		"[2026-01-01T00:00:00Z, unbounded)":              {Start: start},
		"(unbounded, 2026-01-02T00:00:00.5Z)":            {End: end},
		"(unbounded, unbounded)":                         {},
	} {
		if got := w.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestWindowsSurviveJSON(t *testing.T) {
	for want, w := range map[string]period.Window{
		`{}`:                               {},
		`{"start":"2026-01-01T00:00:00Z"}`: {Start: instant(t, "2026-01-01T00:00:00Z")},
		`{"end":"2026-01-01T00:00:00.000000001Z","lookBack":true}`: {End: instant(t, "2026-01-01T00:00:00.000000001Z"), LookBack: true},
	} {
		data, err := json.Marshal(w)
		if string(data) != want || err != nil {
			t.Errorf("got %s, %v, want %s", data, err, want)
		}
		var back period.Window
		if err := json.Unmarshal(data, &back); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(w, back); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
