package budget_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/internal/corpus"
	"github.com/bursar-dev/bursar/usage"
)

// TestDecisionCases replays the corpus on plain slices and on the ledger in
// memory, with budgets, records and holds in several orders. Among the cases are
// rows A3 and A4 (limit, many), C1 (hold), C4 (unknown), C5 (meter) and C6
// (group).
func TestDecisionCases(t *testing.T) {
	files, err := filepath.Glob("testdata/admit*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	for _, file := range files {
		cases, err := corpus.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			t.Run(c.ID, func(t *testing.T) {
				history, err := c.History()
				if err != nil {
					t.Fatal(err)
				}
				in := input(c)
				for range 4 {
					in.Ledger = history
					compare(t, c, "on plain slices", budget.Admit(in))
					in.Ledger = ledger(t, history)
					compare(t, c, "on the ledger", budget.Admit(in))
					shuffle(in.Rules)
					shuffle(history.Records)
					shuffle(history.Holds)
				}
			})
		}
	}
}

func input(c corpus.Case) budget.Input {
	in := budget.Input{
		Task: budget.Task{
			UID: c.Task.UID, Namespace: c.Task.Namespace, Labels: c.Task.Labels, Estimate: c.Task.Estimate,
		},
		Now: c.Now,
	}
	for i := range c.Budgets {
		rule, _ := budget.Compile(&c.Budgets[i])
		in.Rules = append(in.Rules, rule)
	}
	return in
}

func ledger(t *testing.T, history usage.History) *usage.Memory {
	t.Helper()
	memory := usage.NewMemory()
	for _, r := range history.Records {
		if err := memory.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range history.Holds {
		if err := memory.Renew(h); err != nil {
			t.Fatal(err)
		}
	}
	return memory
}

func shuffle[T any](list []T) {
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func compare(t *testing.T, c corpus.Case, where string, d budget.Decision) {
	t.Helper()
	want, got := c.Want, c.Want.Observed(d)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(0)); diff != "" {
		t.Errorf("%s, %s (-want +got):\n%s\n%s", c.Why, where, diff, d.Message())
	}
}
