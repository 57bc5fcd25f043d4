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

const fourKeys = "requests.cpu=4 requests.memory=4Gi limits.cpu=4 limits.memory=4Gi"

func main(t testing.TB, text string) *corev1.Pod { return pod(container(t, "main", text)) }

// The facts are numbered as in our notes on the API server; each was seen on a real one.

func TestFact01QuotaIsEnforcedFromStatus(t *testing.T) {
	empty := quota("new", "limits.cpu=1", "")
	empty.Status = corev1.ResourceQuotaStatus{}
	p := predict(t, world(empty), main(t, "/ cpu=3"))
	if answer(p) != "Admit" {
		t.Errorf("a quota without status refuses: %v", refusals(p))
	}
	if len(p.Findings) != 1 || p.Findings[0].Severity != podspec.Warns || !strings.Contains(p.Findings[0].Message, "once it is, it refuses") {
		t.Errorf("nothing warns of what the quota will do: %v", p.Findings)
	}
	lowered := quota("lowered", "limits.cpu=5", "")
	lowered.Spec.Hard = amounts("limits.cpu=1")
	p = predict(t, world(lowered), main(t, "/ cpu=3"))
	if answer(p) != "Admit" || p.Quotas[0].Synced || len(p.Findings) != 1 {
		t.Errorf("a stale quota gives %v, %v", answer(p), p.Findings)
	}
}

func TestFact02UncountedUsageIsRefusedForAWhile(t *testing.T) {
	q := quota("q", "limits.cpu=4 pods=3", "")
	delete(q.Status.Used, corev1.ResourcePods)
	p := predict(t, world(q), main(t, "/ cpu=1"))
	if answer(p) != "QuotaUnknownStatus" || p.Refusals()[0].Retry != podspec.RetryWhenSynced || p.Refusals()[0].Resource != "pods" {
		t.Errorf("got %v: %v", answer(p), p.Findings)
	}
}

func TestFact03OnlyCpuAndMemoryAreMandatory(t *testing.T) {
	q := quota("q", "requests.ephemeral-storage=1Gi requests.nvidia.com/gpu=1 hugepages-2Mi=2Mi pods=1 count/pods=1", "")
	if p := predict(t, world(q), main(t, "")); answer(p) != "Admit" {
		t.Errorf("got %v: %v", answer(p), refusals(p))
	}
	for _, key := range []string{"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"} {
		if p := predict(t, world(quota("q", key+"=1Gi", "")), main(t, "")); answer(p) != "QuotaMissing" || len(p.Refusals()) != 1 {
			t.Errorf("%s: got %v: %v", key, answer(p), refusals(p))
		}
	}
}

func TestFact04ZeroIsADeclarationAndCostsNothing(t *testing.T) {
	overdrawn := quota("q", "requests.cpu=1 limits.cpu=1", "requests.cpu=5 limits.cpu=5")
	p := predict(t, world(overdrawn), main(t, "cpu=0 / cpu=0"))
	if answer(p) != "Admit" || p.QOS != corev1.PodQOSBestEffort || len(p.Quotas[0].Delta) != 0 {
		t.Errorf("got %v, %v: %v", answer(p), p.QOS, refusals(p))
	}
	if p := predict(t, world(overdrawn), main(t, "")); answer(p) != "QuotaMissing" {
		t.Errorf("without the zero: %v", answer(p))
	}
}

func TestFact05PodLevelAmountsSkipThePresenceCheck(t *testing.T) {
	p := main(t, "")
	level := resources(t, "/ cpu=1")
	p.Spec.Resources = &level
	got := predict(t, world(quota("q", "limits.memory=1Gi limits.cpu=2", "")), p)
	if answer(got) != "Admit" {
		t.Fatalf("got %v: %v", answer(got), refusals(got))
	}
	if diff := cmp.Diff(map[string]string{"limits.cpu": "1"}, texts(got.Quotas[0].Delta)); diff != "" {
		t.Error(diff)
	}
	if old := predict(t, world(33, quota("q", "limits.cpu=2", "")), p); answer(old) != "QuotaMissing" || old.Effective.Spec.Resources != nil {
		t.Errorf("a server that knows no pod level: %v", answer(old))
	}
}

func TestFact07MaxAloneSizesUnsizedPods(t *testing.T) {
	p := predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "max cpu=2 memory=4Gi")), main(t, ""))
	if answer(p) != "Admit" || p.QOS != corev1.PodQOSGuaranteed || shown(p.Effective.Spec.Containers[0].Resources) != "cpu=2 memory=4Gi / cpu=2 memory=4Gi" {
		t.Errorf("got %v, %v, %v", answer(p), p.QOS, shown(p.Effective.Spec.Containers[0].Resources))
	}
	p = predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "min cpu=100m")), main(t, ""))
	if shown(p.Effective.Spec.Containers[0].Resources) != "cpu=100m /" {
		t.Errorf("min alone gives %v", shown(p.Effective.Spec.Containers[0].Resources))
	}
}

