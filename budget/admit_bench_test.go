package budget_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// benchNow ends the month over which the records of the benchmarks are spread.
var benchNow = time.Date(2026, 6, 30, 12, 0, 0, 0, time.UTC)

// hundred gives 100 budgets of a namespace with two limits each, 10 of which
// match a task with the labels of benchLabels(0).
func hundred(tb testing.TB) []*budget.Rule {
	tb.Helper()
	rules := make([]*budget.Rule, 100)
	for i := range rules {
		rules[i] = compiled(tb, &budgetv1alpha1.TaskBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: fmt.Sprintf("budget-%02d", i)},
			Spec: budgetv1alpha1.TaskBudgetSpec{
				TaskSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": fmt.Sprintf("team-%d", i%10)}},
				Period: budgetv1alpha1.Period{
					Type:     []string{"Hourly", "Daily", "Weekly", "Monthly"}[i/10%4],
					Timezone: []string{"UTC", "America/Havana", "Asia/Kolkata"}[i/10%3],
				},
				MaxCostUSD:     nano(usage.MustUSD("9000000000")),
				MaxInputTokens: new(int64(1 << 62)),
			},
		})
	}
	return rules
}

func benchLabels(i int) map[string]string {
	return map[string]string{
		"team": fmt.Sprintf("team-%d", i%10), "user": fmt.Sprintf("user-%d", i%50), "env": []string{"dev", "prod"}[i%2],
		"app.kubernetes.io/managed-by": "spawner", "repo": fmt.Sprintf("repo-%d", i%20),
	}
}

func benchRecord(i int) usage.Record {
	completed := benchNow.Add(-time.Duration(i%43_200) * time.Minute).Truncate(time.Second)
	return usage.Record{
		Task:           usage.Task{UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)), Namespace: "team-a"},
		Phase:          usage.Succeeded,
		Labels:         benchLabels(i),
		CompletionTime: completed,
		Usage: usage.Figures{
			usage.CostUSD:      {Amount: int64(i%997) * 1_000_000, Basis: usage.Reported},
			usage.InputTokens:  {Amount: int64(i % 100_000), Basis: usage.Reported},
			usage.OutputTokens: {Amount: int64(i % 5_000), Basis: usage.Reported},
			usage.Tasks:        {Amount: 1, Basis: usage.Reported},
		},
	}
}

func benchMemory(tb testing.TB, records int, rules []*budget.Rule) *usage.Memory {
	tb.Helper()
	scopes := make([]*usage.Scope, 0, len(rules))
	for _, r := range rules {
		scopes = append(scopes, r.Scope())
	}
	memory := usage.NewMemory(scopes...)
	for i := range records {
		if err := memory.Add(benchRecord(i)); err != nil {
			tb.Fatal(err)
		}
	}
	return memory
}

// BenchmarkAdmit asks a ledger of a thousand, a hundred thousand and a million
// records. x-1k is the time against that with a thousand records, and x-naive
// how many times faster the ledger is than looking at every record.
func BenchmarkAdmit(b *testing.B) {
	rules := hundred(b)
	in := budget.Input{
		Task:  budget.Task{UID: "new", Namespace: "team-a", Labels: benchLabels(0)},
		Rules: rules, Now: benchNow,
	}
	small := sync.OnceValue(func() *usage.Memory { return benchMemory(b, 1_000, rules) })
	for _, records := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("records=%d", records), func(b *testing.B) {
			in.Ledger = benchMemory(b, records, rules)
			base := in
			base.Ledger = small()
			if d := budget.Admit(in); !d.Allowed || len(d.Verdicts) != 10 {
				b.Fatalf("%d verdicts: %s", len(d.Verdicts), d.Message())
			}
			b.ReportAllocs()
			var fast, reference time.Duration
			for b.Loop() { // by turns, so that both see the same machine
				fast += timed(func() { budget.Admit(in) })
				reference += timed(func() { budget.Admit(base) })
			}
			b.ReportMetric(float64(fast.Nanoseconds())/float64(b.N), "ns/admit")
			b.ReportMetric(float64(fast)/float64(reference), "x-1k")
			if records == 100_000 {
				b.ReportMetric(float64(naive(records, in))/(float64(fast)/float64(b.N)), "x-naive")
			}
			b.ReportMetric(testing.AllocsPerRun(100, func() { budget.Admit(in) }), "allocs/admit")
		})
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// naive is the time of one decision on plain slices.
func naive(records int, in budget.Input) time.Duration {
	history := usage.History{}
	for i := range records {
		history.Records = append(history.Records, benchRecord(i))
	}
	in.Ledger = history
	return timed(func() { budget.Admit(in) })
}
