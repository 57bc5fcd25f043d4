package podspec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

const fourKeys = "requests.cpu=4 requests.memory=4Gi limits.cpu=4 limits.memory=4Gi"

func main(text string) *corev1.Pod { return pod(container("main", text)) }

// Facts (Fact and a number): what naive predictors get wrong about the API server; each was seen on a real one.

func TestFact01QuotaIsEnforcedFromStatus(t *testing.T) {
	empty := quota("new", "limits.cpu=1", "")
	empty.Status = corev1.ResourceQuotaStatus{}
	p := predict(t, world(empty), main("/ cpu=3"))
	if answer(p) != "Admit" {
		t.Errorf("a quota without status refuses: %v", refusals(p))
	}
	if len(p.Findings) != 1 || p.Findings[0].Severity != podspec.Warns || !strings.Contains(p.Findings[0].Message, "once it is, it refuses") {
		t.Errorf("nothing warns of what the quota will do: %v", p.Findings)
	}
	lowered := quota("lowered", "limits.cpu=5", "")
	lowered.Spec.Hard = amounts("limits.cpu=1")
	p = predict(t, world(lowered), main("/ cpu=3"))
	if answer(p) != "Admit" || p.Quotas[0].Synced || len(p.Findings) != 1 {
		t.Errorf("a stale quota gives %v, %v", answer(p), p.Findings)
	}
}

func TestFact02UncountedUsageIsRefusedForAWhile(t *testing.T) {
	q := quota("q", "limits.cpu=4 pods=3", "")
	delete(q.Status.Used, corev1.ResourcePods)
	p := predict(t, world(q), main("/ cpu=1"))
	if answer(p) != "QuotaUnknownStatus" || p.Refusals()[0].Retry != podspec.RetryWhenSynced || p.Refusals()[0].Resource != "pods" {
		t.Errorf("got %v: %v", answer(p), p.Findings)
	}
}

func TestFact03OnlyCpuAndMemoryAreMandatory(t *testing.T) {
	q := quota("q", "requests.ephemeral-storage=1Gi requests.nvidia.com/gpu=1 hugepages-2Mi=2Mi pods=1 count/pods=1", "")
	if p := predict(t, world(q), main("")); answer(p) != "Admit" {
		t.Errorf("got %v: %v", answer(p), refusals(p))
	}
	for _, key := range []string{"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"} {
		if p := predict(t, world(quota("q", key+"=1Gi", "")), main("")); answer(p) != "QuotaMissing" || len(p.Refusals()) != 1 {
			t.Errorf("%s: got %v: %v", key, answer(p), refusals(p))
		}
	}
}

func TestFact04ZeroIsADeclarationAndCostsNothing(t *testing.T) {
	overdrawn := quota("q", "requests.cpu=1 limits.cpu=1", "requests.cpu=5 limits.cpu=5")
	p := predict(t, world(overdrawn), main("cpu=0 / cpu=0"))
	if answer(p) != "Admit" || p.QOS != corev1.PodQOSBestEffort || len(p.Quotas[0].Delta) != 0 {
		t.Errorf("got %v, %v: %v", answer(p), p.QOS, refusals(p))
	}
	if p := predict(t, world(overdrawn), main("")); answer(p) != "QuotaMissing" {
		t.Errorf("without the zero: %v", answer(p))
	}
}

func TestFact05PodLevelAmountsSkipThePresenceCheck(t *testing.T) {
	p := main("")
	level := resources("/ cpu=1")
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
	p := predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "max cpu=2 memory=4Gi")), main(""))
	if answer(p) != "Admit" || p.QOS != corev1.PodQOSGuaranteed || shown(p.Effective.Spec.Containers[0].Resources) != "cpu=2 memory=4Gi / cpu=2 memory=4Gi" {
		t.Errorf("got %v, %v, %v", answer(p), p.QOS, shown(p.Effective.Spec.Containers[0].Resources))
	}
	p = predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "min cpu=100m")), main(""))
	if shown(p.Effective.Spec.Containers[0].Resources) != "cpu=100m /" {
		t.Errorf("min alone gives %v", shown(p.Effective.Spec.Containers[0].Resources))
	}
}

func TestFact08MaxHandsOutDevices(t *testing.T) {
	p := predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "max nvidia.com/gpu=1")), pod(container("main", ""), sidecar("s", "")))
	if shown(p.Effective.Spec.InitContainers[0].Resources) != "nvidia.com/gpu=1 / nvidia.com/gpu=1" || len(p.Masked) != 4 {
		t.Errorf("got %v, masked %v", shown(p.Effective.Spec.InitContainers[0].Resources), p.Masked)
	}
}

