package podspec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/policy"
)

// caps is a verdict that allows under caps; a negative number is none.
func caps(cpuMilli, memoryBytes int64) policy.Verdict {
	v := policy.Pass()
	if cpuMilli >= 0 {
		v.Caps.CPUMilli = &cpuMilli
	}
	if memoryBytes >= 0 {
		v.Caps.MemoryBytes = &memoryBytes
	}
	return v
}

func TestHeed(t *testing.T) {
	for sentence, c := range map[string]struct {
		size    podspec.Size
		verdict policy.Verdict
		want    string
		report  string
	}{
		"no cap changes nothing": {
			podspec.MustSize(podspec.Cores(2), podspec.MiB(1024)), policy.Pass(), "cpu=2 (code), memory=1Gi (code)", "",
		},
		"a cap above the size changes nothing": {
			podspec.MustSize(podspec.Cores(2), podspec.MiB(1024)), caps(2000, 1<<30), "cpu=2 (code), memory=1Gi (code)", "",
		},
		"the lesser of each dimension": {
			podspec.MustSize(podspec.Cores(2).From("profile bot"), podspec.MiB(1024)), caps(500, 2<<30),
			"cpu=500m (policy cap cpuMilli), memory=1Gi (code)",
			"replaced size.cpu 2 (profile bot) by 500m (policy cap cpuMilli)",
		},
		"both": {
			podspec.MustSize(podspec.Cores(2), podspec.MiB(1024)), caps(1, 1),
			"cpu=1m (policy cap cpuMilli), memory=1 (policy cap memoryBytes)",
			"replaced size.cpu 2 (code) by 1m (policy cap cpuMilli)\nreplaced size.memory 1Gi (code) by 1 (policy cap memoryBytes)",
		},
		"a dimension that nobody sets becomes the cap": {
			podspec.Size{}, caps(500, -1), "cpu=500m (policy cap cpuMilli)", "set size.cpu 500m (policy cap cpuMilli)",
		},
		"other dimensions stay": {
			podspec.MustSize(podspec.Cores(2), podspec.GPU(1)), caps(-1, 1<<20), "cpu=2 (code), memory=1Mi (policy cap memoryBytes), nvidia.com/gpu=1 (code)",
			"set size.memory 1Mi (policy cap memoryBytes)",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := c.size.String()
			got, report, err := podspec.Heed(c.size, c.verdict)
			if err != nil || got.String() != c.want || report.String() != c.report {
				t.Errorf("%v, %v\n%s", got, err, report)
			}
			if c.size.String() != before {
				t.Errorf("the size became %s", c.size)
			}
		})
	}
}

func TestACapOfNothingIsRefused(t *testing.T) {
	size, _, err := podspec.Heed(podspec.MustSize(podspec.Cores(2), podspec.MiB(1024)), caps(0, -1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = podspec.BuildPodResources(size)
	if !errors.Is(err, podspec.ErrZero) || !strings.Contains(err.Error(), "policy cap cpuMilli") {
		t.Errorf("%v", err)
	}
}

func TestVerdictsThatRefuseThePod(t *testing.T) {
	for sentence, c := range map[string]struct {
		verdict policy.Verdict
		want    string
	}{
		"a denial":         {policy.Refuse("no", "too big"), "policies refuse the pod: too big (no)"},
		"a hold":           {policy.HoldFor(time.Hour, "later", "not now"), "policies refuse the pod: not now (later)"},
		"the zero verdict": {policy.Verdict{}, "policies refuse the pod and give no reason"},
	} {
		size, report, err := podspec.Heed(podspec.MustSize(podspec.Cores(1)), c.verdict)
		if !errors.Is(err, podspec.ErrPolicy) || err.Error() != c.want || !size.IsZero() || report.Changed() {
			t.Errorf("%s: %v, %v, %v", sentence, err, size, report)
		}
	}
}

// TestHeedOnlyLowers: each dimension is the lesser of the size and the cap.
func TestHeedOnlyLowers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const mostCPU, leastMemory = 1024 * 1000, 4 << 20 // beyond these an amount is taken for a slip
		cpu, memory := rapid.Int64Range(1, mostCPU).Draw(t, "cpu"), rapid.Int64Range(leastMemory, 1<<40).Draw(t, "memory")
		size, err := podspec.Rules{Zero: podspec.ZeroExplicit}.Size(
			podspec.Exact(corev1.ResourceCPU, *resource.NewMilliQuantity(cpu, resource.DecimalSI)),
			podspec.Exact(corev1.ResourceMemory, *resource.NewQuantity(memory, resource.BinarySI)))
		if err != nil {
			t.Fatal(err)
		}
		limit := rapid.Int64Range(-1, 1<<40)
		v := caps(limit.Draw(t, "cpu cap"), limit.Draw(t, "memory cap"))
		got, report, err := podspec.Heed(size, v)
		if err != nil {
			t.Fatal(err)
		}
		changed := 0
		for name, most := range map[corev1.ResourceName]*int64{corev1.ResourceCPU: v.Caps.CPUMilli, corev1.ResourceMemory: v.Caps.MemoryBytes} {
			was, _ := size.Amount(name)
			now, _ := got.Amount(name)
			had, has := was.Quantity(), now.Quantity()
			value := func(q resource.Quantity) int64 {
				if name == corev1.ResourceCPU {
					return q.MilliValue()
				}
				return q.Value()
			}
			want := value(had)
			if most != nil && *most < want {
				want = *most
				changed++
			}
			if value(has) != want {
				t.Fatalf("%s %s under the cap %v became %s", name, had.String(), most, has.String())
			}
		}
		if len(report.Entries) != changed {
			t.Fatalf("%d of %d changes are reported: %s", len(report.Entries), changed, report)
		}
	})
}

