package budget_test

import (
	"testing"
	"time"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/usage"
)

// TestTheCostOfAnAdmissionDoesNotGrowWithTheRecords is row C9, coarsely enough
// for a busy machine: with a thousand times the records an admission takes not
// 30 times the time. BenchmarkAdmit has the figures.
func TestTheCostOfAnAdmissionDoesNotGrowWithTheRecords(t *testing.T) {
	rules := hundred(t)
	in := budget.Input{
		Task:  budget.Task{UID: "new", Namespace: "team-a", Labels: benchLabels(0), Estimate: usage.Amounts{usage.CostUSD: 1}},
		Rules: rules, Now: benchNow,
	}
	few, many := in, in
	few.Ledger, many.Ledger = benchMemory(t, 20, rules), benchMemory(t, 20_000, rules)
	quickest := map[*budget.Input]time.Duration{&few: time.Hour, &many: time.Hour}
	for range 50 {
		for asked, least := range quickest {
			quickest[asked] = min(least, timed(func() { budget.Admit(*asked) }))
		}
	}
	if least, most := quickest[&few], quickest[&many]; most > 30*least {
		t.Errorf("an admission takes %s with 20 records and %s with 20,000", least, most)
	}
	for _, asked := range []*budget.Input{&few, &many} {
		if n := testing.AllocsPerRun(20, func() { budget.Admit(*asked) }); n > 2 {
			t.Errorf("%v allocations, want 2", n)
		}
	}
}
