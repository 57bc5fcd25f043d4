package podspec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

func TestFact17UsageNeverChangesThePod(t *testing.T) {
	p := main("")
	fine := *resource.NewDecimalQuantity(*inf.NewDec(30000000000000004, 17), resource.DecimalSI)
	p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": fine}, Limits: corev1.ResourceList{"cpu": fine.DeepCopy()}}
	p.Spec.Overhead = amounts("cpu=250m")
	before := p.DeepCopy()
	for range 3 {
		requests, limits := podspec.PodRequests(p)["cpu"], podspec.PodLimits(p)["cpu"]
		if requests.Cmp(limits) != 0 || requests.Cmp(resource.MustParse("551m")) >= 0 || requests.Cmp(resource.MustParse("550m")) < 0 {
			t.Errorf("requests %v, limits %v", requests.String(), limits.String())
		}
	}
	if before.Spec.Resources.Requests.Cpu().Cmp(*p.Spec.Resources.Requests.Cpu()) != 0 {
		t.Errorf("the pod was changed to %v", p.Spec.Resources.Requests.Cpu())
	}
}

func TestFact18PodLevelByServerVersion(t *testing.T) {
	p := main("")
	level := resources("/ cpu=1")
	p.Spec.Resources = &level
	lr := limitRange("lr", corev1.LimitTypeContainer, "defaultRequest cpu=100m")
	got := map[int]string{}
	for _, minor := range []int{33, 34, 36, 37} {
		if effective := predict(t, world(minor, lr), p).Effective.Spec.Resources; effective != nil {
			got[minor] = shown(*effective)
		}
	}
	// Before 1.37 the pod level is filled in before LimitRanges are: no container has a request yet, so the pod's limit is it.
	if diff := cmp.Diff(map[int]string{34: "cpu=1 / cpu=1", 36: "cpu=1 / cpu=1", 37: "cpu=100m / cpu=1"}, got); diff != "" {
		t.Error(diff)
	}
	empty := with(main(whole), func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{} })
	for minor, want := range map[int]corev1.PodQOSClass{33: corev1.PodQOSGuaranteed, 34: corev1.PodQOSBestEffort, 36: corev1.PodQOSBestEffort, 37: corev1.PodQOSGuaranteed} {
		if got := predict(t, world(minor), empty).QOS; got != want {
			t.Errorf("1.%d: an empty pod level gives %v, want %v", minor, got, want)
		}
	}
}

func TestR30LimitsAtPodLevelComeFromTheContainers(t *testing.T) {
	level := resources("cpu=1 /")
	p := with(pod(container("main", "/ cpu=1"), sidecar("s", "/ cpu=2")), func(p *corev1.Pod) { p.Spec.Resources = &level })
	if answer(predict(t, world(36), p)) != "Invalid" {
		t.Error("requests below the containers' sum are accepted")
	}
	level = resources("cpu=4 /")
	if got := shown(*predict(t, world(37), p).Effective.Spec.Resources); got != "cpu=4 / cpu=4" {
		t.Errorf("1.37: %v", got)
	}
	level = resources("memory=1Gi /")
	if got := shown(*predict(t, world(37), p).Effective.Spec.Resources); got != "cpu=3 memory=1Gi / cpu=3" {
		t.Errorf("1.37: %v", got)
	}
	if got := shown(*predict(t, world(36), p).Effective.Spec.Resources); got != "memory=1Gi /" {
		t.Errorf("1.36: %v", got)
	}
}

