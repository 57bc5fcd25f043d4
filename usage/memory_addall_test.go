package usage_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/usage"
)

// TestAddAllIsAddOneByOne for a list with all that can be wrong with it: the
// errors, in the order of the list, and what is in the ledger afterwards.
func TestAddAllIsAddOneByOne(t *testing.T) {
	list := newRecordSource(1000, false).take(100)
	again, conflict, stranger := list[3].Clone(), list[3].Clone(), list[4].Clone()
	conflict.Usage[usage.CostUSD] = usage.Figure{Amount: 1, Basis: usage.Priced}
	stranger.Namespace = "elsewhere"
	list = append(list[:5:5], append([]usage.Record{again, conflict, {}, stranger}, list[5:]...)...)
	list = append(list, mustCorrect(t, list[50], usage.Amounts{usage.CostUSD: 1}), list[60], again)

	scopes := benchmarkScopes(t)
	one, all := usage.NewMemory(scopes...), usage.NewMemory(scopes...)
	var faults []error
	for _, r := range list {
		if err := one.Add(r); err != nil {
			faults = append(faults, err)
		}
	}
	err := all.AddAll(list)
	if want := errors.Join(faults...); err == nil || err.Error() != want.Error() || len(faults) != 3 {
		t.Errorf("AddAll: %v\nAdd: %v", err, want)
	}
	for _, r := range list[:10] {
		all.Remove(r.UID)
		one.Remove(r.UID)
	}
	if err := all.AddAll(list[:20]); err == nil {
		t.Error("AddAll takes conflicting records after others were removed")
	}
	for _, r := range list[:20] {
		_ = one.Add(r)
	}
	compareMemories(t, one, all, scopes)
}

// compareMemories asks both about each scope on every day of the benchmarks.
func compareMemories(t *testing.T, want, got *usage.Memory, scopes []*usage.Scope) {
	t.Helper()
	records, holds := want.Len()
	if r, h := got.Len(); r != records || h != holds {
		t.Errorf("%d records and %d holds, want %d and %d", r, h, records, holds)
	}
	for _, s := range scopes {
		for day := range benchDays {
			q := usage.Query{Scope: s, Meter: usage.CostUSD, At: benchStart.Add(time.Duration(day) * 24 * time.Hour)}
			a, errA := want.Used(q)
			b, errB := got.Used(q)
			if diff := cmp.Diff(a, b); diff != "" || errA != nil || errB != nil {
				t.Fatalf("%s at %s: %v, %v: %s", s.Name, q.At, errA, errB, diff)
			}
		}
	}
}

// TestAddAllOfNothing is no error, on a ledger that was never used.
func TestAddAllOfNothing(t *testing.T) {
	var ledger usage.Memory
	if err := ledger.AddAll(nil); err != nil {
		t.Error(err)
	}
	if err := ledger.AddAll([]usage.Record{{}}); err == nil {
		t.Error("a record without a UID was added")
	}
}
