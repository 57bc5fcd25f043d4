package ledgertest

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

func lawRemove(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	remover, ok := ledger.(Remover)
	if !ok {
		return // it is not offered
	}
	scope := dailyScope(t)
	hold(t, ledger, aside("a", 0, 10, 7))
	add(t, ledger, spent("a", 1, 1<<62), spent("b", 1, 1<<62), spent("c", 1, 1<<62), spent("d", 1, 3))
	taken(t, ledger, scope, at(1), 1<<63-1, 0)
	remover.Remove("b")
	remover.Remove("c")
	remover.Remove("c")
	taken(t, ledger, scope, at(1), 1<<62+3, 0)
	remover.Remove("a")
	taken(t, ledger, scope, at(1), 3, 0)
	remover.Remove("d") // the last one of its window
	taken(t, ledger, scope, at(1), 0, 0)
	add(t, ledger, spent("d", 1, 5), spent("e", 30, 100))
	taken(t, ledger, scope, at(1), 5, 0)
	remover.Remove("d")
	add(t, ledger, spent("f", 2, 7))
	taken(t, ledger, scope, at(1), 7, 0)
	taken(t, ledger, scope, at(30), 100, 0)
}

// lawFirstUse uses the instant that a careless ledger takes for none: the start
// of Unix time.
func lawFirstUse(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	compiled, err := period.Compile(period.Spec{Type: period.FirstUse, Duration: "5h"})
	if err != nil {
		t.Fatal(err)
	}
	epoch := time.Unix(0, 0).UTC()
	byRecord, byHold, known := dailyScope(t), dailyScope(t), dailyScope(t)
	for team, scope := range map[string]*usage.Scope{"record": byRecord, "hold": byHold, "none": known} {
		scope.Period, scope.Selector = compiled, labels.SelectorFromSet(labels.Set{"team": team})
	}
	known.Opened = epoch
	r, h := spent("a", 0, 3), aside("b", 0, 0, 7)
	r.Labels["team"], r.AdmittedAt, r.CompletionTime = "record", epoch, epoch.Add(time.Hour)
	h.Labels["team"], h.AdmittedAt, h.ExpiresAt = "hold", epoch, epoch.Add(10*time.Hour)
	add(t, ledger, r)
	hold(t, ledger, h)
	for _, scope := range []*usage.Scope{byRecord, byHold, known} {
		for when, start := range map[time.Time]time.Time{
			epoch: epoch, epoch.Add(5*time.Hour - 1): epoch, epoch.Add(5 * time.Hour): epoch.Add(5 * time.Hour), epoch.Add(-1): epoch.Add(-1),
		} {
			b, err := ledger.Used(usage.Query{Scope: scope, Meter: usage.CostUSD, At: when})
			if err != nil || !b.Window.Start.Equal(start) {
				t.Errorf("%s at %s: the window %v, %v, want one from %s", scope.Selector, when, b.Window, err, start)
			}
		}
	}
}

// lawEndOfTime opens a window in the last year that would end years later.
func lawEndOfTime(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	compiled, err := period.Compile(period.Spec{Type: period.FirstUse, Duration: "3660d"})
	if err != nil {
		t.Fatal(err)
	}
	scope := dailyScope(t)
	scope.Period = compiled
	used := time.Date(9998, time.June, 1, 0, 0, 0, 0, time.UTC)
	r := spent("a", 0, 3)
	r.AdmittedAt, r.CompletionTime = used, used
	add(t, ledger, r)
	q := usage.Query{Scope: scope, Meter: usage.CostUSD, At: used.Add(time.Hour)}
	if b, err := ledger.Used(q); !errors.Is(err, period.ErrOutOfRange) {
		t.Errorf("got %+v, %v, want ErrOutOfRange", b, err)
	}
	if _, err := usage.Sum([]usage.Record{r}, nil, q); !errors.Is(err, period.ErrOutOfRange) {
		t.Errorf("Sum: got %v, want ErrOutOfRange", err)
	}
}
