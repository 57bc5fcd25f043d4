package usage_test

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// A literal of a test may lack what plays no part in a sum. A ledger, which keeps what is stored, wants all of it.
func TestAHistoryAsksLessOfALiteralThanALedger(t *testing.T) {
	lifetime, err := period.Compile(period.Spec{Type: period.Lifetime})
	if err != nil {
		t.Fatal(err)
	}
	scope := &usage.Scope{Name: "a", Namespace: "team", Selector: labels.Everything(), Period: lifetime, Meters: []usage.Meter{usage.CostUSD}}
	record := func(dollars int64) usage.Record {
		return usage.Record{
			Task: usage.Task{UID: "u1", Namespace: "team"}, CompletionTime: time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC),
			Usage: usage.Figures{usage.CostUSD: {Amount: dollars * usage.USD, Basis: usage.Reported}},
		}
	}
	query := usage.Query{Scope: scope, Meter: usage.CostUSD, At: time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)}
	got, err := usage.History{Records: []usage.Record{record(3), record(4)}}.Used(query)
	if err != nil || got.Known != 3*usage.USD {
		t.Errorf("a history without phases, and with a UID that is there twice: %+v, %v; want the first", got, err)
	}

	ledger := usage.NewMemory(scope)
	if err := ledger.Add(record(3)); err == nil {
		t.Error("a ledger has taken a record without a phase")
	}
	first, second := record(3), record(4)
	first.Phase, second.Phase = usage.Succeeded, usage.Succeeded
	if err := ledger.Add(first); err != nil {
		t.Fatal(err)
	}
	if conflict, ok := errors.AsType[*usage.ConflictError](ledger.Add(second)); !ok || conflict.UID != "u1" {
		t.Errorf("the conflict is %v", conflict)
	}
}
