package cel_test

import (
	"math"
	"testing"
	"time"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

// five is the policy of the benchmarks: five usual rules, none of which fires
// on the base input.
func five() cel.Policy {
	rule := func(name, when string) policy.Rule {
		return policy.Rule{Name: name, When: when, Effect: policy.EffectDeny, Message: "m"}
	}
	return cel.Policy{Name: "five", Rules: []policy.Rule{
		rule("expensive", `task.model == "opus" && budget.cost.usedPermille >= 800`),
		rule("ceiling", `estimate.known && estimate.costMicros > budget.cost.remaining`),
		rule("owner", `!("team" in task.labels)`),
		rule("size", `pod.memoryBytes > 8589934592 && task.priority != "high"`),
		rule("group", `!("ops" in actor.groups) || task.attempt > 3`),
	}}
}

func BenchmarkFive(b *testing.B) {
	h := compile(b, five())
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, policy.Binding{Hook: h})
	if err != nil {
		b.Fatal(err)
	}
	in := base()
	bare := cel.Bare(h)
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !bare(&in) {
				b.Fatal("a rule fired")
			}
		}
	})
	run := func(name string, evaluate func() (policy.Verdict, error)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v, err := evaluate(); err != nil || !v.Allowed() {
					b.Fatal(v, err)
				}
			}
		})
	}
	run("hook", func() (policy.Verdict, error) { return h.EvaluateChecked(b.Context(), &in) })
	run("hook+check", func() (policy.Verdict, error) { return h.Evaluate(b.Context(), &in) })
	run("set", func() (policy.Verdict, error) { return set.Evaluate(b.Context(), &in) })
}

// BenchmarkRatio compares the hook with the bare programs in turns, so that
// both meet the same noise, and reports the quotient of the fastest turns.
func BenchmarkRatio(b *testing.B) {
	h := compile(b, five())
	in := base()
	bare := cel.Bare(h)
	ctx := b.Context()
	floor, hook := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for b.Loop() {
		floor = min(floor, turn(func() { bare(&in) }))
		hook = min(hook, turn(func() { _, _ = h.EvaluateChecked(ctx, &in) }))
	}
	b.ReportMetric(float64(hook)/float64(floor), "hook/bare")
	b.ReportMetric(float64(floor)/turnSize, "bare-ns")
	b.ReportMetric(0, "ns/op")
}

const turnSize = 200

func turn(f func()) time.Duration {
	start := time.Now()
	for range turnSize {
		f()
	}
	return time.Since(start)
}

func BenchmarkGuarded(b *testing.B) {
	h := compile(b, deny(`actor.groups.exists(g, dyn(g) == task.model)`))
	if !cel.Guarded(h)[0] {
		b.Fatal("not guarded")
	}
	in := base()
	b.ReportAllocs()
	for b.Loop() {
		if v, err := h.EvaluateChecked(b.Context(), &in); err != nil || !v.Allowed() {
			b.Fatal(v, err)
		}
	}
}

func BenchmarkCompileFive(b *testing.B) {
	p := five()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cel.Compile(p, cel.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// allocCeiling is what one evaluation of five rules may allocate.
const allocCeiling = 60

func TestFiveRulesAllocateLittle(t *testing.T) {
	h := compile(t, five())
	for _, guarded := range cel.Guarded(h) {
		if guarded {
			t.Error("a rule runs under accounting")
		}
	}
	in := base()
	ctx := t.Context()
	if n := testing.AllocsPerRun(200, func() { _, _ = h.EvaluateChecked(ctx, &in) }); n > allocCeiling {
		t.Errorf("%v allocations, at most %d are allowed", n, allocCeiling)
	}
}
