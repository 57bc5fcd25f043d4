package usage_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

const million = 1_000_000

// benchTeams share benchScopes: each record matches the scopes of its team.
const (
	benchTeams  = 10
	benchScopes = 100
)

// benchmarkScopes are 100 scopes of one namespace, of which 10 match each
// record. They limit two meters each.
func benchmarkScopes(tb testing.TB) []*usage.Scope {
	tb.Helper()
	specs := []period.Spec{
		{Type: period.Daily, Timezone: "Europe/Berlin"},
		{Type: period.Daily},
		{Type: period.Weekly, Timezone: "America/New_York"},
		{Type: period.Monthly},
		{Type: period.Quarterly},
		{Type: period.Yearly},
		{Type: period.Lifetime},
		{Type: period.Monthly, Timezone: "Asia/Kolkata"},
		{Type: period.Hourly},
		{Type: period.Fixed, Duration: "30d"},
	}
	list := make([]*usage.Scope, 0, benchScopes)
	for i := range benchScopes {
		selector := "team=team-" + strconv.Itoa(i%benchTeams)
		switch i / benchTeams % 3 {
		case 1:
			selector += ",tier in (gold,silver,bronze)"
		case 2:
			selector += ",!exempt"
		}
		list = append(list, &usage.Scope{
			Name:      "bench/" + strconv.Itoa(i),
			Namespace: "bench",
			Selector:  mustSelector(tb, selector),
			Period:    mustPeriod(tb, specs[i/benchTeams]),
			Meters:    []usage.Meter{usage.CostUSD, usage.InputTokens},
		})
	}
	return list
}

// benchmarkRecords makes n records of the last 30 days, in the order of time.
// Their labels are shared by many, or each has one value of its own.
func benchmarkRecords(n int, unique bool) []usage.Record {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed sequence, for comparable figures
	tiers := []string{"gold", "silver", "bronze"}
	list := make([]usage.Record, n)
	for i := range list {
		done := benchStart.Add(time.Duration(i) * (30 * 24 * time.Hour / time.Duration(n))).Truncate(time.Second)
		set := map[string]string{
			"team": "team-" + strconv.Itoa(random.IntN(benchTeams)),
			"tier": tiers[random.IntN(len(tiers))],
			"app":  "agent",
		}
		if unique {
			set["run"] = uuid(random)
		}
		list[i] = usage.Record{
			Task:           usage.Task{UID: types.UID(uuid(random)), Namespace: "bench", Name: "task-" + strconv.Itoa(i), Model: "opus"},
			Phase:          usage.Succeeded,
			Labels:         set,
			AdmittedAt:     done.Add(-time.Minute),
			StartTime:      done.Add(-50 * time.Second),
			CompletionTime: done,
			Usage: usage.Figures{
				usage.CostUSD:      {Amount: random.Int64N(usage.USD), Basis: usage.Reported},
				usage.InputTokens:  {Amount: random.Int64N(million), Basis: usage.Reported},
				usage.OutputTokens: {Amount: random.Int64N(million), Basis: usage.Reported},
				usage.Tasks:        {Amount: 1, Basis: usage.Reported},
				usage.Seconds:      {Amount: 50, Basis: usage.Reported},
			},
		}
	}
	return list
}

var benchStart = time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)

// uuid makes a UID as an API server does.
func uuid(random *rand.Rand) string {
	a, b := random.Uint64(), random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff)
}

func fill(tb testing.TB, ledger *usage.Memory, records []usage.Record) {
	tb.Helper()
	for i := range records {
		if err := ledger.Add(records[i]); err != nil {
			tb.Fatal(err)
		}
	}
}

// matchAll is the floor of a ledger without an index: one pass that matches
// every record against every compiled selector.
func matchAll(records []usage.Record, scopes []*usage.Scope) (matches int) {
	for i := range records {
		for _, s := range scopes {
			if s.Namespace == records[i].Namespace && s.Selector.Matches(labels.Set(records[i].Labels)) {
				matches++
			}
		}
	}
	return matches
}

// BenchmarkRebuild fills a new ledger from a million records under 100 budgets
// and compares that with one pass that only matches.
func BenchmarkRebuild(b *testing.B) {
	for _, unique := range []bool{false, true} {
		name := "shared labels"
		if unique {
			name = "unique labels"
		}
		b.Run(name, func(b *testing.B) {
			scopes, records := benchmarkScopes(b), benchmarkRecords(million, unique)
			if got, want := matchAll(records, scopes), million*benchScopes/benchTeams; got != want {
				b.Fatalf("%d matches, want %d", got, want)
			}
			var naive time.Duration
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				runtime.GC()
				start := time.Now()
				matchAll(records, scopes)
				naive += time.Since(start)
				runtime.GC()
				b.StartTimer()
				fill(b, usage.NewMemory(scopes...), records)
			}
			b.ReportMetric(float64(naive)/float64(b.Elapsed()), "times-faster-than-matching")
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/million, "ns/record")
		})
	}
}

// BenchmarkBytesPerRecord measures what the ledger keeps on the heap for a
// record, the text of its UID included.
func BenchmarkBytesPerRecord(b *testing.B) {
	for _, unique := range []bool{false, true} {
		name := "shared labels"
		if unique {
			name = "unique labels"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ledger := usage.NewMemory(benchmarkScopes(b)...)
				before := heap()
				for start := range 10 {
					// In parts, so that the inputs are never all there.
					records := benchmarkRecords(million, unique)
					fill(b, ledger, records[start*million/10:(start+1)*million/10])
					break
				}
				_ = before
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
