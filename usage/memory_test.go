package usage_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

func TestMemoryGroupsAndLen(t *testing.T) {
	scope := everything(t, usage.CostUSD)
	scope.GroupBy = []string{"user"}
	ledger := usage.NewMemory()
	source := newRecordSource(20, true)
	for i, r := range source.take(20) {
		r.Namespace, r.Labels["user"] = "team-a", fmt.Sprint("u", i%3)
		if i == 0 {
			delete(r.Labels, "user")
		}
		fill(t, ledger, []usage.Record{r})
		if i < 5 {
			ledger.Remove(r.UID)
			fill(t, ledger, []usage.Record{r})
		}
		if i == 0 {
			ledger.Remove(r.UID)
		}
	}
	if _, err := ledger.Hold(*heldFor(finished(), nil)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"!user", "user=u0", "user=u1", "user=u2"}, ledger.Groups(scope)); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if records, holds := ledger.Len(); records != 19 || holds != 1 {
		t.Errorf("%d records and %d holds, want 19 and 1", records, holds)
	}
	ledger.Release("uid-1")
	if diff := cmp.Diff([]string{"user=u0", "user=u1", "user=u2"}, ledger.Groups(scope)); diff != "" {
		t.Errorf("groups after the only one of !user is gone (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{""}, ledger.Groups(everything(t, usage.CostUSD))); diff != "" {
		t.Errorf("the group of a scope without groups (-want +got):\n%s", diff)
	}
}

func TestMemoryRenew(t *testing.T) {
	scope := everything(t, usage.CostUSD)
	ledger := usage.NewMemory(scope)
	for _, amount := range []int64{5, 7} {
		if err := ledger.Renew(*heldFor(finished(), usage.Amounts{usage.CostUSD: amount})); err != nil {
			t.Fatal(err)
		}
	}
	q := usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon}
	if got, err := ledger.Used(q); err != nil || got.Held != 7 {
		t.Errorf("got %v, %v, want 7 held", got, err)
	}
	q.Except = "uid-1"
	if got, err := ledger.Used(q); err != nil || got.Held != 0 {
		t.Errorf("without its own: got %v, %v, want 0 held", got, err)
	}
	if err := ledger.Renew(usage.Hold{UID: "uid-1"}); err == nil || !strings.Contains(err.Error(), "namespace: required") {
		t.Errorf("a hold that is not valid: %v", err)
	}
	if held, ok := ledger.Held("uid-1"); !ok || held.Amounts[usage.CostUSD] != 7 {
		t.Errorf("after a hold that is not valid: %v", held)
	}
}

// TestARecordEndsTheHold: whichever came first, nothing is left of the hold,
// also not when the record is deleted.
func TestARecordEndsTheHold(t *testing.T) {
	scope := everything(t, usage.CostUSD)
	for _, recordFirst := range []bool{false, true} {
		ledger := usage.NewMemory(scope)
		r, h := mustRecord(t, finished()), *heldFor(finished(), usage.Amounts{usage.CostUSD: 5})
		steps := []func() error{
			func() error { _, err := ledger.Hold(h); return err },
			func() error { return ledger.Add(r) },
			func() error { return ledger.Renew(h) },
		}
		if recordFirst {
			steps[0], steps[1] = steps[1], steps[0]
		}
		for _, step := range steps {
			if err := step(); err != nil && !errors.Is(err, usage.ErrRecorded) {
				t.Fatal(err)
			}
		}
		if records, holds := ledger.Len(); records != 1 || holds != 0 {
			t.Errorf("record first %v: %d records and %d holds are kept", recordFirst, records, holds)
		}
		ledger.Remove(r.UID)
		if records, holds := ledger.Len(); records != 0 || holds != 0 {
			t.Errorf("record first %v: %d records and %d holds are left", recordFirst, records, holds)
		}
	}
}

