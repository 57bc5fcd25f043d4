package budget_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// BenchmarkReview compares decisions on a hundred budgets, ten of which match:
// with a hook in Go that says nothing, and without. What is between them is the
// document that hooks are shown, and for a reservation the second decision.
func BenchmarkReview(b *testing.B) {
	rules := hundred(b)
	memory := benchMemory(b, 1_000, rules)
	in := budget.Input{
		Task: budget.Task{UID: "new", Namespace: "team-a", Labels: benchLabels(0)}, Rules: rules, Ledger: memory, Now: benchNow,
	}
	pass := policy.Func("pass", func(context.Context, *policy.Input) (policy.Verdict, error) { return policy.Pass(), nil })
	r := reviewer(b, pass, budget.ReviewerOptions{Timeout: time.Minute})
	ctx := b.Context()
	for name, c := range map[string]struct{ plain, reviewed func() budget.Decision }{
		"admit": {
			func() budget.Decision { return budget.Admit(in) },
			func() budget.Decision { return r.Admit(ctx, in, budget.Subject{}) },
		},
		"reserve": {
			func() budget.Decision { return budget.Reserve(memory, in, time.Hour) },
			func() budget.Decision { return r.Reserve(ctx, memory, in, budget.Subject{}, time.Hour) },
		},
	} {
		b.Run(name, func(b *testing.B) {
			var plain, reviewed time.Duration
			for b.Loop() { // by turns, so that both see the same machine
				plain += timed(func() { allowed(b, c.plain()) })
				memory.Release("new")
				reviewed += timed(func() { allowed(b, c.reviewed()) })
				memory.Release("new")
			}
			b.ReportMetric(float64(plain.Nanoseconds())/float64(b.N), "plain-ns")
			b.ReportMetric(float64(reviewed)/float64(plain), "reviewed/plain")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func allowed(b *testing.B, d budget.Decision) {
	b.Helper()
	if !d.Allowed {
		b.Fatal(d.Message())
	}
}

// A reviewer that has nobody to ask costs an admission nothing.
func TestAReviewerWithoutPoliciesAllocatesNoMore(t *testing.T) {
	in := budget.Input{
		Task:  budget.Task{UID: "new", Namespace: "team-a", Labels: benchLabels(0), Estimate: usage.Amounts{usage.CostUSD: 1}},
		Rules: hundred(t), Ledger: usage.NewMemory(), Now: benchNow,
	}
	var r budget.Reviewer
	ctx := t.Context()
	r.Admit(ctx, in, budget.Subject{})
	if n := testing.AllocsPerRun(100, func() { r.Admit(ctx, in, budget.Subject{}) }); n > 2 {
		t.Errorf("%v allocations, want the two of Admit", n)
	}
}
