package ledgertest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// start is the middle of what is played: clocks change in several of the zones
// below within a few days of it.
var start = time.Date(2024, time.March, 31, 0, 0, 0, 0, time.UTC)

func at(hours float64) time.Time { return start.Add(time.Duration(hours * float64(time.Hour))) }

// farAway are instants that no period, or hardly one, has a window for.
var farAway = []time.Time{
	{}, time.Date(10024, time.March, 31, 0, 0, 0, 0, time.UTC), time.Date(-976, time.March, 31, 0, 0, 0, 0, time.UTC), time.Unix(0, 0),
}

// specs are periods of every kind.
var specs = []period.Spec{
	{Type: period.Hourly, Timezone: "Australia/Lord_Howe"},
	{Type: period.Hourly},
	{Type: period.Daily, Timezone: "Asia/Beirut"},
	{Type: period.Daily, Timezone: "America/Havana", TimeOfDay: "00:30"},
	{Type: period.Weekly, Timezone: "Atlantic/Azores", WeekStart: "Sunday"},
	{Type: period.Monthly, DayOfMonth: new(int32(31))},
	{Type: period.Quarterly, Timezone: "Pacific/Apia"},
	{Type: period.Yearly, StartMonth: new(int32(4))},
	{Type: period.Cycle, Anchor: new(at(-10)), Unit: "Day", Every: new(int32(2))},
	{Type: period.Fixed, Duration: "90m"},
	{Type: period.FirstUse, Duration: "5h"},
	{Type: period.FirstUse, Duration: "30m"},
	{Type: period.FirstUse, Duration: "3660d"},
	{Type: period.Sliding, Duration: "6h"},
	{Type: period.Sliding, Duration: "2d"},
	{Type: period.Lifetime},
	{Type: period.Lifetime, StartsAt: new(at(-6))},
	{Type: period.Lifetime, StartsAt: new(at(-12)), EndsAt: new(at(12.5))},
	{Type: period.Lifetime, EndsAt: new(at(3))},
}

var (
	namespaces = []string{"team-a", "team-b"}
	selectors  = []string{"", "", "team=red", "team!=red", "!team", "team in (red,blue),user", "user notin (u1)", "run>1"}
	groupings  = [][]string{nil, nil, {"user"}, {"user", "team"}, {"absent"}}
	meters     = []usage.Meter{usage.CostUSD, usage.Tasks, "example.com/things"}
	values     = map[string][]string{
		"team": {"red", "blue", ""},
		"user": {"u1", "u2", `odd,"value`, "é"},
		"run":  {"1", "2", "3"},
	}
	bases = []usage.Basis{usage.Reported, usage.Priced, usage.Held, usage.Unknown}
	sizes = []int64{0, 1, 2, 1000, usage.USD, math.MaxInt64 - 1, math.MaxInt64}
	uids  = []types.UID{"a", "b", "c", "d", "e", "f", "g", "h"}
)

// source draws what is played. It knows the instants of what it has drawn, so
// that the same ones come again.
type source struct {
	t     *rapid.T
	known []time.Time
}

// pick draws one of a list.
func pick[T any](s *source, label string, list []T) T {
	return list[rapid.IntRange(0, len(list)-1).Draw(s.t, label)]
}

func (s *source) chance(label string, percent int) bool {
	return rapid.IntRange(1, 100).Draw(s.t, label) <= percent
}

func (s *source) uid() types.UID { return pick(s, "uid", uids) }

// instant draws an instant of a few days, often one that was drawn before or
// one a nanosecond beside it.
func (s *source) instant(label string) time.Time {
	if len(s.known) > 0 && s.chance(label+" again", 50) {
		return pick(s, label, s.known).Add(time.Duration(rapid.IntRange(-1, 1).Draw(s.t, "ns")))
	}
	t := start.Add(time.Duration(rapid.IntRange(-96, 96).Draw(s.t, label)) * 30 * time.Minute)
	s.learn(t)
	return t
}