func TestFact08MaxHandsOutDevices(t *testing.T) {
	p := predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "max nvidia.com/gpu=1")), pod(container(t, "main", ""), sidecar(t, "s", "")))
	if shown(p.Effective.Spec.InitContainers[0].Resources) != "nvidia.com/gpu=1 / nvidia.com/gpu=1" || len(p.Masked) != 4 {
		t.Errorf("got %v, masked %v", shown(p.Effective.Spec.InitContainers[0].Resources), p.Masked)
	}
}

func TestFact09DefaultLimitBelowTheRequestIsInvalid(t *testing.T) {
	p := predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "default cpu=500m")), main(t, "cpu=700m /"))
	if answer(p) != "Invalid" || p.Stage != podspec.StageValidation || p.Refusals()[0].Remedy != "set a limit of 700m or more, or lower the request" {
		t.Errorf("got %v: %v", answer(p), p.Refusals())
	}
}

func TestFact10TheOrderOfLimitRangesCanDecide(t *testing.T) {
	small, large := limitRange("a", corev1.LimitTypeContainer, "default cpu=1"), limitRange("b", corev1.LimitTypeContainer, "default cpu=3")
	p := predict(t, world(small, large, quota("q", "limits.cpu=2", "")), main(t, ""))
	if p.Verdict != podspec.Depends || len(p.Alternatives) != 2 {
		t.Fatalf("got %v with %d alternatives", p.Verdict, len(p.Alternatives))
	}
	verdicts := map[string]podspec.Verdict{}
	for _, outcome := range p.Alternatives {
		verdicts[strings.Join(outcome.Order, ",")] = outcome.Verdict
	}
	if diff := cmp.Diff(map[string]podspec.Verdict{"a,b": podspec.Admit, "b,a": podspec.Reject}, verdicts); diff != "" {
		t.Error(diff)
	}
	if p := predict(t, world(small, large), main(t, "")); p.Verdict != podspec.Admit || len(p.Alternatives) != 2 {
		t.Errorf("amounts that differ are no alternatives: %v, %d", p.Verdict, len(p.Alternatives))
	}
	if p := predict(t, world(small, small), main(t, "")); p.Alternatives != nil {
		t.Error("LimitRanges that agree give alternatives")
	}
	five := world(small, large, small, large, small, quota("q", "limits.cpu=2", ""))
	if p := predict(t, five, main(t, "")); p.Verdict != podspec.Depends || len(p.Caveats) != 1 {
		t.Errorf("five LimitRanges: %v, caveats %v", p.Verdict, p.Caveats)
	}
}

func TestFact11Ratio(t *testing.T) {
	tests := map[string]string{
		"cpu=1 / cpu=1500m": "Admit", "cpu=1 / cpu=1501m": "LimitRange", "cpu=1 /": "LimitRange", "": "LimitRange",
		"cpu=0 / cpu=1": "LimitRange", "cpu=0 / cpu=0": "LimitRange", "/ cpu=1": "Admit",
	}
	for amounts, want := range tests {
		if p := predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "ratio cpu=1.5")), main(t, amounts)); answer(p) != want {
			t.Errorf("%q: got %v, want %v: %v", amounts, answer(p), want, refusals(p))
		}
	}
}

func TestFact12DevicesAndStorageAloneAreBestEffort(t *testing.T) {
	q := scoped(quota("q", "pods=0", ""), corev1.ResourceQuotaScopeBestEffort)
	for _, amounts := range []string{"/ nvidia.com/gpu=1", "/ ephemeral-storage=1Gi"} {
		if p := predict(t, world(q), main(t, amounts)); answer(p) != "QuotaExceeded" || p.QOS != corev1.PodQOSBestEffort {
			t.Errorf("%q: %v, %v", amounts, answer(p), p.QOS)
		}
	}
	if p := predict(t, world(q), pod(container(t, "main", ""), container(t, "init", "/ cpu=1"))); answer(p) != "Admit" || p.QOS != corev1.PodQOSBurstable {
		t.Errorf("an init container with cpu: %v, %v", answer(p), p.QOS)
	}
}

func TestFact13ScopeSeesTheDefaultPriorityClass(t *testing.T) {
	q := quota("q", "pods=0", "")
	q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"usual"}}}}
	p := predict(t, world(q, priorityClass("usual", true)), main(t, ""))
	if answer(p) != "QuotaExceeded" || p.Effective.Spec.PriorityClassName != "usual" || *p.Effective.Spec.Priority != 7 {
		t.Errorf("got %v", answer(p))
	}
	if p := predict(t, world(q, priorityClass("usual", false)), main(t, "")); answer(p) != "Admit" {
		t.Errorf("without a default class: %v", answer(p))
	}
}

