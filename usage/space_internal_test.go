package usage

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/period"
)

// TestLabelSetsOfOneHash: sets whose hashes meet are told apart, whichever goes
// first.
func TestLabelSetsOfOneHash(t *testing.T) {
	const hash = 7
	sets := [][]label{{{"a", "1"}}, {{"a", "2"}}, {{"b", "1"}}}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}} {
		s := newSpace("ns")
		known := make([]*labelSet, len(sets))
		for i, labels := range sets {
			known[i] = s.set(hash, labels)
		}
		for gone, i := range order {
			for _, left := range order[gone:] {
				if s.set(hash, sets[left]) != known[left] {
					t.Fatalf("%v is not found when %v of %v are gone", sets[left], gone, order)
				}
			}
			s.drop(known[i])
		}
		if len(s.sets) != 0 || len(s.classes) != 0 {
			t.Errorf("order %v: %d sets and %d classes are left", order, len(s.sets), len(s.classes))
		}
	}
}

// TestAForgottenScopeLeavesNoTrace: label sets are told apart only by what the
// scopes that are left ask for, and count as they did before.
func TestAForgottenScopeLeavesNoTrace(t *testing.T) {
	lifetime, err := period.Compile(period.Spec{Type: period.Lifetime})
	if err != nil {
		t.Fatal(err)
	}
	scope := func(selector string, groupBy ...string) *Scope {
		parsed, err := labels.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		return &Scope{Name: selector, Namespace: "ns", Selector: parsed, Period: lifetime, GroupBy: groupBy, Meters: []Meter{Tasks}}
	}
	stays, goes := scope("team=red"), scope("run!=0", "run")
	b := newBook()
	b.track(stays)
	b.track(goes)
	at := time.Date(2026, time.March, 29, 12, 0, 0, 0, time.UTC)
	for i := range 100 {
		if err := b.Add(Record{
			Task:  Task{UID: types.UID(strconv.Itoa(i)), Namespace: "ns"},
			Phase: Succeeded, CompletionTime: at, Labels: map[string]string{"team": "red", "run": strconv.Itoa(i)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	b.forget(goes)
	space := b.spaces["ns"]
	if len(space.classes) != 1 || len(space.keys) != 1 {
		t.Errorf("%d classes by the keys %v, want 1 by team", len(space.classes), space.keys)
	}
	q := Query{Scope: stays, Meter: Tasks, At: at, Labels: map[string]string{"team": "red"}}
	if got, err := b.Used(q); err != nil || got.Known != 100 {
		t.Errorf("%+v, %v, want 100 tasks", got, err)
	}
	b.remove("7")
	if got, err := b.Used(q); err != nil || got.Known != 99 {
		t.Errorf("%+v, %v, want 99 tasks", got, err)
	}
}
