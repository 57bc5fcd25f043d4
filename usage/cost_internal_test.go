package usage

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/period"
)

// TestAnAnswerLooksAtFewRecords is row C9: the records are taken away under the
// ledger, all but those of the chunk that a window without fixed bounds begins
// in, and whoever looks at one of the others finds nothing to look at. How long
// an answer takes is in BenchmarkAdmit of package budget.
func TestAnAnswerLooksAtFewRecords(t *testing.T) {
	const records = 20_000
	at := time.Date(2026, time.March, 29, 0, 0, 0, 0, time.UTC)
	for kind, want := range map[period.Kind]int64{period.Daily: 3600, period.Lifetime: records, period.Sliding: 3600} {
		spec := period.Spec{Type: kind}
		if kind == period.Sliding {
			spec.Duration = "1h"
		}
		compiled, err := period.Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		scope := &Scope{Name: "s", Namespace: "ns", Selector: labels.Everything(), Period: compiled, Meters: []Meter{CostUSD}}
		b := newBook()
		b.track(scope)
		for i := range records { // one each second, up to an hour after midnight
			if err := b.Add(Record{
				Task:  Task{UID: types.UID(strconv.Itoa(i)), Namespace: "ns"},
				Phase: Succeeded, CompletionTime: at.Add(time.Duration(i+3600-records) * time.Second),
				Usage: Figures{CostUSD: {Amount: 1, Basis: Reported}},
			}); err != nil {
				t.Fatal(err)
			}
		}
		q := Query{Scope: scope, Meter: CostUSD, At: at.Add(time.Hour - time.Second)}
		if got, err := b.Used(q); err != nil || got.Known != want {
			t.Errorf("%s: %+v, %v, want %d", kind, got, err, want)
		}
		if gone := takeRecords(b, instantOf(at)); gone < records-2*maxChunk {
			t.Errorf("%s: only %d records were taken away", kind, gone)
		}
		if got, err := b.Used(q); err != nil || got.Known != want {
			t.Errorf("%s, without records: %+v, %v, want %d", kind, got, err, want)
		}
	}
}

// takeRecords takes the records away, but for those of the chunk of an instant,
// and says how many.
func takeRecords(b *book, kept instant) int {
	gone := b.records.count
	b.items, b.records = itemPool{}, recordIndex{}
	for _, a := range b.accounts {
		for _, c := range a.groups {
			if !a.lined {
				continue
			}
			near := c.records.chunkOf(kept)
			for i, chunk := range c.records.chunks {
				if i == near {
					gone -= len(chunk.items)
				} else {
					chunk.items = []*item{{atSec: chunk.items[len(chunk.items)-1].atSec}} // where it ends
				}
			}
		}
	}
	return gone
}