func TestFact09DefaultLimitBelowTheRequestIsInvalid(t *testing.T) {
	p := predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "default cpu=500m")), main("cpu=700m /"))
	if answer(p) != "Invalid" || p.Stage != podspec.StageValidation || p.Refusals()[0].Remedy != "set a limit of 700m or more, or lower the request" {
		t.Errorf("got %v: %v", answer(p), p.Refusals())
	}
}

func TestFact10TheOrderOfLimitRangesCanDecide(t *testing.T) {
	small, large := limitRange("a", corev1.LimitTypeContainer, "default cpu=1"), limitRange("b", corev1.LimitTypeContainer, "default cpu=3")
	p := predict(t, world(small, large, quota("q", "limits.cpu=2", "")), main(""))
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
	if p := predict(t, world(small, large), main("")); p.Verdict != podspec.Admit || len(p.Alternatives) != 2 {
		t.Errorf("amounts that differ are no alternatives: %v, %d", p.Verdict, len(p.Alternatives))
	}
	if p := predict(t, world(small, small), main("")); p.Alternatives != nil {
		t.Error("LimitRanges that agree give alternatives")
	}
	five := world(small, large, small, large, small, quota("q", "limits.cpu=2", ""))
	if p := predict(t, five, main("")); p.Verdict != podspec.Depends || len(p.Caveats) != 1 {
		t.Errorf("five LimitRanges: %v, caveats %v", p.Verdict, p.Caveats)
	}
}

func TestFact11Ratio(t *testing.T) {
	tests := map[string]string{
		"cpu=1 / cpu=1500m": "Admit", "cpu=1 / cpu=1501m": "LimitRange", "cpu=1 /": "LimitRange", "": "LimitRange",
		"cpu=0 / cpu=1": "LimitRange", "cpu=0 / cpu=0": "LimitRange", "/ cpu=1": "Admit",
	}
	for amounts, want := range tests {
		if p := predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "ratio cpu=1.5")), main(amounts)); answer(p) != want {
			t.Errorf("%q: got %v, want %v: %v", amounts, answer(p), want, refusals(p))
		}
	}
}

func TestFact12DevicesAndStorageAloneAreBestEffort(t *testing.T) {
	q := scoped(quota("q", "pods=0", ""), corev1.ResourceQuotaScopeBestEffort)
	for _, amounts := range []string{"/ nvidia.com/gpu=1", "/ ephemeral-storage=1Gi"} {
		if p := predict(t, world(q), main(amounts)); answer(p) != "QuotaExceeded" || p.QOS != corev1.PodQOSBestEffort {
			t.Errorf("%q: %v, %v", amounts, answer(p), p.QOS)
		}
	}
	if p := predict(t, world(q), pod(container("main", ""), container("init", "/ cpu=1"))); answer(p) != "Admit" || p.QOS != corev1.PodQOSBurstable {
		t.Errorf("an init container with cpu: %v, %v", answer(p), p.QOS)
	}
}

func TestFact13ScopeSeesTheDefaultPriorityClass(t *testing.T) {
	q := quota("q", "pods=0", "")
	q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"usual"}}}}
	p := predict(t, world(q, priorityClass("usual", true)), main(""))
	if answer(p) != "QuotaExceeded" || p.Effective.Spec.PriorityClassName != "usual" || *p.Effective.Spec.Priority != 7 {
		t.Errorf("got %v", answer(p))
	}
	if p := predict(t, world(q, priorityClass("usual", false)), main("")); answer(p) != "Admit" {
		t.Errorf("without a default class: %v", answer(p))
	}
}

func TestFact14Devices(t *testing.T) {
	tests := map[string]string{
		"/ nvidia.com/gpu=1": "Admit", "nvidia.com/gpu=1 /": "Invalid", "nvidia.com/gpu=1 / nvidia.com/gpu=2": "Invalid", "/ nvidia.com/gpu=500m": "Invalid",
		"/ gpu=1": "Invalid", "/ requests.cpu=1": "Invalid", "/ kubernetes.io/odd=1": "Admit", "/ a.b/c_=1": "Invalid", "/ requests.nvidia.com/gpu=1": "Invalid",
	}
	for amounts, want := range tests {
		if p := predict(t, world(), main(amounts)); answer(p) != want {
			t.Errorf("%q: got %v, want %v: %v", amounts, answer(p), want, refusals(p))
		}
	}
	level := resources("/ nvidia.com/gpu=1")
	if p := predict(t, world(), with(main(""), func(p *corev1.Pod) { p.Spec.Resources = &level })); answer(p) != "Invalid" {
		t.Errorf("a device at pod level: %v", answer(p))
	}
}
