package podspec_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

func TestFit(t *testing.T) {
	large := podspec.MustSize(podspec.Cores(4), podspec.MiB(4096))
	medium := podspec.MustSize(podspec.Cores(2), podspec.MiB(2048))
	small := podspec.MustSize(podspec.Cores(1))
	floor := podspec.MustSize(podspec.Cores(1), podspec.MiB(512))
	third := quota("q", "limits.cpu=3 limits.memory=9Gi", "")
	bounds := limitRange("lr", corev1.LimitTypeContainer, "max cpu=2 memory=8Gi; min memory=6Gi")
	tests := map[string]struct {
		world       podspec.Snapshot
		pod         *corev1.Pod
		size        podspec.Size
		policy      podspec.FitPolicy
		want        string // the main container
		adjustments []string
		err         error
	}{
		"exactly, and it fits":             {world(third), main(""), medium, podspec.Exactly(), "cpu=2 memory=2Gi / cpu=2 memory=2Gi", nil, nil},
		"no policy is exactly":             {world(third), main(""), medium, nil, "cpu=2 memory=2Gi / cpu=2 memory=2Gi", nil, nil},
		"exactly, and it does not":         {world(third), main(""), large, podspec.Exactly(), "", nil, podspec.ErrDoesNotFit},
		"exactly, and the plan is bad":     {world(third), main(""), small, podspec.Exactly(), "", nil, podspec.ErrIncomplete},
		"the first tier that fits":         {world(third), main(""), large, podspec.FirstOf(large, medium, small), "cpu=2 memory=2Gi / cpu=2 memory=2Gi", []string{"cpu from 4 to 2", "memory from 4Gi to 2Gi"}, nil},
		"no tier is needed":                {world(third), main(""), medium, podspec.FirstOf(small), "cpu=2 memory=2Gi / cpu=2 memory=2Gi", nil, nil},
		"a tier of cpu alone":              {world(third), main(""), large, podspec.FirstOf(small), "cpu=1 memory=4Gi / cpu=1 memory=4Gi", []string{"cpu from 4 to 1"}, nil},
		"a tier with something new":        {world(third), main(""), large, podspec.FirstOf(podspec.Resolve(small, podspec.MustSize(podspec.EphemeralStorage("1Gi")))), "cpu=1 memory=4Gi ephemeral-storage=1Gi / cpu=1 memory=4Gi ephemeral-storage=1Gi", []string{"cpu from 4 to 1", "ephemeral-storage from nothing to 1Gi"}, nil},
		"no tier fits":                     {world(quota("q", "limits.cpu=500m", "")), main(""), large, podspec.FirstOf(medium, small), "", []string{"cpu from 4 to 1"}, podspec.ErrDoesNotFit},
		"tiers and a bad plan":             {world(third), main(""), small, podspec.FirstOf(medium), "", nil, podspec.ErrIncomplete},
		"clamped to bounds":                {world(bounds), main(""), large, podspec.ClampToLimitRange(podspec.Size{}), "cpu=2 memory=6Gi / cpu=2 memory=6Gi", []string{"cpu from 4 to 2", "memory from 4Gi to 6Gi"}, nil},
		"clamped, and nothing to do":       {world(), main(""), large, podspec.ClampToLimitRange(podspec.Size{}), "cpu=4 memory=4Gi / cpu=4 memory=4Gi", nil, nil},
		"clamped below the floor":          {world(bounds), main(""), large, podspec.ClampToLimitRange(podspec.MustSize(podspec.Cores(3))), "", nil, podspec.ErrDoesNotFit},
		"clamped, and the quota refuses":   {world(bounds, quota("q", "pods=0", "")), main(""), large, podspec.ClampToLimitRange(podspec.Size{}), "", []string{"cpu from 4 to 2", "memory from 4Gi to 6Gi"}, podspec.ErrDoesNotFit},
		"clamped, and the plan is bad":     {world(bounds), main(""), small, podspec.ClampToLimitRange(podspec.Size{}), "", nil, podspec.ErrIncomplete},
		"shrunk to the quota":              {world(third), main(""), large, podspec.ShrinkToQuota(floor), "cpu=3 memory=4Gi / cpu=3 memory=4Gi", []string{"cpu from 4 to 3"}, nil},
		"shrunk beside what is used":       {world(quota("q", "requests.cpu=4 limits.cpu=4 memory=5Gi", "limits.cpu=1500m memory=2100Mi requests.cpu=1")), main(""), large, podspec.ShrinkToQuota(floor), "cpu=2500m memory=3020Mi / cpu=2500m memory=3020Mi", []string{"cpu from 4 to 2500m", "memory from 4Gi to 3020Mi"}, nil},
		"shrunk to the tighter of two":     {world(third, quota("r", "requests.cpu=1500m", "")), main(""), large, podspec.ShrinkToQuota(floor), "cpu=1500m memory=4Gi / cpu=1500m memory=4Gi", []string{"cpu from 4 to 3", "cpu from 3 to 1500m"}, nil},
		"shrunk with an init container":    {world(third), pod(container("main", ""), container("init", "")), large, podspec.ShrinkToQuota(floor), "cpu=3 memory=4Gi / cpu=3 memory=4Gi", []string{"cpu from 4 to 3"}, nil},
		"never below the floor":            {world(quota("q", "limits.cpu=500m", "")), main(""), large, podspec.ShrinkToQuota(floor), "", []string{"cpu from 4 to 1"}, podspec.ErrDoesNotFit},
		"what has no floor is not touched": {world(third), main(""), large, podspec.ShrinkToQuota(podspec.MustSize(podspec.MiB(4))), "", nil, podspec.ErrDoesNotFit},
		"shrinking does not help":          {world(quota("q", "pods=0", "")), main(""), large, podspec.ShrinkToQuota(floor), "", nil, podspec.ErrDoesNotFit},
		"shrinking, and the plan is bad":   {world(third), main(""), small, podspec.ShrinkToQuota(floor), "", nil, podspec.ErrIncomplete},
		"nothing fits in a full quota":     {world(quota("q", "limits.cpu=3", "limits.cpu=9")), main(""), large, podspec.ShrinkToQuota(floor), "", []string{"cpu from 4 to 1"}, podspec.ErrDoesNotFit},
		"an unknown quota is not a fit":    {podspec.Snapshot{}, main(""), medium, podspec.Exactly(), "", nil, podspec.ErrDoesNotFit},
		"devices shrink by whole ones":     {world(quota("q", "requests.nvidia.com/gpu=3", "requests.nvidia.com/gpu=1")), main(""), podspec.Resolve(medium, podspec.MustSize(podspec.GPU(4))), podspec.ShrinkToQuota(podspec.MustSize(podspec.GPU(1))), "cpu=2 memory=2Gi nvidia.com/gpu=2 / cpu=2 memory=2Gi nvidia.com/gpu=2", []string{"nvidia.com/gpu from 4 to 2"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fitted, err := podspec.Fit(test.world, test.pod, podspec.Plan{Size: test.size}, test.policy)
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			var adjustments []string
			for _, adjustment := range fitted.Adjustments {
				text, reason, _ := strings.Cut(adjustment.String(), ": ")
				if reason == "" {
					t.Errorf("%s has no reason", text)
				}
				adjustments = append(adjustments, text)
			}
			if diff := cmp.Diff(test.adjustments, adjustments); diff != "" {
				t.Error(diff)
			}
			if err != nil {
				return
			}
			if got := shown(fitted.Pod.Spec.Containers[0].Resources); got != test.want || fitted.Prediction.Verdict != podspec.Admit {
				t.Errorf("got %v, %v, want %v", got, fitted.Prediction.Verdict, test.want)
			}
		})
	}
}

