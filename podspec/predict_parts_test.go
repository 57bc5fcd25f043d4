package podspec_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// What a test does not set of a plain cluster is known and in nobody's way.
func TestAPlainClusterAdmitsAndIsKnown(t *testing.T) {
	plain := podspec.PlainCluster(36)
	for sentence, change := range map[string]func(*corev1.Pod){
		"a pod without anything":         func(*corev1.Pod) {},
		"a pod that restricted forbids":  func(p *corev1.Pod) { p.Spec.HostNetwork = true },
		"a class that every cluster has": func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-cluster-critical" },
		"the other one of these":         func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-node-critical" },
	} {
		p := predict(t, plain, with(main("/ cpu=1 memory=1Gi"), change))
		if p.Verdict != podspec.Admit || len(p.Caveats) > 0 {
			t.Errorf("%s: %s, %v, %v", sentence, p.Verdict, p.Findings, p.Caveats)
		}
	}
	for name, want := range map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000} {
		p := predict(t, plain, with(main("/ cpu=1"), func(p *corev1.Pod) { p.Spec.PriorityClassName = name }))
		if got := p.Effective.Spec.Priority; got == nil || *got != want {
			t.Errorf("a pod of class %s has priority %v, want %d", name, got, want)
		}
	}
	if plain.ServerMinor != podspec.Known(36) {
		t.Errorf("server %v", plain.ServerMinor)
	}
	text, err := json.Marshal(plain)
	if want := reflect.TypeFor[podspec.Snapshot]().NumField() - 1; err != nil || strings.Count(string(text), `"known":true`) != want {
		t.Errorf("want %d parts that are known, all but the time: %s, %v", want, text, err)
	}
}

func TestAPlainClusterIsChangedInOnePlace(t *testing.T) {
	plain := podspec.PlainCluster(37)
	plain.ResourceQuotas = podspec.Known([]corev1.ResourceQuota{quota("team", "pods=1", "pods=1")})
	plain.PriorityClasses.Value[0].Value = 1
	if got := answer(predict(t, plain, main("/ cpu=1"))); got != string(podspec.CategoryQuotaExceeded) {
		t.Errorf("with a quota that is used up: %s", got)
	}
	if other := podspec.PlainCluster(37); answer(predict(t, other, main("/ cpu=1"))) != string(podspec.Admit) || other.PriorityClasses.Value[0].Value == 1 {
		t.Error("another one was changed with it")
	}
	p := predict(t, plain, with(main("/ cpu=1"), func(p *corev1.Pod) { p.Spec.PriorityClassName = "gold" }))
	if answer(p) != string(podspec.CategoryPriorityClass) {
		t.Errorf("a class of which nothing is known: %s", answer(p))
	}
}

func TestQuotaUse(t *testing.T) {
	q := quota("q", "requests.cpu=4 limits.memory=1Gi pods=9 services=1", "requests.cpu=3500m")
	other := scoped(quota("other", "pods=1", ""), corev1.ResourceQuotaScopeBestEffort)
	p := predict(t, world(q, other), main("/ cpu=1 memory=2Gi"))
	use := p.Quotas[0]
	if diff := cmp.Diff(map[string]string{"requests.cpu": "1", "limits.memory": "2Gi", "pods": "1"}, texts(use.Delta)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"requests.cpu": "500m", "limits.memory": "1Gi", "pods": "9"}, texts(use.Headroom)); diff != "" {
		t.Error(diff)
	}
	if !use.Matches || !use.Synced || use.Fits || use.CanEverFit {
		t.Errorf("use %+v", use)
	}
	var retries []podspec.Retry
	for _, finding := range p.Refusals() {
		retries = append(retries, finding.Retry)
	}
	if diff := cmp.Diff([]podspec.Retry{podspec.RetryNever, podspec.RetryWhenUsageDrops}, retries); diff != "" {
		t.Errorf("memory never fits, cpu does when usage drops: %s", diff)
	}
	if p.Quotas[1].Matches || !p.Quotas[1].Fits || p.Quotas[1].Delta != nil {
		t.Errorf("a quota of another scope: %+v", p.Quotas[1])
	}
}

func TestClusterQuotas(t *testing.T) {
	s := world()
	s.OpenShift.Value = podspec.OpenShift{Present: true, ClusterQuotas: []corev1.ResourceQuota{quota("all", "limits.cpu=1", "")}}
	p := predict(t, s, main("/ cpu=2"))
	if answer(p) != "QuotaExceeded" || p.Refusals()[0].Object != "ClusterResourceQuota all" || !p.Quotas[0].Cluster || len(p.Caveats) != 1 {
		t.Errorf("got %v: %v, caveats %v", answer(p), p.Refusals(), p.Caveats)
	}
}

