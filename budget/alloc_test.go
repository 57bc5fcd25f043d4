package budget_test

import (
	"testing"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/usage"
)

// TestAdmitAllocatesTwice: one array of verdicts and one of figures, however
// many budgets there are.
func TestAdmitAllocatesTwice(t *testing.T) {
	in := budget.Input{
		Task:  budget.Task{UID: "new", Namespace: "team-a", Labels: benchLabels(0), Estimate: usage.Amounts{usage.CostUSD: 1}},
		Rules: hundred(t), Ledger: usage.NewMemory(), Now: benchNow,
	}
	budget.Admit(in)
	if n := testing.AllocsPerRun(100, func() { budget.Admit(in) }); n > 2 {
		t.Errorf("%v allocations, want 2", n)
	}
}
