package podspec_test

import (
	"errors"
	"strings"
	"testing"

	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

func TestBoundsAreRoundedLikePods(t *testing.T) {
	s := world(quota("q", "limits.cpu=0.0001", ""), limitRange("lr", corev1.LimitTypeContainer, "max cpu=0.0001"))
	p := predict(t, s, main("/ cpu=0.0001"))
	if room := p.Quotas[0].Headroom["limits.cpu"]; answer(p) != "Admit" || room.String() != "1m" {
		t.Errorf("got %v, room for %v: %v", answer(p), room.String(), p.Findings)
	}
}

func TestHostNetworkMakesHostPorts(t *testing.T) {
	p := with(main(whole), func(p *corev1.Pod) {
		p.Spec.HostNetwork = true
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080}, {ContainerPort: 9090, HostPort: 9090}}
	})
	got := predict(t, world(labelled("enforce", "baseline")), p)
	if text := strings.Join(refusals(got), "\n"); !strings.Contains(text, "hostPorts 8080, 9090") {
		t.Errorf("got %v", text)
	}
}

func TestPodLevelWithoutContainers(t *testing.T) {
	level := resources("cpu=1 /")
	p := with(pod(), func(p *corev1.Pod) { p.Spec.Resources = &level })
	if got := predict(t, world(), p); shown(*got.Effective.Spec.Resources) != "cpu=1 /" {
		t.Errorf("got %v", shown(*got.Effective.Spec.Resources))
	}
}

func TestOrdersWithPodLevel(t *testing.T) {
	level := resources("/ memory=8Gi cpu=9")
	p := with(main(""), func(p *corev1.Pod) { p.Spec.Resources = &level })
	s := world(limitRange("a", corev1.LimitTypeContainer, "default cpu=1"), limitRange("b", corev1.LimitTypeContainer, "default cpu=2"))
	got := predict(t, s, p)
	if got.Verdict != podspec.Admit || len(got.Alternatives) != 2 || shown(*got.Alternatives[0].Effective.Spec.Resources) == shown(*got.Alternatives[1].Effective.Spec.Resources) {
		t.Errorf("got %v, %d alternatives", got.Verdict, len(got.Alternatives))
	}
	level = resources("cpu=4 / memory=8Gi cpu=9")
	if got := predict(t, s, p); len(got.Alternatives) != 2 {
		t.Errorf("%d alternatives", len(got.Alternatives))
	}
	same := world(limitRange("a", corev1.LimitTypeContainer, "default cpu=1"), limitRange("b", corev1.LimitTypeContainer, "default cpu=2"))
	if got := predict(t, same, main("cpu=1 memory=1Gi / cpu=1 memory=1Gi")); got.Alternatives != nil {
		t.Errorf("an order that changes nothing gives %d alternatives", len(got.Alternatives))
	}
	if got := predict(t, same, with(main(whole), func(p *corev1.Pod) { l := resources("/ cpu=9"); p.Spec.Resources = &l })); got.Alternatives != nil {
		t.Errorf("an order that changes nothing gives %d alternatives", len(got.Alternatives))
	}
}

func TestLimitRangeBoundsOfInvalidPods(t *testing.T) {
	for bounds, want := range map[string]string{"min cpu=2": "has a limit of 1 of cpu, less than the minimum of 2", "max cpu=1": "requests 2 of cpu, more than the maximum of 1"} {
		p := predict(t, world(limitRange("lr", corev1.LimitTypeContainer, bounds)), main("cpu=2 / cpu=1"))
		if text := strings.Join(refusals(p), "\n"); !strings.Contains(text, want) {
			t.Errorf("%s: got %v", bounds, text)
		}
	}
	if p := predict(t, world(limitRange("lr", corev1.LimitTypeContainer, "ratio memory=5Ei")), main("memory=1 / memory=2")); answer(p) != "Admit" {
		t.Errorf("a ratio beyond all thousandths: %v", answer(p))
	}
}

func TestConfiguredLevelsThatCannotBeRead(t *testing.T) {
	s := world()
	s.PodSecurity.Value = podspec.PodSecurityDefaults{Enforce: "nonsense", EnforceVersion: "nonsense"}
	if p := predict(t, s, main(whole)); answer(p) != "PodSecurity" {
		t.Errorf("got %v", answer(p))
	}
}

func TestAffinityAcrossNamespaces(t *testing.T) {
	q := scoped(quota("q", "pods=0", ""), corev1.ResourceQuotaScopeCrossNamespacePodAffinity)
	near := []corev1.PodAffinityTerm{{TopologyKey: "zone", Namespaces: []string{"other"}}}
	here := []corev1.PodAffinityTerm{{TopologyKey: "zone"}}
	tests := map[string]struct {
		affinity corev1.Affinity
		want     string
	}{
		"required, elsewhere":      {corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: near}}, "QuotaExceeded"},
		"required anti, elsewhere": {corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: near}}, "QuotaExceeded"},
		"preferred, elsewhere":     {corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: near[0]}}}}, "QuotaExceeded"},
		"required, here":           {corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: here}}, "Admit"},
		"of nodes":                 {corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}, "Admit"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := with(main(whole), func(p *corev1.Pod) { p.Spec.Affinity = &test.affinity })
			if got := predict(t, world(q), p); answer(got) != test.want {
				t.Errorf("got %v, want %v", answer(got), test.want)
			}
		})
	}
}

