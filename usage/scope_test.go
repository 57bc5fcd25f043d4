package usage_test

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

func TestGroupNames(t *testing.T) {
	for name, c := range map[string]struct {
		keys   []string
		labels map[string]string
		want   string
	}{
		"no keys":                     {nil, map[string]string{"user": "u1"}, ""},
		"one key":                     {[]string{"user"}, map[string]string{"user": "u1", "team": "red"}, "user=u1"},
		"a missing label":             {[]string{"user"}, nil, "!user"},
		"an empty value":              {[]string{"user"}, map[string]string{"user": ""}, "user="},
		"two keys, in their order":    {[]string{"user", "team"}, map[string]string{"user": "u1"}, "user=u1,!team"},
		"a qualified key":             {[]string{"example.com/user"}, map[string]string{"example.com/user": "U.1_a-b"}, "example.com/user=U.1_a-b"},
		"a value with a comma":        {[]string{"user"}, map[string]string{"user": "u1,!team"}, `user="u1,!team"`},
		"a value with a quote":        {[]string{"user"}, map[string]string{"user": `"u1"`}, `user="\"u1\""`},
		"a value that is not UTF-8":   {[]string{"user"}, map[string]string{"user": "\xff"}, `user="\xff"`},
		"a value that looks like one": {[]string{"user"}, map[string]string{"user": `\xff`}, `user="\\xff"`},
	} {
		s := usage.Scope{GroupBy: c.keys}
		if got := s.Group(c.labels); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if got := s.Group(s.GroupLabels(c.want)); got != c.want {
			t.Errorf("%s: %s stands for labels of %s", name, c.want, got)
		}
	}
}

