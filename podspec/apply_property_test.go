package podspec_test

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/podspec"
)

// touchable are the only paths that Apply may change; x.io/y is a resource that init containers copy.
var touchable = regexp.MustCompile(`^/(metadata/labels/bursar\.dev/(managed|workload-id)|spec/(initContainers/\d+/|containers/\d+/)?resources/(limits|requests)/(cpu|memory|ephemeral-storage|nvidia\.com/gpu|x\.io/y))$`)

// chosen lets rapid decide lengths, by one number for all of the thousands there are.
func chosen(t *rapid.T) func(int) int {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "lengths"), 0)).IntN
}

// drawPlan draws a plan that fits a filled pod.
func drawPlan(t *rapid.T, spec corev1.PodSpec) podspec.Plan {
	size := func(label string) podspec.Size {
		return podspec.MustSize(
			podspec.CPU(rapid.SampledFrom([]string{"100m", "0.5", "2"}).Draw(t, label)),
			podspec.MiB(rapid.Int64Range(64, 4096).Draw(t, label)),
			podspec.GPU(rapid.Int64Range(0, 2).Draw(t, label)))
	}
	plan := podspec.Plan{
		Main: spec.Containers[0].Name, Size: size("main"), Containers: map[string]podspec.Size{},
		Existing: rapid.SampledFrom([]podspec.Existing{podspec.KeepExisting, podspec.Override}).Draw(t, "existing"),
		PodLevel: rapid.SampledFrom([]podspec.PodLevel{podspec.SizeContainers, podspec.SizePod}).Draw(t, "level"),
		Inits:    rapid.SampledFrom([]podspec.Rule{podspec.CopyMain, podspec.LeaveAlone}).Draw(t, "inits"),
		Sidecars: rapid.SampledFrom([]podspec.Rule{podspec.CopyMain, podspec.LeaveAlone}).Draw(t, "sidecars"),
		Others:   rapid.SampledFrom([]podspec.Rule{podspec.CopyMain, podspec.LeaveAlone}).Draw(t, "others"),
		Identity: podspec.Identity{Workload: "w-1"},
	}
	for _, c := range spec.InitContainers {
		if rapid.Bool().Draw(t, "named") {
			plan.Containers[c.Name] = size(c.Name)
		}
	}
	return plan
}

// prepare makes the resources of a filled pod ones that can be sized: drawn amounts, an unknown resource and the claims
// stay in it.
func prepare(t *rapid.T, spec *corev1.PodSpec) {
	draw := func(r *corev1.ResourceRequirements) {
		drawn := rapid.SampledFrom([]string{"/", "cpu=250m /", "/ memory=1Gi", "cpu=1 / cpu=1", "x.io/y=1 / x.io/y=1", whole}).Draw(t, "resources")
		text := resources(drawn)
		r.Requests, r.Limits = text.Requests, text.Limits
	}
	for i := range spec.Containers {
		draw(&spec.Containers[i].Resources)
	}
	for i := range spec.InitContainers {
		draw(&spec.InitContainers[i].Resources)
		if rapid.Bool().Draw(t, "sidecar") {
			always := corev1.ContainerRestartPolicyAlways
			spec.InitContainers[i].RestartPolicy = &always
		}
	}
	draw(spec.Resources)
}

// TestApplyPreservesEverythingElse is row B3: it fills every field of a pod and shows that only amounts and the two labels
// differ in the result, that the argument is untouched, and that a second Apply changes nothing.
func TestApplyPreservesEverythingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pod := filled[corev1.Pod](chosen(t))
		prepare(t, &pod.Spec)
		plan, before := drawPlan(t, pod.Spec), pod.DeepCopy()
		got, report, err := podspec.Apply(pod, plan)
		if diff := cmp.Diff(before, pod); diff != "" {
			t.Fatalf("the argument changed: %s", diff)
		}
		if err != nil {
			t.Fatalf("plan %+v: %v", plan, err)
		}
		changed := differencesIn(t, pod, got)
		for _, path := range changed {
			if !touchable.MatchString(path) {
				t.Errorf("Apply changed %s", path)
			}
		}
		if changes := changedEntries(report); changes != len(changed) {
			t.Errorf("%d paths changed and %d are reported:\n%v\n%v", len(changed), changes, changed, report)
		}
		again, _, err := podspec.Apply(got, plan)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("applying twice changes: %s", diff)
		}
	})
}

// TestApplyTemplatePreservesEverythingElse is row B3 of the template of a pod.
func TestApplyTemplatePreservesEverythingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		template := filled[corev1.PodTemplateSpec](chosen(t))
		prepare(t, &template.Spec)
		plan, before := drawPlan(t, template.Spec), template.DeepCopy()
		got, _, err := podspec.ApplyTemplate(template, plan)
		if diff := cmp.Diff(before, template); diff != "" || err != nil {
			t.Fatalf("error %v, the argument changed: %s", err, diff)
		}
		for _, path := range differencesIn(t, template, got) {
			if !touchable.MatchString(path) {
				t.Errorf("ApplyTemplate changed %s", path)
			}
		}
	})
}

// differencesIn is differences for a property, whose handle is no testing.TB.
func differencesIn(t *rapid.T, before, after any) []string {
	paths, err := differencesOf(before, after)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func changedEntries(report podspec.Report) int {
	return len(report.Entries) - len(report.Kept())
}

// TestApplyNeverLeavesARequestAboveItsLimit draws any amounts at all: what comes back without an error is well formed.
func TestApplyNeverLeavesARequestAboveItsLimit(t *testing.T) {
	amounts := rapid.SampledFrom([]string{"", "cpu=1 ", "cpu=2 ", "cpu=3 memory=1Gi ", "memory=2Gi "})
	rapid.Check(t, func(t *rapid.T) {
		draw := func() string { return amounts.Draw(t, "requests") + "/ " + amounts.Draw(t, "limits") }
		p := pod(container("a", draw()), container("init", draw()))
		existing := rapid.SampledFrom([]podspec.Existing{podspec.KeepExisting, podspec.Override, podspec.RequireEqual}).Draw(t, "existing")
		got, _, err := podspec.Apply(p, podspec.Plan{Size: podspec.MustSize(podspec.Cores(2), podspec.MiB(1024)), Existing: existing})
		if err != nil {
			return
		}
		for _, list := range [][]corev1.Container{got.Spec.Containers, got.Spec.InitContainers} {
			for name, request := range list[0].Resources.Requests {
				if limit, ok := list[0].Resources.Limits[name]; ok && request.Cmp(limit) > 0 {
					t.Errorf("request %v above limit %v", request.String(), limit.String())
				}
			}
		}
	})
}
