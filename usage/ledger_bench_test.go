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

// Of 100 scopes 10 match each record: those of its team.
const (
	benchTeams  = 10
	benchScopes = 100
)

// benchDays is how many days the records of a benchmark are spread over.
const benchDays = 30

var benchStart = time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)

// benchmarkScopes are the scopes of 100 budgets of one namespace that limit two
// meters each.
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
		switch i / benchTeams % 4 {
		case 1:
			selector += ",app=agent"
		case 2:
			selector += ",tier in (gold,silver,bronze)"
		case 3:
			selector += ",app in (agent,batch),!exempt"
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

// recordSource makes records of the last days in the order of time. Their
// labels are shared by many, or each has one value of its own.
type recordSource struct {
	random *rand.Rand
	total  int
	made   int
	unique bool
}

func newRecordSource(total int, unique bool) *recordSource {
	return &recordSource{random: rand.New(rand.NewPCG(1, 2)), total: total, unique: unique} // a fixed sequence, for comparable figures
}

// take makes the next n records.
func (s *recordSource) take(n int) []usage.Record {
	list := make([]usage.Record, n)
	for i := range list {
		list[i] = s.next()
	}
	return list
}

func (s *recordSource) next() usage.Record {
	done := benchStart.Add(time.Duration(s.made) * (benchDays * 24 * time.Hour / time.Duration(s.total))).Truncate(time.Second)
	s.made++
	set := map[string]string{
		"team": "team-" + strconv.Itoa(s.random.IntN(benchTeams)),
		"tier": []string{"gold", "silver", "bronze"}[s.random.IntN(3)],
		"app":  "agent",
	}
	if s.unique {
		set["run"] = s.uuid()
	}
	reported := func(n int64) usage.Figure { return usage.Figure{Amount: n, Basis: usage.Reported} }
	return usage.Record{
		Task:           usage.Task{UID: types.UID(s.uuid()), Namespace: "bench", Name: "task-" + strconv.Itoa(s.made), Model: "opus"},
		Phase:          usage.Succeeded,
		Labels:         set,
		AdmittedAt:     done.Add(-time.Minute),
		StartTime:      done.Add(-50 * time.Second),
		CompletionTime: done,
		Usage: usage.Figures{
			usage.CostUSD:      reported(s.random.Int64N(usage.USD)),
			usage.InputTokens:  reported(s.random.Int64N(million)),
			usage.OutputTokens: reported(s.random.Int64N(million)),
			usage.Tasks:        reported(1),
			usage.Seconds:      reported(50),
		},
	}
}

// uuid makes a UID as an API server does.
func (s *recordSource) uuid() string {
	a, b := s.random.Uint64(), s.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff)
}

func fill(tb testing.TB, ledger usage.Ledger, records []usage.Record) {
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

// kinds of labels that records carry.
func forLabels(b *testing.B, run func(b *testing.B, unique bool)) {
	b.Helper()
	b.Run("shared-labels", func(b *testing.B) { run(b, false) })
	b.Run("unique-labels", func(b *testing.B) { run(b, true) })
}

// BenchmarkRebuild fills a new ledger from a million records under 100 budgets.
// Its twin only matches the same records, batch by batch in turns, so that both
// see the same machine.
func BenchmarkRebuild(b *testing.B) {
	forLabels(b, func(b *testing.B, unique bool) {
		b.Helper()
		const batch = 500 // a page of an API server's list, decoded just before
		var naive, indexed time.Duration
		for b.Loop() {
			scopes := benchmarkScopes(b)
			ledger, source := usage.NewMemory(scopes...), newRecordSource(million, unique)
			for range million / batch {
				records := source.take(batch)
				start := time.Now()
				matches := matchAll(records, scopes)
				between := time.Now()
				if err := ledger.AddAll(records); err != nil {
					b.Fatal(err)
				}
				indexed += time.Since(between)
				naive += between.Sub(start)
				if want := batch * benchScopes / benchTeams; matches != want {
					b.Fatalf("%d matches, want %d", matches, want)
				}
			}
		}
		b.ReportMetric(float64(naive)/float64(indexed), "times-faster-than-matching")
		b.ReportMetric(float64(indexed.Nanoseconds())/float64(b.N)/million, "ns/record")
	})
}

// BenchmarkAdd adds a record to a ledger of 100,000 under 100 budgets.
func BenchmarkAdd(b *testing.B) {
	forLabels(b, func(b *testing.B, unique bool) {
		b.Helper()
		const size = 100_000
		scopes := benchmarkScopes(b)
		ledger, source := usage.NewMemory(scopes...), newRecordSource(size, unique)
		fill(b, ledger, source.take(size))
		var naive, indexed time.Duration
		for b.Loop() {
			records := source.take(1)
			start := time.Now()
			matchAll(records, scopes)
			between := time.Now()
			fill(b, ledger, records)
			indexed += time.Since(between)
			naive += between.Sub(start)
		}
		b.ReportMetric(float64(naive)/float64(indexed), "times-faster-than-matching")
		b.ReportMetric(float64(indexed.Nanoseconds())/float64(b.N), "ns/record")
	})
}

// BenchmarkBytesPerRecord measures what the ledger keeps on the heap for each of
// a million records under 100 budgets, the text of its UID included.
func BenchmarkBytesPerRecord(b *testing.B) {
	forLabels(b, func(b *testing.B, unique bool) {
		b.Helper()
		var bytes uint64
		for b.Loop() {
			ledger, source := usage.NewMemory(benchmarkScopes(b)...), newRecordSource(million, unique)
			before := heap()
			for range 100 {
				fill(b, ledger, source.take(million/100))
			}
			bytes += heap() - before
			runtime.KeepAlive(ledger)
		}
		b.ReportMetric(float64(bytes)/float64(b.N)/million, "heap-bytes/record")
	})
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