func TestHugepagesOfNoSize(t *testing.T) {
	for _, name := range []string{"hugepages-odd", "hugepages-", "hugepages-0", "hugepages-1500m"} {
		if p := predict(t, world(), main("/ cpu=1 "+name+"=2Mi")); answer(p) != "Invalid" {
			t.Errorf("%s: got %v", name, answer(p))
		}
	}
}

func TestOverheadOfOtherResources(t *testing.T) {
	p := with(main(whole), func(p *corev1.Pod) {
		name := "kata"
		p.Spec.RuntimeClassName, p.Spec.Overhead = &name, amounts("memory=1 nvidia.com/gpu=1")
	})
	if got := predict(t, world(kataClass("cpu=1")), p); answer(got) != "RuntimeClass" {
		t.Errorf("got %v", answer(got))
	}
}

func TestFitFaults(t *testing.T) {
	zero := explicitZero(t)
	tight := quota("q", "limits.cpu=500m", "limits.cpu=400m")
	plan := podspec.Plan{Size: oneCore()}
	if _, err := podspec.Fit(world(tight), main(""), plan, podspec.FirstOf(zero)); !errors.Is(err, podspec.ErrZero) {
		t.Errorf("a tier of zero: %v", err)
	}
	if _, err := podspec.Fit(world(quota("q", "limits.cpu=500m", "limits.cpu=500m")), main(""), plan, podspec.ShrinkToQuota(zero)); !errors.Is(err, podspec.ErrZero) {
		t.Errorf("a floor of zero: %v", err)
	}
	s := world(quota("q", "limits.cpu=500m", ""), labelled("enforce", "restricted"))
	fitted, err := podspec.Fit(s, main(""), plan, podspec.ShrinkToQuota(podspec.MustSize(podspec.CPU("100m"))))
	if !errors.Is(err, podspec.ErrDoesNotFit) || !strings.Contains(err.Error(), "PodSecurity") || len(fitted.Adjustments) != 1 {
		t.Errorf("PodSecurity is in the way: %v, %v", err, fitted.Adjustments)
	}
	depends := world(limitRange("a", corev1.LimitTypeContainer, "default ephemeral-storage=1Gi"), limitRange("b", corev1.LimitTypeContainer, "default ephemeral-storage=3Gi"), quota("q", "limits.ephemeral-storage=2Gi", ""))
	if _, err := podspec.Fit(depends, main(""), plan, podspec.Exactly()); !errors.Is(err, podspec.ErrDoesNotFit) || err.Error() == "" {
		t.Errorf("it depends: %v", err)
	}
}

func TestAbsurdAmounts(t *testing.T) {
	beyond := *resource.NewDecimalQuantity(*inf.NewDec(1, -10000), resource.DecimalSI)
	outcome := podspec.Outcome{Quotas: []podspec.QuotaUse{{Delta: corev1.ResourceList{"cpu": beyond}, Headroom: corev1.ResourceList{"cpu": beyond}}}}
	if outcome.QuotaRoom().Limited {
		t.Error("an amount beyond any real one limits")
	}
	if room := predict(t, world(quota("q", "limits.cpu=8Ei", "")), main("/ cpu=1m")).QuotaRoom(); room.Limited {
		t.Errorf("more room than can be counted limits: %+v", room)
	}
	capacity := podspec.NodeRoom([]corev1.Node{node("a", "memory=8Ei pods=9"), node("b", "memory=8Ei pods=9")}, nil, main("memory=4Ei /"))
	if capacity.Pooled != 1 || capacity.Total != 2 {
		t.Errorf("got %+v", capacity)
	}
	if podspec.NodeRoom(nil, nil, nil).Nodes != nil {
		t.Error("no shape has room")
	}
	bare := bound("a", "")
	bare.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	bare.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Resources: &corev1.ResourceRequirements{Requests: amounts("cpu=1")}}}
	if got := podspec.NodeRoom([]corev1.Node{node("a", "cpu=2 pods=9")}, []corev1.Pod{bare}, main("cpu=1 /")).Total; got != 1 {
		t.Errorf("room for %d", got)
	}
	d := podspec.ExplainMessage("maximum cpu usage per Container is " + strings.Repeat("9", 100) + ", but limit is 2")
	if d.Figures[0].Bound != nil {
		t.Errorf("got %+v", d)
	}
	found := podspec.ExplainPod(unscheduled(corev1.PodReasonUnschedulable, "0/1 nodes are available: "+strings.Repeat("9", 50)+" Insufficient cpu."), nil)
	if found[0].Figures != nil {
		t.Errorf("got %+v", found)
	}
}