func TestFact14Devices(t *testing.T) {
	tests := map[string]string{
		"/ nvidia.com/gpu=1": "Admit", "nvidia.com/gpu=1 /": "Invalid", "nvidia.com/gpu=1 / nvidia.com/gpu=2": "Invalid", "/ nvidia.com/gpu=500m": "Invalid",
		"/ gpu=1": "Invalid", "/ requests.cpu=1": "Invalid", "/ kubernetes.io/odd=1": "Admit", "/ a.b/c_=1": "Invalid", "/ requests.nvidia.com/gpu=1": "Invalid",
	}
	for amounts, want := range tests {
		if p := predict(t, world(), main(t, amounts)); answer(p) != want {
			t.Errorf("%q: got %v, want %v: %v", amounts, answer(p), want, refusals(p))
		}
	}
	level := resources(t, "/ nvidia.com/gpu=1")
	if p := predict(t, world(), with(main(t, ""), func(p *corev1.Pod) { p.Spec.Resources = &level })); answer(p) != "Invalid" {
		t.Errorf("a device at pod level: %v", answer(p))
	}
}

func TestFact17UsageNeverChangesThePod(t *testing.T) {
	p := main(t, "")
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
	p := main(t, "")
	level := resources(t, "/ cpu=1")
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
	empty := with(main(t, whole), func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{} })
	for minor, want := range map[int]corev1.PodQOSClass{33: corev1.PodQOSGuaranteed, 34: corev1.PodQOSBestEffort, 36: corev1.PodQOSBestEffort, 37: corev1.PodQOSGuaranteed} {
		if got := predict(t, world(minor), empty).QOS; got != want {
			t.Errorf("1.%d: an empty pod level gives %v, want %v", minor, got, want)
		}
	}
}

func TestR30LimitsAtPodLevelComeFromTheContainers(t *testing.T) {
	level := resources(t, "cpu=1 /")
	p := with(pod(container(t, "main", "/ cpu=1"), sidecar(t, "s", "/ cpu=2")), func(p *corev1.Pod) { p.Spec.Resources = &level })
	if answer(predict(t, world(36), p)) != "Invalid" {
		t.Error("requests below the containers' sum are accepted")
	}
	level = resources(t, "cpu=4 /")
	if got := shown(*predict(t, world(37), p).Effective.Spec.Resources); got != "cpu=4 / cpu=4" {
		t.Errorf("1.37: %v", got)
	}
	level = resources(t, "memory=1Gi /")
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
	p := predict(t, s, main(t, whole))
	if answer(p) != "Unknown" || !strings.Contains(p.Findings[0].Message, "default of the API server is not known") {
		t.Errorf("got %v: %v", answer(p), p.Findings)
	}
	hard, _, err := podspec.Harden(main(t, whole), podspec.Hardening{})
	if err != nil {
		t.Fatal(err)
	}
	if p := predict(t, s, hard); answer(p) != "Admit" {
		t.Errorf("a pod that passes the strictest level: %v %v", answer(p), p.Findings)
	}
	s.Namespace = podspec.Known(labelled("enforce", "privileged"))
	if p := predict(t, s, main(t, whole)); answer(p) != "Admit" {
		t.Errorf("a namespace that says it: %v", answer(p))
	}
	s = world()
	s.PodSecurity.Value.Enforce = "baseline"
	network := with(main(t, whole), func(p *corev1.Pod) { p.Spec.HostNetwork = true })
	if p := predict(t, s, network); answer(p) != "PodSecurity" {
		t.Errorf("hostNetwork under the default baseline: %v", answer(p))
	}
	s.PodSecurity.Value.Exempt = true
	if p := predict(t, s, network); answer(p) != "Admit" {
		t.Errorf("exempt: %v", answer(p))
	}
	s.PodSecurity.Value = podspec.PodSecurityDefaults{Enforce: "restricted", EnforceVersion: "v1.30", ExemptRuntimeClasses: []string{"kata"}}
	s.RuntimeClasses.Value = append(s.RuntimeClasses.Value, runtimeClass("kata", ""))
	kata := "kata"
	if p := predict(t, s, with(network, func(p *corev1.Pod) { p.Spec.RuntimeClassName = &kata })); answer(p) != "Admit" {
		t.Errorf("exempt by class: %v", answer(p))
	}
}

func TestFact20LatestIsTheServersLatest(t *testing.T) {
	p, _, err := podspec.Harden(main(t, whole), podspec.Hardening{})
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
	if got := answer(predict(t, world(labelled("enforce", "nonsense")), main(t, whole))); got != "PodSecurity" {
		t.Errorf("a level that cannot be read counts as restricted: %v", got)
	}
}

func TestFact21HugeAmountsAreCompared(t *testing.T) {
	if p := predict(t, world(quota("q", "limits.memory=7Ei", "")), main(t, "/ memory=8Ei")); answer(p) != "QuotaExceeded" {
		t.Errorf("got %v", answer(p))
	}
}

func TestFact22SpellingsAreEqual(t *testing.T) {
	if p := predict(t, world(quota("q", "requests.cpu=1", "")), main(t, "cpu=1000m / cpu=1")); answer(p) != "Admit" || p.QOS != corev1.PodQOSBurstable {
		t.Errorf("got %v, %v", answer(p), p.QOS)
	}
}

func TestStagesAreInTheServersOrder(t *testing.T) {
	s := world(limitRange("lr", corev1.LimitTypeContainer, "max cpu=1"), labelled("enforce", "restricted"), quota("q", "limits.cpu=1 limits.memory=1", ""))
	p := predict(t, s, main(t, "/ cpu=2"))
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