// TestTheZeroMemoryIsAnEmptyLedger, as the zero value of a mutex is a mutex.
func TestTheZeroMemoryIsAnEmptyLedger(t *testing.T) {
	var ledger usage.Memory
	scope := everything(t, usage.CostUSD)
	if got, err := ledger.Used(usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon}); err != nil || got.Known != 0 {
		t.Errorf("got %v, %v", got, err)
	}
	fill(t, &ledger, []usage.Record{mustRecord(t, finished())})
	if records, _ := ledger.Len(); records != 1 {
		t.Errorf("%d records, want 1", records)
	}
}

func TestMemoryDoIsAlone(t *testing.T) {
	scope := everything(t, usage.CostUSD)
	ledger := usage.NewMemory(scope)
	done := make(chan int64)
	for i := range 100 {
		go func() {
			var admitted int64
			ledger.Do(func(l usage.Ledger) {
				got, err := l.Used(usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon})
				if err != nil || got.Held+30 > 100 {
					return
				}
				h := *heldFor(finished(), usage.Amounts{usage.CostUSD: 30})
				h.UID = uidOf(i)
				if _, err := l.Hold(h); err == nil {
					admitted = 1
				}
			})
			done <- admitted
		}()
	}
	total := int64(0)
	for range 100 {
		total += <-done
	}
	if total != 3 {
		t.Errorf("%d tasks of 30 under 100, want 3", total)
	}
}

func TestMemoryIsFreeAfterAPanicInDo(_ *testing.T) {
	ledger := usage.NewMemory()
	func() {
		defer func() { _ = recover() }()
		ledger.Do(func(usage.Ledger) { panic("a fault of the caller") })
	}()
	ledger.Release("x") // and does not wait for ever
}

func TestMemoryForgetsAndLearnsAgain(t *testing.T) {
	scope := everything(t, usage.CostUSD)
	scope.Selector = mustSelector(t, "team=red")
	ledger := usage.NewMemory(scope, nil, &usage.Scope{Name: "of nothing"})
	c := finished()
	c.Reported = usage.Amounts{usage.CostUSD: 7}
	fill(t, ledger, []usage.Record{mustRecord(t, c)})
	for range 2 {
		if got, err := ledger.Used(usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon}); err != nil || got.Known != 7 {
			t.Errorf("got %v, %v, want 7", got, err)
		}
		ledger.Forget(scope)
		ledger.Forget(scope)
	}
}

// Meters beyond the few that a ledger usually has are told apart, too.
func TestMemoryOfManyMeters(t *testing.T) {
	var meters []usage.Meter
	figures := usage.Figures{}
	for i := range 50 {
		meter := usage.Meter("m" + strconv.Itoa(i))
		meters, figures[meter] = append(meters, meter), reported(int64(i))
	}
	r := mustRecord(t, finished())
	r.Usage = figures
	scope := everything(t, meters...)
	ledger := usage.NewMemory()
	fill(t, ledger, []usage.Record{r})
	for i, meter := range meters {
		if got, err := ledger.Used(usage.Query{Scope: scope, Meter: meter, At: noon}); err != nil || got.Known != int64(i) {
			t.Errorf("%s: %+v, %v, want %d", meter, got, err, i)
		}
	}
}