func (s *source) learn(instants ...time.Time) {
	for _, t := range instants {
		if !slices.ContainsFunc(s.known, t.Equal) {
			s.known = append(s.known, t)
		}
	}
}

func (s *source) labels() map[string]string {
	var set map[string]string
	for _, key := range []string{"run", "team", "user"} {
		if s.chance(key, 60) {
			if set == nil {
				set = map[string]string{}
			}
			set[key] = pick(s, key, values[key])
		}
	}
	return set
}

func (s *source) scope(n int) *usage.Scope {
	spec := pick(s, "period", specs)
	compiled, err := period.Compile(spec)
	if err != nil {
		s.t.Fatalf("period %v: %v", spec, err)
	}
	selector, err := labels.Parse(pick(s, "selector", selectors))
	if err != nil {
		s.t.Fatalf("selector: %v", err)
	}
	scope := &usage.Scope{
		Name:      fmt.Sprintf("scope-%d (%s %s)", n, spec.Type, spec.Timezone),
		Namespace: pick(s, "namespace", namespaces),
		Selector:  selector,
		Period:    compiled,
		GroupBy:   pick(s, "groupBy", groupings),
		Meters:    meters,
	}
	if s.chance("nothing", 3) {
		scope.Selector = labels.Nothing()
	}
	if s.chance("default", 50) {
		scope.Default = s.amounts()
	}
	if spec.Type == period.FirstUse && s.chance("opened", 40) {
		scope.Opened = s.instant("opened")
	}
	return scope
}

func (s *source) amounts() usage.Amounts {
	var amounts usage.Amounts
	for _, m := range meters {
		if s.chance(string(m), 40) {
			if amounts == nil {
				amounts = usage.Amounts{}
			}
			amounts[m] = pick(s, "amount", sizes)
		}
	}
	return amounts
}

func (s *source) record() usage.Record {
	r := usage.Record{
		Task:           usage.Task{UID: s.uid(), Namespace: pick(s, "namespace", namespaces), Model: pick(s, "model", []string{"", "m"})},
		Phase:          pick(s, "phase", []usage.Phase{usage.Succeeded, usage.Failed}),
		Labels:         s.labels(),
		CompletionTime: s.instant("completion"),
		Usage:          usage.Figures{},
	}
	if s.chance("admitted", 50) {
		r.AdmittedAt = s.instant("admitted at")
	}
	if s.chance("started", 30) {
		r.StartTime = s.instant("start time")
	}
	for _, m := range meters {
		if !s.chance(string(m), 70) {
			continue
		}
		figure := usage.Figure{Basis: pick(s, "basis", bases)}
		if figure.Basis != usage.Unknown {
			figure.Amount = pick(s, "amount", sizes)
		}
		r.Usage[m] = figure
	}
	return r
}

// correction draws one of a record that is there.
func (s *source) correction(records []usage.Record) (usage.Record, bool) {
	right := s.amounts()
	original := pick(s, "original", records)
	correction, err := usage.Correct(original, right, "it was wrong")
	return correction, err == nil
}

func (s *source) hold() usage.Hold {
	h := usage.Hold{
		UID:       s.uid(),
		Namespace: pick(s, "namespace", namespaces),
		Labels:    s.labels(),
		Amounts:   s.amounts(),
		ExpiresAt: s.instant("expiry"),
	}
	if s.chance("admitted", 80) {
		h.AdmittedAt = s.instant("admitted at")
	}
	return h
}

func (s *source) query(scopes []*usage.Scope) usage.Query {
	q := usage.Query{
		Scope:  pick(s, "scope", scopes),
		Labels: s.labels(),
		Meter:  pick(s, "meter", meters),
		At:     s.instant("query at"),
	}
	if s.chance("except", 30) {
		q.Except = s.uid()
	}
	if q.At.Year() == start.Year() && s.chance("far", 2) {
		q.At = pick(s, "far away", farAway)
	}
	return q
}
