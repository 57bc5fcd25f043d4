package ledgertest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// orderFree enters the same records and holds in two orders, asks in between,
// and compares both ledgers in the end.
func orderFree(t *rapid.T, newLedger func() usage.Ledger) {
	p := &play{source: source{t: t}}
	for n := range rapid.IntRange(1, 3).Draw(t, "scopes") {
		p.scopes = append(p.scopes, p.scope(n))
	}
	var entries []func(usage.Ledger)
	for range rapid.IntRange(1, 20).Draw(t, "entries") {
		if r := p.record(); p.recorded(r.UID) < 0 {
			p.Records = append(p.Records, r)
			entries = append(entries, func(l usage.Ledger) { p.entered(l.Add(r)) })
		}
		if h := p.hold(); p.holding(h.UID) < 0 {
			p.replace(h)
			entries = append(entries, func(l usage.Ledger) { _, _ = l.Hold(h) })
		}
	}
	queries := make([]usage.Query, 10)
	for i := range queries {
		queries[i] = p.query(p.scopes)
	}
	for _, order := range [][]func(usage.Ledger){entries, rapid.Permutation(entries).Draw(t, "order")} {
		p.ledger = newLedger()
		for i, enter := range order {
			enter(p.ledger)
			_, _ = p.ledger.Used(queries[i%len(queries)]) // which may be what a ledger remembers
		}
		for _, q := range queries {
			p.ask(t, p.ledger, q)
		}
	}
}

func (p *play) entered(err error) {
	if err != nil {
		p.t.Fatalf("Add: %v", err)
	}
}

// concurrent enters records and holds from many goroutines, which ask in
// between, and compares the end with the naive sum.
func concurrent(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	scopes := concurrentScopes(t)
	var all model
	var wait sync.WaitGroup
	for worker := range 16 {
		var mine model
		for i := range 40 {
			mine.Records = append(mine.Records, numbered(worker, i))
			mine.Holds = append(mine.Holds, numberedHold(worker, i+20)) // half of them are superseded
		}
		all.Records = append(all.Records, mine.Records...)
		all.Holds = append(all.Holds, mine.Holds...)
		wait.Go(func() { enterAll(t, ledger, scopes, mine.History) })
	}
	wait.Wait()
	for _, scope := range scopes {
		for user := range 4 {
			for _, m := range meters {
				all.ask(t, ledger, usage.Query{Scope: scope, Labels: userLabels(user), Meter: m, At: at(1)})
			}
		}
	}
}

// enterAll enters everything twice and asks in between.
func enterAll(t *testing.T, ledger usage.Ledger, scopes []*usage.Scope, mine usage.History) {
	t.Helper()
	for range 2 {
		for i, r := range mine.Records {
			if _, err := ledger.Hold(mine.Holds[i]); err != nil && i >= 20 {
				t.Errorf("Hold: %v", err)
			}
			if err := ledger.Add(r); err != nil {
				t.Errorf("Add: %v", err)
			}
			q := usage.Query{Scope: scopes[i%len(scopes)], Labels: r.Labels, Meter: usage.CostUSD, At: at(1)}
			if _, err := ledger.Used(q); err != nil {
				t.Errorf("Used: %v", err)
			}
			if _, err := ledger.Turns(q); err != nil {
				t.Errorf("Turns: %v", err)
			}
			ledger.Held(r.UID)
		}
	}
}

func concurrentScopes(t *testing.T) []*usage.Scope {
	t.Helper()
	var scopes []*usage.Scope
	for _, spec := range []period.Spec{
		{Type: period.Daily}, {Type: period.Sliding, Duration: "1d"}, {Type: period.FirstUse, Duration: "5h"}, {Type: period.Lifetime},
	} {
		compiled, err := period.Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		scopes = append(scopes, &usage.Scope{
			Name: string(spec.Type), Namespace: "team-a", Selector: labels.Everything(), Period: compiled,
			GroupBy: []string{"user"}, Meters: meters, Default: usage.Amounts{usage.CostUSD: 5},
		})
	}
	return scopes
}

func numbered(worker, i int) usage.Record {
	return usage.Record{
		Task:           usage.Task{UID: numberedUID(worker, i), Namespace: "team-a"},
		Phase:          usage.Succeeded,
		Labels:         userLabels(i),
		CompletionTime: at(float64(i%48)/2 - 12),
		Usage:          usage.Figures{usage.CostUSD: {Amount: int64(worker*1000 + i), Basis: bases[i%3]}},
	}
}

func numberedHold(worker, i int) usage.Hold {
	return usage.Hold{
		UID: numberedUID(worker, i), Namespace: "team-a", Labels: userLabels(i), AdmittedAt: at(-1), ExpiresAt: at(2),
		Amounts: usage.Amounts{usage.CostUSD: int64(i)},
	}
}

func numberedUID(worker, i int) types.UID { return types.UID(fmt.Sprintf("%d-%d", worker, i)) }

func userLabels(i int) map[string]string {
	return map[string]string{"user": fmt.Sprint("u", i%4), "at": time.Duration(i).String()}
}
