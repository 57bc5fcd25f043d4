package rego_test

import (
	"math"
	"testing"
	"time"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/rego"
)

// five is the policy of the benchmarks: five usual rules, none of which fires
// on the base input.
const five = `
deny contains {"code": "expensive", "msg": "m"} if {
	input.task.model == "opus"
	input.budget.cost.usedPermille >= 800
}
deny contains {"code": "ceiling", "msg": "m"} if {
	input.estimate.known
	input.estimate.costMicros > input.budget.cost.remaining
}
deny contains {"code": "owner", "msg": "m"} if not input.task.labels.team
deny contains {"code": "size", "msg": "m"} if {
	input.pod.memoryBytes > 8589934592
	input.task.priority != "high"
}
deny contains {"code": "group", "msg": "m"} if input.task.attempt > 3
`

func BenchmarkFive(b *testing.B) {
	h := compile(b, five)
	in := base()
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, policy.Binding{Hook: h})
	if err != nil {
		b.Fatal(err)
	}
	parsed, fromStruct := rego.Bare(h, &in)
	run := func(name string, f func() bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !f() {
					b.Fatal("a rule fired")
				}
			}
		})
	}
	allowed := func(v policy.Verdict, err error) bool { return err == nil && v.Allowed() }
	run("bare parsed", parsed)
	run("bare struct", fromStruct)
	run("hook", func() bool { return allowed(h.EvaluateChecked(b.Context(), &in)) })
	run("hook+check", func() bool { return allowed(h.Evaluate(b.Context(), &in)) })
	run("set", func() bool { return allowed(set.Evaluate(b.Context(), &in)) })
}

// BenchmarkRatio compares the hook with the bare query in turns, so that all
// meet the same noise, and reports quotients of the fastest turns. In the row
// "moving" the budget's figures change with each call, so that half of the
// input is built anew.
func BenchmarkRatio(b *testing.B) {
	h := compile(b, five)
	in := base()
	moving := base()
	parsed, fromStruct := rego.Bare(h, &in)
	ctx := b.Context()
	best := [4]time.Duration{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64}
	for b.Loop() {
		for i, f := range []func(){
			func() { parsed() },
			func() { fromStruct() },
			func() { _, _ = h.EvaluateChecked(ctx, &in) },
			func() {
				moving.Budgets[0].Cost.Used++
				moving.Budget.Cost.Used++
				_, _ = h.EvaluateChecked(ctx, &moving)
			},
		} {
			best[i] = min(best[i], turn(f))
		}
	}
	b.ReportMetric(float64(best[0])/turnSize, "parsed-ns")
	b.ReportMetric(float64(best[2])/float64(best[0]), "hook/parsed")
	b.ReportMetric(float64(best[3])/float64(best[0]), "moving/parsed")
	b.ReportMetric(float64(best[1])/float64(best[2]), "struct/hook")
	b.ReportMetric(float64(best[1])/float64(best[3]), "struct/moving")
	b.ReportMetric(0, "ns/op")
}

const turnSize = 10

func turn(f func()) time.Duration {
	start := time.Now()
	for range turnSize {
		f()
	}
	return time.Since(start)
}

// allocCeiling is what one evaluation of five rules may allocate.
const allocCeiling = 150

func TestFiveRulesAllocateLittle(t *testing.T) {
	h := compile(t, five)
	in := base()
	ctx := t.Context()
	n := testing.AllocsPerRun(200, func() {
		in.Budgets[0].Cost.Used++
		in.Budget.Cost.Used++
		_, _ = h.EvaluateChecked(ctx, &in)
	})
	if n > allocCeiling {
		t.Errorf("%v allocations, at most %d are allowed", n, allocCeiling)
	}
}