func TestFact19UnknownDefaultsAreNotAdmitted(t *testing.T) {
	s := world()
	s.PodSecurity = podspec.Unknown[podspec.PodSecurityDefaults]("no client can read it")
	p := predict(t, s, main(whole))
	if answer(p) != "Unknown" || !strings.Contains(p.Findings[0].Message, "default of the API server is not known") {
		t.Errorf("got %v: %v", answer(p), p.Findings)
	}
	hard, _, err := podspec.Harden(main(whole), podspec.Hardening{})
	if err != nil {
		t.Fatal(err)
	}
	if p := predict(t, s, hard); answer(p) != "Admit" {
		t.Errorf("a pod that passes the strictest level: %v %v", answer(p), p.Findings)
	}
	s.Namespace = podspec.Known(labelled("enforce", "privileged"))
	if p := predict(t, s, main(whole)); answer(p) != "Admit" {
		t.Errorf("a namespace that says it: %v", answer(p))
	}
	s = world()
	s.PodSecurity.Value.Enforce = "baseline"
	network := with(main(whole), func(p *corev1.Pod) { p.Spec.HostNetwork = true })
	if p := predict(t, s, network); answer(p) != "PodSecurity" {
		t.Errorf("hostNetwork under the default baseline: %v", answer(p))
	}
	s.PodSecurity.Value.Exempt = true
	if p := predict(t, s, network); answer(p) != "Admit" {
		t.Errorf("exempt: %v", answer(p))
	}
	s.PodSecurity.Value = podspec.PodSecurityDefaults{Enforce: "restricted", EnforceVersion: "v1.30", ExemptRuntimeClasses: []string{"kata"}}
	s.RuntimeClasses.Value = append(s.RuntimeClasses.Value, kataClass(""))
	kata := "kata"
	if p := predict(t, s, with(network, func(p *corev1.Pod) { p.Spec.RuntimeClassName = &kata })); answer(p) != "Admit" {
		t.Errorf("exempt by class: %v", answer(p))
	}
}

func TestFact20LatestIsTheServersLatest(t *testing.T) {
	p, _, err := podspec.Harden(main(whole), podspec.Hardening{})
	if err != nil {
		t.Fatal(err)
	}
	p.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: "127.0.0.1"}}}
	got := map[int]string{}
	for _, minor := range []int{33, 34, 37} {
		got[minor] = answer(predict(t, world(minor, labelled("enforce", "restricted")), p))
	}
	// Probe hosts are forbidden from 1.34 on.
	if diff := cmp.Diff(map[int]string{33: "Admit", 34: "PodSecurity", 37: "PodSecurity"}, got); diff != "" {
		t.Error(diff)
	}
	p.Spec.Containers[0].LivenessProbe = nil
	p.Spec.Volumes = []corev1.Volume{{Name: "scratch"}}
	if got := answer(predict(t, world(labelled("enforce", "restricted")), p)); got != "Admit" {
		t.Errorf("a volume without source is an emptyDir: %v", got)
	}
	if got := answer(predict(t, world(labelled("enforce", "nonsense")), main(whole))); got != "PodSecurity" {
		t.Errorf("a level that cannot be read counts as restricted: %v", got)
	}
}

func TestFact21HugeAmountsAreCompared(t *testing.T) {
	if p := predict(t, world(quota("q", "limits.memory=7Ei", "")), main("/ memory=8Ei")); answer(p) != "QuotaExceeded" {
		t.Errorf("got %v", answer(p))
	}
}

func TestFact22SpellingsAreEqual(t *testing.T) {
	if p := predict(t, world(quota("q", "requests.cpu=1", "")), main("cpu=1000m / cpu=1")); answer(p) != "Admit" || p.QOS != corev1.PodQOSBurstable {
		t.Errorf("got %v, %v", answer(p), p.QOS)
	}
}

func TestStagesAreInTheServersOrder(t *testing.T) {
	s := world(limitRange("lr", corev1.LimitTypeContainer, "max cpu=1"), labelled("enforce", "restricted"), quota("q", "limits.cpu=1 limits.memory=1", ""))
	p := predict(t, s, main("/ cpu=2"))
	var stages []podspec.Stage
	for _, finding := range p.Refusals() {
		if len(stages) == 0 || stages[len(stages)-1] != finding.Stage {
			stages = append(stages, finding.Stage)
		}
	}
	if diff := cmp.Diff([]podspec.Stage{podspec.StageLimitRange, podspec.StagePodSecurity, podspec.StageQuota}, stages); diff != "" || p.Stage != podspec.StageLimitRange {
		t.Error(p.Stage, diff)
	}
	categories := map[podspec.Category]bool{}
	for _, finding := range p.Refusals() {
		categories[finding.Category] = true
	}
	if !categories[podspec.CategoryQuotaMissing] || !categories[podspec.CategoryQuotaExceeded] {
		t.Errorf("not all findings are there: %v", refusals(p))
	}
}