func TestGrowAfterOOM(t *testing.T) {
	size := podspec.MustSize(podspec.Cores(1), podspec.MiB(1000).From("profile meeting-bot"))
	most := resource.MustParse("2Gi")
	grown, adjustment, err := podspec.GrowAfterOOM(size, 1.5, most)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := grown.String(), "cpu=1 (code), memory=1500Mi (profile meeting-bot, grown after OOMKilled)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := adjustment.String(), "memory from 1000Mi to 1500Mi: the container ran out of memory"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	grown, _, err = podspec.GrowAfterOOM(size, 3, most)
	if memory, _ := grown.Memory(); err != nil || memory.String() != "2Gi (profile meeting-bot, grown after OOMKilled)" {
		t.Errorf("capped: %v, %v", grown, err)
	}
	if _, _, err := podspec.GrowAfterOOM(grown, 2, most); !errors.Is(err, podspec.ErrDoesNotFit) {
		t.Errorf("at the cap: %v", err)
	}
	if _, _, err := podspec.GrowAfterOOM(podspec.Size{}, 2, most); !errors.Is(err, podspec.ErrDoesNotFit) {
		t.Errorf("no memory: %v", err)
	}
	for _, factor := range []float64{1, 0, -1, math.NaN(), math.Inf(1), 17} {
		if _, _, err := podspec.GrowAfterOOM(size, factor, most); !errors.Is(err, podspec.ErrOption) {
			t.Errorf("factor %v: %v", factor, err)
		}
	}
	if _, _, err := podspec.GrowAfterOOM(size, 2, resource.MustParse("8Ei")); !errors.Is(err, podspec.ErrAboveMaximum) {
		t.Errorf("an absurd cap: %v", err)
	}
}
