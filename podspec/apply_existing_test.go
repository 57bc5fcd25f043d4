package podspec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

// TestApplyOnZeroAndNegativeAmounts: what the API server refuses is a fault, and a zero that it takes without its meaning
// anything is one too, until an option says what it means.
func TestApplyOnZeroAndNegativeAmounts(t *testing.T) {
	zero := func(policy podspec.ZeroPolicy) []podspec.Option {
		return []podspec.Option{podspec.WithZero(policy)}
	}
	const path = "spec.containers[a].resources."
	tests := map[string]struct {
		has  string
		plan podspec.Plan
		want string
		err  error
		says string
	}{
		"a limit of zero":                              {has: "/ cpu=0", err: podspec.ErrZero, says: path + "limits.cpu"},
		"a request and a limit of zero":                {has: "cpu=0 / cpu=0", err: podspec.ErrZero, says: path + "limits.cpu"},
		"a limit of zero under a request":              {has: "cpu=1 / cpu=0", err: podspec.ErrRequestExceedsLimit, says: path + "cpu"},
		"a limit of zero of what the size has not":     {has: "/ ephemeral-storage=0", err: podspec.ErrZero, says: path + "limits.ephemeral-storage"},
		"a request of zero reserves nothing and stays": {has: "cpu=0 / cpu=2", want: "cpu=0 memory=1Gi / cpu=2 memory=1Gi"},
		"a lone request of zero gets the limit":        {has: "cpu=0 /", want: "cpu=0 memory=1Gi / cpu=1 memory=1Gi"},
		"zero devices are a declaration":               {has: "nvidia.com/gpu=0 / nvidia.com/gpu=0", want: "cpu=1 memory=1Gi nvidia.com/gpu=0 / cpu=1 memory=1Gi nvidia.com/gpu=0"},
		"zero means unset":                             {has: "/ cpu=0", plan: podspec.Plan{Options: zero(podspec.ZeroUnset)}, want: whole},
		"zero means unset in both":                     {has: "cpu=0 / cpu=0", plan: podspec.Plan{Options: zero(podspec.ZeroUnset)}, want: whole},
		"zero means unset, and equal is required":      {has: "cpu=0 / cpu=0", plan: podspec.Plan{Existing: podspec.RequireEqual, Options: zero(podspec.ZeroUnset)}, want: whole},
		"zero means unset, and the size has none":      {has: "/ cpu=0", plan: podspec.Plan{Size: podspec.MustSize(podspec.MiB(1024)), Options: zero(podspec.ZeroUnset)}, err: podspec.ErrIncomplete, says: "does not set cpu"},
		"zero is meant":                                {has: "/ cpu=0", plan: podspec.Plan{Options: zero(podspec.ZeroExplicit)}, want: "cpu=0 memory=1Gi / cpu=0 memory=1Gi"},
		"zero is replaced":                             {has: "/ cpu=0", plan: podspec.Plan{Existing: podspec.Override}, want: whole},
		"zero is not what is required":                 {has: "/ cpu=0", plan: podspec.Plan{Existing: podspec.RequireEqual}, err: podspec.ErrUnequal, says: path + "limits.cpu"},
		"a negative limit":                             {has: "/ cpu=-1", err: podspec.ErrNegative, says: path + "limits.cpu"},
		"a negative request":                           {has: "cpu=-1 /", err: podspec.ErrNegative, says: path + "requests.cpu"},
		"negative devices":                             {has: "/ nvidia.com/gpu=-1", err: podspec.ErrNegative, says: path + "limits.nvidia.com/gpu"},
		"a negative amount is meant, it seems":         {has: "/ cpu=-1", plan: podspec.Plan{Options: zero(podspec.ZeroExplicit)}, err: podspec.ErrNegative, says: path + "limits.cpu"},
		"a negative amount is no zero":                 {has: "/ cpu=-1", plan: podspec.Plan{Options: zero(podspec.ZeroUnset)}, err: podspec.ErrNegative, says: path + "limits.cpu"},
		"a negative amount is replaced":                {has: "cpu=-2 / cpu=-1", plan: podspec.Plan{Existing: podspec.Override}, want: whole},
		"a negative amount is not what is required":    {has: "/ cpu=-1", plan: podspec.Plan{Existing: podspec.RequireEqual}, err: podspec.ErrUnequal, says: path + "limits.cpu"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.plan.Size.IsZero() {
				test.plan.Size = oneCore()
			}
			got, _, err := podspec.Apply(pod(container("a", test.has)), test.plan)
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if err != nil {
				if strings.Count(err.Error(), "\n") > 0 || !strings.HasPrefix(err.Error(), test.says) && !strings.Contains(err.Error(), test.says) {
					t.Errorf("got %q, want one fault, of %s", err, test.says)
				}
				return
			}
			if diff := cmp.Diff(test.want, shown(got.Spec.Containers[0].Resources)); diff != "" {
				t.Error(diff)
			}
			again, report, err := podspec.Apply(got, test.plan)
			if err != nil || report.Changed() {
				t.Errorf("applying twice: %v, %v", report, err)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("applying twice changes: %s", diff)
			}
			// What Apply lets through is no invalid pod.
			if p := predict(t, world(), got); answer(p) != "Admit" {
				t.Errorf("the server would say %s: %v", answer(p), refusals(p))
			}
		})
	}
}