func hook(f func(context.Context, *policy.Input) (policy.Verdict, error)) policy.Hook {
	return policy.Func("sizes", f)
}

func TestReviewShowsTheSizeAndHeedsTheAnswer(t *testing.T) {
	size := podspec.MustSize(podspec.Cores(2), podspec.MiB(1024), podspec.EphemeralStorageMiB(1), podspec.GPU(1), podspec.Devices("amd.com/gpu", 2))
	var seen policy.Input
	h := hook(func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		seen = *in
		v := caps(500, -1)
		v.Warnings = []policy.Reason{{Code: "big", Message: "that is a lot"}}
		return v, nil
	})
	in := policy.Input{Operation: policy.Admit, Now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Pod: policy.Pod{Profile: "bot", CPUMilli: 9, ActiveDeadlineSeconds: 60}}
	got, report, verdict, err := podspec.Review(t.Context(), h, in, size)
	if err != nil || !report.Changed() || len(verdict.Warnings) != 1 {
		t.Fatalf("%v, %v, %+v", err, report, verdict)
	}
	if cpu, _ := got.CPU(); cpu.String() != "500m (policy cap cpuMilli)" {
		t.Errorf("cpu %s", cpu)
	}
	want := policy.Pod{Profile: "bot", CPUMilli: 2000, MemoryBytes: 1 << 30, EphemeralBytes: 1 << 20, GPUs: 3, ActiveDeadlineSeconds: 60}
	if diff := cmp.Diff(want, seen.Pod); diff != "" || seen.Operation != policy.BuildPod {
		t.Errorf("%s (-want +got):\n%s", seen.Operation, diff)
	}
}

func TestReviewFailsClosed(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	allows := hook(func(context.Context, *policy.Input) (policy.Verdict, error) { return policy.Pass(), nil })
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for sentence, c := range map[string]struct {
		ctx  context.Context
		hook policy.Hook
		now  time.Time
		want string
	}{
		"nobody to ask":          {now: now, want: "no policy hook was given"},
		"a hook without a name":  {hook: policy.Func("", nil), now: now, want: "name"},
		"an error":               {hook: hook(func(context.Context, *policy.Input) (policy.Verdict, error) { return policy.Pass(), errors.New("x") }), now: now, want: "policy-error"},
		"a panic":                {hook: hook(func(context.Context, *policy.Input) (policy.Verdict, error) { panic("x") }), now: now, want: "policy-error"},
		"a context that is done": {ctx: gone, hook: allows, now: now, want: "context canceled"},
		"no instant":             {hook: allows, want: "invalid-input"},
		"an empty holder":        {hook: new(policy.Holder), now: now, want: "policy-not-ready"},
		"a set that is nil":      {hook: (*policy.Set)(nil), now: now, want: "policy-not-ready"},
	} {
		ctx := c.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		size, _, verdict, err := podspec.Review(ctx, c.hook, policy.Input{Now: c.now}, podspec.MustSize(podspec.Cores(1)))
		if !errors.Is(err, podspec.ErrPolicy) || !strings.Contains(err.Error(), c.want) || !size.IsZero() || verdict.Allowed() {
			t.Errorf("%s: %v, %v, %+v", sentence, err, size, verdict)
		}
	}
}

func TestCapDeadline(t *testing.T) {
	for sentence, c := range map[string]struct {
		has, most, want int64 // 0 is none
		report          string
	}{
		"no cap":                 {has: 60, want: 60},
		"a cap above":            {has: 60, most: 61, want: 60},
		"a cap below":            {has: 60, most: 30, want: 30, report: "replaced spec.activeDeadlineSeconds 60 by 30 (policy cap deadlineSeconds)"},
		"a pod without deadline": {most: 30, want: 30, report: "set spec.activeDeadlineSeconds 30 (policy cap deadlineSeconds)"},
	} {
		var spec corev1.PodSpec
		var v policy.Caps
		if c.has > 0 {
			spec.ActiveDeadlineSeconds = new(c.has)
		}
		if c.most > 0 {
			v.DeadlineSeconds = &c.most
		}
		report, err := podspec.CapDeadline(&spec, v)
		if err != nil || *spec.ActiveDeadlineSeconds != c.want || report.String() != c.report {
			t.Errorf("%s: %v, %d, %q", sentence, err, *spec.ActiveDeadlineSeconds, report)
		}
	}
	spec := corev1.PodSpec{ActiveDeadlineSeconds: new(int64(60))}
	if _, err := podspec.CapDeadline(&spec, policy.Caps{DeadlineSeconds: new(int64)}); !errors.Is(err, podspec.ErrPolicy) || *spec.ActiveDeadlineSeconds != 60 {
		t.Errorf("a cap of nothing: %v, %d", err, *spec.ActiveDeadlineSeconds)
	}
}

// ExampleReview: a policy bounds the cpu of a pod before its resources are built.
func ExampleReview() {
	small := policy.Func("small-bots", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		v := policy.Pass()
		if in.Pod.Profile != "meeting-bot" {
			return v, nil
		}
		return v, v.Caps.Set("cpuMilli", 1500)
	})
	input := policy.Input{Now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Pod: policy.Pod{Profile: "meeting-bot"}}
	size, report, _, err := podspec.Review(context.Background(), small, input, podspec.MustSize(podspec.Cores(2), podspec.MiB(1024)))
	if err != nil {
		fmt.Println(err)
		return
	}
	resources, err := podspec.BuildPodResources(size)
	fmt.Println(report)
	fmt.Println(resources.Limits.Cpu(), resources.Limits.Memory(), err)
	// Output:
	// replaced size.cpu 2 (code) by 1500m (policy cap cpuMilli)
	// 1500m 1Gi <nil>
}