// Two sets of labels share a group's name only if they agree in every key.
func TestGroupsNeverShareAName(t *testing.T) {
	keys := []string{"a", "b", "a=", "!a", "b,!a"}
	value := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", ",", "!b", `"`, `""`, "=", "a,b=a", "�", "\xff", `\xff`}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		s := usage.Scope{GroupBy: rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 4, rapid.ID[string]).Draw(t, "keys")}
		draw := func() map[string]string {
			set := map[string]string{}
			for _, key := range s.GroupBy {
				if rapid.Bool().Draw(t, "has") {
					set[key] = value.Draw(t, "value")
				}
			}
			return set
		}
		first, second := draw(), draw()
		if same := s.Group(first) == s.Group(second); same != maps.Equal(first, second) {
			t.Fatalf("%q and %q: both are in %s: %v", first, second, s.Group(first), same)
		}
		if got := s.GroupLabels(s.Group(first)); !maps.Equal(got, first) {
			t.Fatalf("%s stands for %q, want %q", s.Group(first), got, first)
		}
	})
}

func TestScopesThatNothingCanBeSummedFor(t *testing.T) {
	whole := func() *usage.Scope { return everything(t, usage.CostUSD) }
	for reason, change := range map[string]func(*usage.Scope) *usage.Scope{
		"scope: required":                             func(*usage.Scope) *usage.Scope { return nil },
		"scope team-a/all: period: required":          func(s *usage.Scope) *usage.Scope { s.Period = nil; return s },
		"scope team-a/all: selector: required":        func(s *usage.Scope) *usage.Scope { s.Selector = nil; return s },
		"scope team-a/all: default: costUSD -1: must": func(s *usage.Scope) *usage.Scope { s.Default = usage.Amounts{usage.CostUSD: -usage.USD}; return s },
		"scope team-a/all: opened: the year -1":       func(s *usage.Scope) *usage.Scope { s.Opened = time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC); return s },
		`meter "costUSD" is not summed`:               func(s *usage.Scope) *usage.Scope { s.Meters = []usage.Meter{usage.Tasks}; return s },
		"it is nil or empty":                          func(s *usage.Scope) *usage.Scope { s.Period = &period.Period{}; return s },
	} {
		scope := change(whole())
		q := usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon}
		ledger := usage.NewMemory(scope)
		fill(t, ledger, []usage.Record{mustRecord(t, finished())})
		_, fromSum := usage.Sum(nil, nil, q)
		_, fromLedger := ledger.Used(q)
		for name, err := range map[string]error{"Sum": fromSum, "Memory": fromLedger} {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v, want an error with %q", name, err, reason)
			}
		}
		if scope == nil || scope.Period == nil || scope.Selector == nil {
			if _, err := (usage.History{}).Turns(q); err == nil {
				t.Errorf("%s: Turns gave no error", reason)
			}
			if _, err := ledger.Turns(q); err == nil {
				t.Errorf("%s: Turns of the ledger gave no error", reason)
			}
			if groups := ledger.Groups(scope); groups != nil {
				t.Errorf("%s: groups %v", reason, groups)
			}
		}
		ledger.Forget(scope)
	}
}

func TestSumBounds(t *testing.T) {
	const most = 1<<63 - 1
	scope := everything(t, usage.CostUSD)
	var history usage.History
	for i := range 3 {
		c := finished()
		c.Task.UID = "r" + uidOf(i)
		c.Reported = usage.Amounts{usage.CostUSD: most}
		history.Records = append(history.Records, mustRecord(t, c))
		h := *heldFor(finished(), usage.Amounts{usage.CostUSD: most})
		h.UID = "h" + uidOf(i)
		history.Holds = append(history.Holds, h)
	}
	got, err := history.Used(usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon})
	if diff := cmp.Diff(usage.Balance{Known: most, Held: most}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	got, err = usage.Sum(nil, nil, usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon})
	if diff := cmp.Diff(usage.Balance{}, got); diff != "" || err != nil {
		t.Errorf("nothing at all: %v (-want +got):\n%s", err, diff)
	}
}

// TestSumRefusesWhatItCannotCount: what lacks a part is told, not left out.
func TestSumRefusesWhatItCannotCount(t *testing.T) {
	scope := everything(t, usage.CostUSD)
	record := usage.Record{Task: usage.Task{UID: "u", Namespace: "team-a"}, CompletionTime: noon}
	hold := usage.Hold{UID: "u", Namespace: "team-a", ExpiresAt: noon}
	for want, history := range map[string]usage.History{
		"records[1]: uid: required":            {Records: []usage.Record{record, {Task: usage.Task{Namespace: "team-a"}, CompletionTime: noon}}},
		"records[0]: namespace: required":      {Records: []usage.Record{{Task: usage.Task{UID: "u"}, CompletionTime: noon}}},
		"records[0]: completionTime: required": {Records: []usage.Record{{Task: record.Task}}},
		"records[0]: usage: costUSD -0.000000001: must not be negative": {Records: []usage.Record{{
			Task: record.Task, CompletionTime: noon, Usage: usage.Figures{usage.CostUSD: reported(-1)},
		}}},
		"holds[0]: uid: required":       {Holds: []usage.Hold{{Namespace: "team-a", ExpiresAt: noon}}},
		"holds[1]: expiresAt: required": {Holds: []usage.Hold{hold, {UID: "v", Namespace: "team-a"}}},
		"holds[0]: amounts: tasks -1: must not be negative": {Holds: []usage.Hold{{
			UID: "u", Namespace: "team-a", ExpiresAt: noon, Amounts: usage.Amounts{usage.Tasks: -1},
		}}},
	} {
		got, err := history.Used(usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon})
		if err == nil || err.Error() != want || got != (usage.Balance{}) {
			t.Errorf("%+v, %v, want the error %s", got, err, want)
		}
	}
}

func TestSumTakesTheFirstOfAUID(t *testing.T) {
	scope := everything(t, usage.CostUSD)
	first, second := finished(), finished()
	first.Reported, second.Reported = usage.Amounts{usage.CostUSD: 1}, usage.Amounts{usage.CostUSD: 2}
	records := []usage.Record{mustRecord(t, first), mustRecord(t, second)}
	other := finished()
	other.Task.UID = "other"
	holds := []usage.Hold{
		*heldFor(first, usage.Amounts{usage.CostUSD: 10}), // superseded
		*heldFor(other, usage.Amounts{usage.CostUSD: 20}), *heldFor(other, usage.Amounts{usage.CostUSD: 30}),
	}
	got, err := usage.Sum(records, holds, usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon})
	if diff := cmp.Diff(usage.Balance{Known: 1, Held: 20}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestHistoryTurns(t *testing.T) {
	scope := everything(t, usage.CostUSD)
	scope.Period = mustPeriod(t, period.Spec{Type: period.Sliding, Duration: "1h"})
	scope.Selector = labels.SelectorFromSet(labels.Set{"team": "red"})
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	record := func(minutes int, team string) usage.Record {
		return usage.Record{
			Task: usage.Task{UID: "r" + uidOf(minutes), Namespace: "team-a"}, Phase: usage.Failed,
			Labels: map[string]string{"team": team}, CompletionTime: at(minutes),
		}
	}
	hold := *heldFor(finished(), nil)
	hold.Labels = map[string]string{"team": "red"}
	for name, c := range map[string]struct {
		history usage.History
		want    usage.Turns
	}{
		"nothing":             {usage.History{}, usage.Turns{}},
		"another team":        {usage.History{Records: []usage.Record{record(-10, "blue")}}, usage.Turns{}},
		"one that leaves":     {usage.History{Records: []usage.Record{record(-10, "red")}}, usage.Turns{Next: at(50), Last: at(50)}},
		"one that leaves now": {usage.History{Records: []usage.Record{record(-60, "red")}}, usage.Turns{}},
		"two that leave":      {usage.History{Records: []usage.Record{record(-10, "red"), record(-50, "red")}}, usage.Turns{Next: at(10), Last: at(50)}},
		"one that enters":     {usage.History{Records: []usage.Record{record(5, "red")}}, usage.Turns{Next: at(5), Last: at(65), Rise: at(5)}},
		"a hold":              {usage.History{Holds: []usage.Hold{hold}}, usage.Turns{Next: at(60), Last: at(60)}},
		"a hold and a record": {usage.History{Holds: []usage.Hold{hold}, Records: []usage.Record{record(-50, "red")}}, usage.Turns{Next: at(10), Last: at(60)}},
		"one that came now":   {usage.History{Records: []usage.Record{record(0, "red")}}, usage.Turns{Next: at(60), Last: at(60)}},
	} {
		q := usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon}
		ledger := usage.NewMemory(scope)
		fill(t, ledger, c.history.Records)
		for _, h := range c.history.Holds {
			if _, err := ledger.Hold(h); err != nil {
				t.Fatal(err)
			}
		}
		for source, turns := range map[string]func(usage.Query) (usage.Turns, error){"History": c.history.Turns, "Memory": ledger.Turns} {
			got, err := turns(q)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%s: %s: %v (-want +got):\n%s", name, source, err, diff)
			}
		}
	}
}

func uidOf(n int) types.UID { return types.UID(strconv.Itoa(n)) }

// TestGroupLabelsOfATextThatIsNoName gives what can be read of it.
func TestGroupLabelsOfATextThatIsNoName(t *testing.T) {
	s := &usage.Scope{GroupBy: []string{"user", "team"}}
	for text, want := range map[string]map[string]string{
		"":                 {},
		"team=red":         {},
		"user=ada":         {"user": "ada"},
		"user=ada,app=web": {"user": "ada"},
		"!user,team=red":   {"team": "red"},
	} {
		if got := s.GroupLabels(text); !maps.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