// TestApplyNamesTheSourceOfEachAmount: an amount that comes from the container itself does not come from the size.
func TestApplyNamesTheSourceOfEachAmount(t *testing.T) {
	size := podspec.MustSize(podspec.Cores(1).From("env RUNTIME_BOT_CPU"), podspec.MiB(1024).From("profile bot"), podspec.GPU(4).From("spec"))
	p := pod(container("bot", "memory=2Gi nvidia.com/gpu=1 / cpu=3"), container("init", ""))
	_, report, err := podspec.Apply(p, podspec.Plan{Size: size})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range report.Entries {
		if place, ok := strings.CutPrefix(entry.Path, "spec.containers[bot].resources."); ok {
			got = append(got, place+" "+entry.Now+" from "+entry.Source)
		} else if entry.Source != "copied from the main container" {
			t.Errorf("the init container has %v", entry)
		}
	}
	want := []string{
		"requests.cpu 3 from its own limit", "limits.cpu 3 from ",
		"requests.memory 2Gi from ", "limits.memory 2Gi from its own request",
		"requests.nvidia.com/gpu 1 from ", "limits.nvidia.com/gpu 1 from its own request",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestApplyReportsEverythingAtOnce: a fault in one place hides none in another.
func TestApplyReportsEverythingAtOnce(t *testing.T) {
	level := resources("/ cpu=9")
	tests := map[string]struct {
		pod  *corev1.Pod
		plan podspec.Plan
		says []string
	}{
		"labels, pod level, sizes, options": {
			with(pod(container("a", "/ cpu=-1"), sidecar("s", "")), func(p *corev1.Pod) { p.Spec.Resources = &level }),
			podspec.Plan{
				Size: podspec.MustSize(podspec.CPU("2")), Identity: podspec.Identity{Workload: "no label!", ManagedKey: "-"},
				Options: []podspec.Option{podspec.WithRequestFraction(7), podspec.WithCap(corev1.ResourceCPU, resource.MustParse("1"))},
			},
			[]string{"workload id", "label key", "Plan.PodLevel", "WithRequestFraction", "[a].resources.cpu: \"2 (code)\" is above", "does not set memory", `"s" runs beside`},
		},
		"the main container is not there, and others have faults": {
			pod(container("a", "cpu=2 / cpu=1"), container("init", "/ memory=-1")),
			podspec.Plan{Main: "b", Size: oneCore(), Containers: map[string]podspec.Size{"c": oneCore()}},
			[]string{`"b", the main one of the plan`, `"c" of the plan is not in the pod`, "[a].resources.cpu", "[init].resources.limits.memory"},
		},
		"one amount is above the cap, and its request is wrong": {
			pod(container("a", "")),
			podspec.Plan{Size: oneCore(), Options: []podspec.Option{podspec.WithCap(corev1.ResourceCPU, resource.MustParse("500m")), podspec.WithRequest(corev1.ResourceCPU, resource.MustParse("3"))}},
			[]string{"is above the maximum of 500m", "request exceeds limit 1"},
		},
		"two dimensions of one container": {
			pod(container("a", "cpu=2 / cpu=1 memory=0")), podspec.Plan{Size: oneCore()},
			[]string{"[a].resources.cpu", "[a].resources.limits.memory"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := podspec.Apply(test.pod, test.plan)
			if err == nil {
				t.Fatal("no fault")
			}
			for _, part := range test.says {
				if strings.Count(err.Error(), part) != 1 {
					t.Errorf("%q is there %d times:\n%v", part, strings.Count(err.Error(), part), err)
				}
			}
			if got := strings.Count(err.Error(), "\n") + 1; got != len(test.says) {
				t.Errorf("%d faults, want %d:\n%v", got, len(test.says), err)
			}
		})
	}
}