func TestRuntimeClassScheduling(t *testing.T) {
	class := kataClass("")
	class.Scheduling = &nodev1.Scheduling{NodeSelector: map[string]string{"kata": "yes"}, Tolerations: []corev1.Toleration{{Key: "kata", Operator: corev1.TolerationOpExists}}}
	p := with(main(whole), func(p *corev1.Pod) { name := "kata"; p.Spec.RuntimeClassName = &name })
	got := predict(t, world(class), p)
	if answer(got) != "Admit" || got.Effective.Spec.NodeSelector["kata"] != "yes" || len(got.Effective.Spec.Tolerations) != 1 {
		t.Errorf("got %v: %v", answer(got), got.Effective.Spec)
	}
	p.Spec.NodeSelector = map[string]string{"kata": "no"}
	p.Spec.Tolerations = class.Scheduling.Tolerations
	if got := predict(t, world(class), p); answer(got) != "RuntimeClass" {
		t.Errorf("a node selector that contradicts: %v", answer(got))
	}
	p.Spec.NodeSelector["kata"] = "yes"
	if got := predict(t, world(class), p); answer(got) != "Admit" || len(got.Effective.Spec.Tolerations) != 1 {
		t.Errorf("the same: %v", answer(got))
	}
}

func TestPreemptionPolicyOfAClass(t *testing.T) {
	never, lower := corev1.PreemptNever, corev1.PreemptLowerPriority
	class := priorityClass("high", true)
	class.PreemptionPolicy = &never
	second := priorityClass("higher", true)
	second.Value = 9
	p := with(main(whole), func(p *corev1.Pod) { p.Spec.PreemptionPolicy = &lower })
	if got := predict(t, world(second, class), p); answer(got) != "PriorityClass" {
		t.Errorf("got %v", answer(got))
	}
	p.Spec.PreemptionPolicy = nil
	if got := predict(t, world(second, class), p); answer(got) != "Admit" || *got.Effective.Spec.PreemptionPolicy != never || got.Effective.Spec.PriorityClassName != "high" {
		t.Errorf("got %v, %v", answer(got), got.Effective.Spec.PreemptionPolicy)
	}
}

func TestUnknownParts(t *testing.T) {
	named := with(main(whole), func(p *corev1.Pod) { p.Spec.PriorityClassName = "high" })
	kata := with(main(whole), func(p *corev1.Pod) { name := "kata"; p.Spec.RuntimeClassName = &name })
	byPriority := scoped(quota("q", "pods=9", ""), corev1.ResourceQuotaScopePriorityClass)
	bySelector := quota("q", "pods=9", "")
	bySelector.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpExists}}}
	noClasses := func(s podspec.Snapshot) podspec.Snapshot {
		s.PriorityClasses = podspec.Unknown[[]schedulingv1.PriorityClass]("forbidden")
		return s
	}
	tests := map[string]struct {
		change func(s *podspec.Snapshot)
		world  podspec.Snapshot
		pod    *corev1.Pod
		want   string
	}{
		"quotas":                        {func(s *podspec.Snapshot) { s.ResourceQuotas = podspec.Unknown[[]corev1.ResourceQuota]("forbidden") }, world(), main(whole), "Unknown"},
		"quotas, but the pod is bad":    {func(s *podspec.Snapshot) { s.ResourceQuotas = podspec.Unknown[[]corev1.ResourceQuota]("forbidden") }, world(), main("cpu=2 / cpu=1"), "Invalid"},
		"LimitRanges":                   {func(s *podspec.Snapshot) { s.LimitRanges = podspec.Unknown[[]corev1.LimitRange]("forbidden") }, world(), main(whole), "Unknown"},
		"LimitRanges hide quotas":       {func(s *podspec.Snapshot) { s.LimitRanges = podspec.Unknown[[]corev1.LimitRange]("forbidden") }, world(quota("q", fourKeys, "")), main(""), "Unknown"},
		"namespace":                     {func(s *podspec.Snapshot) { s.Namespace = podspec.Unknown[corev1.Namespace]("forbidden") }, world(), main(whole), "Unknown"},
		"namespace, and a quota":        {func(s *podspec.Snapshot) { s.Namespace = podspec.Unknown[corev1.Namespace]("forbidden") }, world(quota("q", "pods=0", "")), main(whole), "QuotaExceeded"},
		"priority classes, one named":   {nil, noClasses(world()), named, "Unknown"},
		"priority classes, none named":  {nil, noClasses(world()), main(whole), "Admit"},
		"priority classes and a scope":  {nil, noClasses(world(byPriority)), main(whole), "Unknown"},
		"priority classes and selector": {nil, noClasses(world(bySelector)), main(whole), "Unknown"},
		"runtime classes":               {func(s *podspec.Snapshot) { s.RuntimeClasses = podspec.Unknown[[]nodev1.RuntimeClass]("forbidden") }, world(), kata, "Unknown"},
		"the version":                   {func(s *podspec.Snapshot) { s.ServerMinor = podspec.Unknown[int]("forbidden") }, world(), main(whole), "Admit"},
		"everything":                    {func(s *podspec.Snapshot) { *s = podspec.Snapshot{} }, world(), main(whole), "Unknown"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.change != nil {
				test.change(&test.world)
			}
			if p := predict(t, test.world, test.pod); answer(p) != test.want {
				t.Errorf("got %v, want %v: %v", answer(p), test.want, p.Findings)
			}
		})
	}
}