// Many records in no order, in scopes whose windows slide or open at their first
// use, and many of them deleted again.
func TestMemoryWithManyRecordsInNoOrder(t *testing.T) {
	var scopes []*usage.Scope
	for _, spec := range []period.Spec{
		{Type: period.Sliding, Duration: "7d"}, {Type: period.FirstUse, Duration: "5h"}, {Type: period.Hourly, Timezone: "Asia/Kathmandu"},
	} {
		scopes = append(scopes, &usage.Scope{
			Name: string(spec.Type), Namespace: "bench", Selector: labels.Everything(), Period: mustPeriod(t, spec), GroupBy: []string{"tier"},
			Meters: []usage.Meter{usage.CostUSD},
		})
	}
	const n = 3000
	records := newRecordSource(n, false).take(n)
	random := rand.New(rand.NewPCG(5, 6)) // a fixed sequence, for a test that fails again
	random.Shuffle(n, func(i, j int) { records[i], records[j] = records[j], records[i] })
	ledger := usage.NewMemory(scopes...)
	compare := func(history usage.History) {
		t.Helper()
		for range 10 {
			q := usage.Query{
				Scope: scopes[random.IntN(len(scopes))], Meter: usage.CostUSD, Labels: records[0].Labels,
				At: benchStart.Add(time.Duration(random.Int64N(int64(benchDays * 24 * time.Hour)))),
			}
			want, wantErr := history.Used(q)
			got, err := ledger.Used(q)
			if diff := cmp.Diff(want, got); diff != "" || err != nil || wantErr != nil {
				t.Fatalf("%s at %s: %v, %v (-want +got):\n%s", q.Scope.Name, q.At, wantErr, err, diff)
			}
		}
	}
	for i := 0; i < n; i += n / 5 {
		fill(t, ledger, records[i:i+n/5])
		compare(usage.History{Records: records[:i+n/5]})
	}
	for i := 0; i < n; i += n / 5 {
		for _, r := range records[i : i+n/5] {
			ledger.Remove(r.UID)
		}
		compare(usage.History{Records: records[i+n/5:]})
	}
	if records, holds := ledger.Len(); records+holds != 0 {
		t.Errorf("%d records and %d holds are left", records, holds)
	}
}

// What is asked all the time leaves nothing for the garbage collector.
func TestAllocations(t *testing.T) {
	source := newRecordSource(1000, false)
	ledger := usage.NewMemory()
	fill(t, ledger, source.take(1000))
	if _, err := ledger.Hold(usage.Hold{UID: "own", Namespace: "bench", ExpiresAt: benchStart.AddDate(1, 0, 0)}); err != nil {
		t.Fatal(err)
	}
	at := benchStart.Add(3 * 24 * time.Hour)
	for _, spec := range []period.Spec{
		{Type: period.Daily, Timezone: "Europe/Berlin"}, {Type: period.Sliding, Duration: "1d"}, {Type: period.FirstUse, Duration: "1d"}, {Type: period.Lifetime},
	} {
		for _, groupBy := range [][]string{nil, {"team"}, {"team", "absent"}} {
			q := usage.Query{
				Scope: &usage.Scope{
					Name: string(spec.Type), Namespace: "bench", Selector: labels.Everything(), Period: mustPeriod(t, spec), GroupBy: groupBy,
					Meters: []usage.Meter{usage.Tasks, usage.CostUSD},
				},
				Meter: usage.CostUSD, Labels: map[string]string{"team": "team-3"}, At: at, Except: "own",
			}
			name := fmt.Sprint(spec.Type, groupBy)
			guard(t, name+" Used", 0, func() {
				if b, err := ledger.Used(q); err != nil || b.Known == 0 && len(groupBy) < 2 {
					t.Fatal(b, err)
				}
			})
			guard(t, name+" Turns", 0, func() {
				if _, err := ledger.Turns(q); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	record := source.take(1)[0]
	fill(t, ledger, []usage.Record{record})
	guard(t, "the same record again", 0, func() { _ = ledger.Add(record) })
	guard(t, "ParseUSD", 0, func() { _, _ = usage.ParseUSD(" 12.3456789012345 ") })
	guard(t, "ParseCount", 0, func() { _, _ = usage.ParseCount(" 1500 ") })
	results := map[string]string{"cost-usd": "0.25", "input-tokens": "1500", "output-tokens": "75", "response": "done"}
	names := usage.StandardResults()
	guard(t, "ReadResults", 8, func() { _, _ = usage.ReadResults(results, names) })
	prices := mustPrices(t, full)
	tokens := usage.Amounts{usage.InputTokens: 1, usage.OutputTokens: 2}
	guard(t, "Cost", 2, func() { _, _ = prices.Cost("full", tokens, usage.TokenCounts{}) })
}

func guard(t *testing.T, name string, most float64, f func()) {
	t.Helper()
	if got := testing.AllocsPerRun(100, f); got > most {
		t.Errorf("%s allocates %v times, at most %v are right", name, got, most)
	}
}
