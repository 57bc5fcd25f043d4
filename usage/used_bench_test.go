package usage_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// BenchmarkUsed asks for balances at instants all over the last week, of ledgers
// of 1 k, 100 k and 1 M records in turns.
func BenchmarkUsed(b *testing.B) {
	specs := map[string]period.Spec{
		"Daily":    {Type: period.Daily, Timezone: "Europe/Berlin"},
		"Monthly":  {Type: period.Monthly},
		"Sliding":  {Type: period.Sliding, Duration: "7d"},
		"FirstUse": {Type: period.FirstUse, Duration: "5h"},
	}
	sizes := []int{1_000, 100_000, million}
	scopes := map[string]*usage.Scope{}
	for name, spec := range specs {
		scopes[name] = &usage.Scope{
			Name: name, Namespace: "bench", Selector: labels.Everything(), Period: mustPeriod(b, spec),
			GroupBy: []string{"team"}, Meters: []usage.Meter{usage.CostUSD, usage.InputTokens},
		}
	}
	var ledgers []*usage.Memory
	for _, size := range sizes {
		ledger, source := usage.NewMemory(), newRecordSource(size, false)
		for _, scope := range scopes {
			ledger.Groups(scope) // tracks it
		}
		for range 100 {
			fill(b, ledger, source.take(size/100))
		}
		ledgers = append(ledgers, ledger)
	}
	for _, name := range []string{"Daily", "Monthly", "Sliding", "FirstUse"} {
		b.Run(name, func(b *testing.B) { benchmarkUsed(b, ledgers, scopes[name]) })
	}
}

// benchmarkUsed compares the quartiles of many short rounds, which tell what a
// query takes while nobody else has the processor.
func benchmarkUsed(b *testing.B, ledgers []*usage.Memory, scope *usage.Scope) {
	b.Helper()
	const batch = 100
	random := rand.New(rand.NewPCG(3, 4)) // a fixed sequence, for comparable figures
	rounds := make([][]time.Duration, len(ledgers))
	q := usage.Query{Scope: scope, Meter: usage.CostUSD, Labels: map[string]string{"team": "team-3"}}
	for b.Loop() {
		now := benchStart.Add((benchDays-7)*24*time.Hour + time.Duration(random.Int64N(int64(7*24*time.Hour))))
		for i, ledger := range ledgers {
			start := time.Now()
			for step := range batch {
				q.At = now.Add(time.Duration(step) * time.Second)
				if _, err := ledger.Used(q); err != nil {
					b.Fatal(err)
				}
			}
			rounds[i] = append(rounds[i], time.Since(start))
		}
	}
	quartile := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/4])
	}
	b.ReportMetric(quartile(rounds[2])/batch, "ns/query-at-1M")
	b.ReportMetric(quartile(rounds[1])/quartile(rounds[0]), "ratio-100k-to-1k")
	b.ReportMetric(quartile(rounds[2])/quartile(rounds[0]), "ratio-1M-to-1k")
}
