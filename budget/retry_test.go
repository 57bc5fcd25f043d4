package budget_test

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// TestRetryAtIsExactWithARecordFarAhead: one record with a wrong date does not
// make the search give up among thousands that leave a look-back one by one.
func TestRetryAtIsExactWithARecordFarAhead(t *testing.T) {
	const records, cost = 30_000, usage.USD / 1000
	rule := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.Period = budgetv1alpha1.Period{Type: "Sliding", Duration: "24h"}
		s.MaxCostUSD = nano(20 * usage.USD)
	}))
	memory := usage.NewMemory()
	first := noon.Add(-records * time.Second)
	add := func(uid int, done time.Time) {
		t.Helper()
		if err := memory.Add(usage.Record{
			Task:  usage.Task{UID: types.UID(strconv.Itoa(uid)), Namespace: "team-a", Name: "run"},
			Phase: usage.Succeeded, CompletionTime: done,
			Usage: usage.Figures{usage.CostUSD: {Amount: cost, Basis: usage.Reported}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range records {
		add(i, first.Add(time.Duration(i)*time.Second))
	}
	// There is room for the task's 0.30 where 10,300 of the 30,000 have left.
	want := first.Add(10_299*time.Second + 24*time.Hour)
	for name, ahead := range map[string]time.Time{
		"not dated ahead": {}, "a month ahead": noon.AddDate(0, 1, 0), "between the instants of leaving": want.Add(-time.Minute),
	} {
		in := ask("new", rule)
		in.Ledger = memory
		want := want
		if !ahead.IsZero() {
			add(records, ahead)
			if ahead.Before(want) {
				want = want.Add(time.Second) // one more has to leave
			}
		}
		if d := budget.Admit(in); d.Allowed || !d.RetryAt.Equal(want) {
			t.Errorf("%s: allowed %v, retry at %s, want %s", name, d.Allowed, d.RetryAt, want)
		}
		memory.Remove(types.UID(strconv.Itoa(records)))
	}
}