func TestCaveats(t *testing.T) {
	if p := predict(t, world(), main(whole)); p.Caveats != nil {
		t.Errorf("a world without doubt has caveats: %v", p.Caveats)
	}
	if p := predict(t, podspec.Snapshot{}, main(whole)); len(p.Caveats) != 4 {
		t.Errorf("nothing is known, and the caveats are %v", p.Caveats)
	}
	s := world(99)
	s.Webhooks.Value = []string{"inject.example"}
	if p := predict(t, s, main(whole)); len(p.Caveats) != 2 || !strings.Contains(p.Caveats[1], "inject.example") {
		t.Errorf("caveats %v", p.Caveats)
	}
}

func TestWarnLevelIsAWarning(t *testing.T) {
	p := predict(t, world(labelled("enforce", "privileged", "warn", "restricted")), main(whole))
	if answer(p) != "Admit" || len(p.Findings) != 4 || p.Findings[0].Severity != podspec.Warns {
		t.Errorf("got %v: %v", answer(p), p.Findings)
	}
}

func TestPodLevelValidation(t *testing.T) {
	tests := map[string]struct{ level, main, want string }{
		"the pod level covers the containers": {"cpu=2 / cpu=2", whole, "Admit"},
		"requests below the sum":              {"cpu=500m / cpu=2", whole, "Invalid"},
		"a limit below a container's":         {"/ cpu=1", "/ cpu=2", "Invalid"},
		"hugepages below the sum":             {"cpu=1 hugepages-2Mi=2Mi / cpu=1 hugepages-2Mi=2Mi", "/ cpu=1 hugepages-2Mi=4Mi", "Invalid"},
		"hugepages from the containers":       {"cpu=1 / cpu=1", "/ cpu=1 hugepages-2Mi=4Mi", "Admit"},
		"a request above its limit":           {"cpu=2 / cpu=1", "", "Invalid"},
		"storage at pod level":                {"/ ephemeral-storage=1Gi", "", "Invalid"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			level := resources(test.level)
			p := with(main(test.main), func(p *corev1.Pod) { p.Spec.Resources = &level })
			if got := predict(t, world(), p); answer(got) != test.want {
				t.Errorf("got %v, want %v: %v", answer(got), test.want, refusals(got))
			}
		})
	}
	windows := with(main(whole), func(p *corev1.Pod) {
		p.Spec.Resources = &corev1.ResourceRequirements{}
		p.Spec.OS = &corev1.PodOS{Name: corev1.Windows}
	})
	if got := predict(t, world(), windows); answer(got) != "Invalid" {
		t.Errorf("Windows: %v", answer(got))
	}
	claims := with(main(whole), func(p *corev1.Pod) {
		p.Spec.Resources = &corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "x"}}}
	})
	if got := predict(t, world(), claims); answer(got) != "Invalid" {
		t.Errorf("claims: %v", answer(got))
	}
}

func TestPredictOnNil(t *testing.T) {
	if _, err := podspec.Predict(podspec.Snapshot{}, nil); !errors.Is(err, podspec.ErrOption) {
		t.Errorf("got %v", err)
	}
	if p := predict(t, podspec.Snapshot{}, &corev1.Pod{}, nil); p.QOS != corev1.PodQOSBestEffort {
		t.Errorf("a pod without containers: %v", p.QOS)
	}
}

// TestWorldReplaysFromJSON: a snapshot and a pod that went through JSON give the same prediction, so that failing worlds
// can be kept as files.
func TestWorldReplaysFromJSON(t *testing.T) {
	s := world(limitRange("a", corev1.LimitTypeContainer, "default cpu=1; max memory=1Gi"), limitRange("b", corev1.LimitTypeContainer, "default cpu=3"), quota("q", fourKeys, "limits.cpu=2"), priorityClass("p", true), kataClass("cpu=1"), labelled("enforce", "baseline"), 36)
	p := pod(container("main", "cpu=1 /"), sidecar("s", ""))
	text, err := json.Marshal(map[string]any{"snapshot": s, "pod": p})
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Snapshot podspec.Snapshot
		Pod      *corev1.Pod
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	one, err := json.Marshal(predict(t, s, p))
	if err != nil {
		t.Fatal(err)
	}
	two, err := json.Marshal(predict(t, back.Snapshot, back.Pod))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(one), string(two)); diff != "" {
		t.Error(diff)
	}
	empty, err := json.Marshal(podspec.Snapshot{})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(empty, &back.Snapshot); err != nil || back.Snapshot.LimitRanges.Known {
		t.Errorf("unknown parts do not survive JSON: %v, %s", err, empty)
	}
}
