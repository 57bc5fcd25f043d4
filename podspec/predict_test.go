package podspec_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// TestEffectiveUsage is the law of what a pod uses.
func TestEffectiveUsage(t *testing.T) {
	level := func(text string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { r := resources(nil, text); p.Spec.Resources = &r }
	}
	overhead := func(text string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Overhead = amounts(text) }
	}
	tests := map[string]struct {
		pod    *corev1.Pod
		change func(*corev1.Pod)
		want   string
	}{
		"containers add up":                           {pod(container(t, "a", "cpu=1 / cpu=2"), container(t, "b", "cpu=1 / cpu=1")), nil, "cpu=2 / cpu=3"},
		"a plain init container is not added":         {pod(container(t, "a", "cpu=2 / cpu=2"), container(t, "init", "cpu=3 / cpu=3")), nil, "cpu=3 / cpu=3"},
		"a small init container costs nothing":        {pod(container(t, "a", "cpu=2 / cpu=2"), container(t, "init", "cpu=1 / cpu=1")), nil, "cpu=2 / cpu=2"},
		"init containers run one at a time":           {pod(container(t, "a", "cpu=1 / cpu=1"), container(t, "init-1", "cpu=2 / cpu=2"), container(t, "init-2", "cpu=2 / cpu=2")), nil, "cpu=2 / cpu=2"},
		"sidecars add up":                             {pod(container(t, "a", "cpu=2 / cpu=2"), sidecar(t, "s", "cpu=3 / cpu=3")), nil, "cpu=5 / cpu=5"},
		"a sidecar runs beside later init containers": {pod(container(t, "a", "cpu=1 / cpu=1"), sidecar(t, "s", "cpu=2 / cpu=2"), container(t, "init", "cpu=4 / cpu=4")), nil, "cpu=6 / cpu=6"},
		"not beside earlier ones":                     {pod(container(t, "a", "cpu=1 / cpu=1"), container(t, "init", "cpu=4 / cpu=4"), sidecar(t, "s", "cpu=2 / cpu=2")), nil, "cpu=4 / cpu=4"},
		"the pod level replaces sums":                 {pod(container(t, "a", "cpu=1 memory=1Gi / cpu=1 memory=1Gi")), level("cpu=3 / cpu=4"), "cpu=3 memory=1Gi / cpu=4 memory=1Gi"},
		"overhead comes on top":                       {pod(container(t, "a", "cpu=1 / cpu=1")), overhead("cpu=250m memory=64Mi"), "cpu=1250m memory=64Mi / cpu=1250m"},
		"a limit of zero gets no overhead":            {pod(container(t, "a", "cpu=0 / cpu=0")), overhead("cpu=250m"), "cpu=250m / cpu=0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.change != nil {
				test.change(test.pod)
			}
			got := shown(corev1.ResourceRequirements{Requests: podspec.PodRequests(test.pod), Limits: podspec.PodLimits(test.pod)})
			if got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// TestPredictKillsMutants has a case for each way in which predictors were seen to go wrong: every one of these changes to
// the code gives another answer here.
func TestPredictKillsMutants(t *testing.T) {
	kata := func(p *corev1.Pod) { name := "kata"; p.Spec.RuntimeClassName = &name }
	deadline := func(p *corev1.Pod) { seconds := int64(30); p.Spec.ActiveDeadlineSeconds = &seconds }
	high := func(p *corev1.Pod) { p.Spec.PriorityClassName = "high" }
	away := func(p *corev1.Pod) {
		term := corev1.PodAffinityTerm{TopologyKey: "zone", NamespaceSelector: &metav1.LabelSelector{}}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}}}}
	}
	full := func(scopes ...corev1.ResourceQuotaScope) corev1.ResourceQuota {
		return scoped(quota("full", "pods=0", ""), scopes...)
	}
	pickedBy := func(operator corev1.ScopeSelectorOperator, values ...string) corev1.ResourceQuota {
		q := quota("full", "pods=0", "")
		q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: operator, Values: values}}}
		return q
	}
	priority := func(value int32) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.Priority = &value } }
	overhead := runtimeClass("kata", "cpu=250m")
	tests := map[string]struct {
		world podspec.Snapshot
		pod   *corev1.Pod
		want  string
	}{
		"LimitRange before limits become requests": {world(limitRange("lr", corev1.LimitTypeContainer, "defaultRequest cpu=100m"), quota("q", "requests.cpu=500m", "")), main(t, "/ cpu=1"), "QuotaExceeded"},
		"no rounding up":                          {world(quota("q", "requests.cpu=1m", "")), pod(container(t, "a", "cpu=0.0001 / cpu=1"), container(t, "b", "cpu=0.0001 / cpu=1")), "QuotaExceeded"},
		"presence on containers only":             {world(quota("q", "limits.cpu=4", "")), pod(container(t, "a", "/ cpu=1"), container(t, "init", "")), "QuotaMissing"},
		"init containers ignored":                 {world(quota("q", "limits.cpu=2", "")), pod(container(t, "a", "/ cpu=1"), container(t, "init", "/ cpu=3")), "QuotaExceeded"},
		"init containers summed":                  {world(quota("q", "limits.cpu=3", "")), pod(container(t, "a", "/ cpu=1"), container(t, "init", "/ cpu=3")), "Admit"},
		"sidecars taken for init containers":      {world(quota("q", "limits.cpu=3", "")), pod(container(t, "a", "/ cpu=1"), sidecar(t, "s", "/ cpu=3")), "QuotaExceeded"},
		"overhead not charged":                    {world(quota("q", "limits.cpu=1", ""), overhead), with(main(t, "/ cpu=1"), kata), "QuotaExceeded"},
		"overhead held against LimitRanges":       {world(limitRange("lr", corev1.LimitTypePod, "max cpu=1"), overhead), with(main(t, "/ cpu=1"), kata), "Admit"},
		"pod-level sums held against LimitRanges": {world(limitRange("lr", corev1.LimitTypePod, "max cpu=1")), pod(container(t, "a", "/ cpu=1"), container(t, "b", "/ cpu=1")), "LimitRange"},
		"zero deltas checked":                     {world(quota("q", "requests.memory=1Gi pods=9", "requests.memory=5Gi")), main(t, "memory=0 /"), "Admit"},
		"other keys of a full quota checked":      {world(quota("q", "requests.nvidia.com/gpu=1", "requests.nvidia.com/gpu=5")), main(t, whole), "Admit"},
		"used not counted":                        {world(quota("q", "limits.cpu=2", "limits.cpu=1500m")), main(t, "/ cpu=1"), "QuotaExceeded"},
		"one millicore under the hard limit":      {world(quota("q", "limits.cpu=1", "")), main(t, "/ cpu=1001m"), "QuotaExceeded"},
		"exactly the hard limit":                  {world(quota("q", "limits.cpu=1", "")), main(t, "/ cpu=1"), "Admit"},
		"scopes ignored":                          {world(full(corev1.ResourceQuotaScopeTerminating)), main(t, whole), "Admit"},
		"scope Terminating":                       {world(full(corev1.ResourceQuotaScopeTerminating)), with(main(t, whole), deadline), "QuotaExceeded"},
		"scope NotTerminating":                    {world(full(corev1.ResourceQuotaScopeNotTerminating)), with(main(t, whole), deadline), "Admit"},
		"scope NotTerminating, without deadline":  {world(full(corev1.ResourceQuotaScopeNotTerminating)), main(t, whole), "QuotaExceeded"},
		"scope BestEffort":                        {world(full(corev1.ResourceQuotaScopeBestEffort)), main(t, whole), "Admit"},
		"scope NotBestEffort":                     {world(full(corev1.ResourceQuotaScopeNotBestEffort)), main(t, whole), "QuotaExceeded"},
		"scope NotBestEffort, best effort":        {world(full(corev1.ResourceQuotaScopeNotBestEffort)), main(t, ""), "Admit"},
		"scope PriorityClass, none":               {world(full(corev1.ResourceQuotaScopePriorityClass), priorityClass("high", false)), main(t, whole), "Admit"},
		"scope PriorityClass, some":               {world(full(corev1.ResourceQuotaScopePriorityClass), priorityClass("high", false)), with(main(t, whole), high), "QuotaExceeded"},
		"two scopes of which one matches":         {world(full(corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeTerminating)), main(t, whole), "Admit"},
		"selector In":                             {world(pickedBy(corev1.ScopeSelectorOpIn, "high"), priorityClass("high", false)), with(main(t, whole), high), "QuotaExceeded"},
		"selector In, another class":              {world(pickedBy(corev1.ScopeSelectorOpIn, "low"), priorityClass("high", false)), with(main(t, whole), high), "Admit"},
		"selector NotIn, no class":                {world(pickedBy(corev1.ScopeSelectorOpNotIn, "low")), main(t, whole), "QuotaExceeded"},
		"selector Exists":                         {world(pickedBy(corev1.ScopeSelectorOpExists), priorityClass("high", false)), with(main(t, whole), high), "QuotaExceeded"},
		"selector DoesNotExist":                   {world(pickedBy(corev1.ScopeSelectorOpDoesNotExist), priorityClass("high", false)), with(main(t, whole), high), "Admit"},
		"a selector that cannot be read":          {world(pickedBy("Nonsense")), main(t, whole), "Other"},
		"an unknown scope":                        {world(full("Someday")), main(t, whole), "Admit"},
		"scope of affinity across namespaces":     {world(full(corev1.ResourceQuotaScopeCrossNamespacePodAffinity)), with(main(t, whole), away), "QuotaExceeded"},
		"no affinity across namespaces":           {world(full(corev1.ResourceQuotaScopeCrossNamespacePodAffinity)), main(t, whole), "Admit"},
		"a priority class that does not exist":    {world(), with(main(t, whole), high), "PriorityClass"},
		"a priority that is not the class's":      {world(priorityClass("high", true)), with(main(t, whole), priority(8)), "PriorityClass"},
		"the priority of the class":               {world(priorityClass("high", true)), with(main(t, whole), priority(7)), "Admit"},
		"a runtime class that does not exist":     {world(), with(main(t, whole), kata), "RuntimeClass"},
		"overhead without a class":                {world(), with(main(t, whole), func(p *corev1.Pod) { p.Spec.Overhead = amounts("cpu=1") }), "RuntimeClass"},
		"overhead that is not the class's":        {world(overhead), with(with(main(t, whole), kata), func(p *corev1.Pod) { p.Spec.Overhead = amounts("cpu=1") }), "RuntimeClass"},
		"overhead that is the class's":            {world(overhead), with(with(main(t, whole), kata), func(p *corev1.Pod) { p.Spec.Overhead = amounts("cpu=0.25") }), "Admit"},
		"hugepages of a part of a page":           {world(), main(t, "/ cpu=1 hugepages-2Mi=3Mi"), "Invalid"},
		"hugepages alone":                         {world(), main(t, "/ hugepages-2Mi=2Mi"), "Invalid"},
		"hugepages with cpu":                      {world(), main(t, "/ cpu=1 hugepages-2Mi=2Mi"), "Admit"},
		"a negative amount":                       {world(), main(t, "cpu=-1 /"), "Invalid"},
		"a request above its limit":               {world(), main(t, "cpu=2 / cpu=1"), "Invalid"},
		"a LimitRange's minimum":                  {world(limitRange("lr", corev1.LimitTypeContainer, "min memory=64Mi")), main(t, "memory=32Mi / memory=1Gi"), "LimitRange"},
		"a minimum that only the limit misses":    {world(limitRange("lr", corev1.LimitTypePod, "min memory=64Mi")), main(t, "memory=32Mi / memory=32Mi"), "LimitRange"},
		"a minimum without a request":             {world(limitRange("lr", corev1.LimitTypePod, "min memory=64Mi")), main(t, ""), "LimitRange"},
		"a maximum without a limit":               {world(limitRange("lr", corev1.LimitTypePod, "max memory=64Mi")), main(t, "memory=1Mi /"), "LimitRange"},
		"a maximum of an init container":          {world(limitRange("lr", corev1.LimitTypeContainer, "max cpu=1")), pod(container(t, "a", "/ cpu=1"), container(t, "init", "/ cpu=2")), "LimitRange"},
		"a LimitRange for claims":                 {world(limitRange("lr", corev1.LimitTypePersistentVolumeClaim, "max storage=1")), main(t, ""), "Admit"},
		"amounts too large for thousandths":       {world(limitRange("lr", corev1.LimitTypeContainer, "max memory=5Ei; ratio memory=1")), main(t, "/ memory=4Ei"), "Admit"},
		"a namespace that is being deleted":       {world(corev1.Namespace{Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}}), main(t, whole), "NamespaceTerminating"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := test.pod.DeepCopy()
			p := predict(t, test.world, test.pod)
			if answer(p) != test.want {
				t.Errorf("got %v, want %v: %v", answer(p), test.want, p.Findings)
			}
			if diff := cmp.Diff(before, test.pod); diff != "" {
				t.Errorf("the pod changed: %s", diff)
			}
			for _, finding := range p.Findings {
				if finding.Message == "" || finding.Severity == "" || strings.Contains(finding.String(), "%!") {
					t.Errorf("finding %+v", finding)
				}
			}
		})
	}
}

// TestSeedEvidence are the answers that a real server gave to row B4: both profiles fit, one dimension less is refused,
// and it is the one that is named.
func TestSeedEvidence(t *testing.T) {
	q := quota("team", fourKeys, "")
	tests := map[string]struct {
		amounts string
		want    string
		missing []corev1.ResourceName
	}{
		"unsized":        {"", "QuotaMissing", []corev1.ResourceName{"limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}},
		"without memory": {"cpu=1 / cpu=1", "QuotaMissing", []corev1.ResourceName{"limits.memory", "requests.memory"}},
		"without cpu":    {"memory=512Mi / memory=512Mi", "QuotaMissing", []corev1.ResourceName{"limits.cpu", "requests.cpu"}},
		"sized":          {"cpu=1 memory=512Mi / cpu=1 memory=512Mi", "Admit", nil},
		"sized smaller":  {"cpu=250m memory=256Mi / cpu=250m memory=256Mi", "Admit", nil},
		"limits only":    {"/ cpu=100m memory=64Mi", "Admit", nil},
		"requests only":  {"cpu=1 memory=512Mi /", "QuotaMissing", []corev1.ResourceName{"limits.cpu", "limits.memory"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := predict(t, world(q), main(t, test.amounts))
			var missing []corev1.ResourceName
			for _, finding := range p.Refusals() {
				missing = append(missing, finding.Resource)
			}
			if diff := cmp.Diff(test.missing, missing); diff != "" || answer(p) != test.want {
				t.Errorf("got %v: %s", answer(p), diff)
			}
		})
	}
}

func TestR1UnsizedPodInAQuotaNamespace(t *testing.T) {
	q := quota("team", fourKeys, "")
	p := predict(t, world(q), main(t, ""))
	if len(p.Refusals()) != 4 || p.Refusals()[0].Container != "main" || p.Refusals()[0].Object != "ResourceQuota team" {
		t.Errorf("got %v", p.Refusals())
	}
	sized, _, err := podspec.Apply(main(t, ""), podspec.Plan{Size: podspec.MustSize(podspec.Cores(1), podspec.MiB(512))})
	if err != nil {
		t.Fatal(err)
	}
	if p := predict(t, world(q), sized); answer(p) != "Admit" || p.QOS != corev1.PodQOSGuaranteed {
		t.Errorf("sized: %v, %v", answer(p), p.QOS)
	}
}

func TestR2UnsizedInitContainerIsNamed(t *testing.T) {
	p := predict(t, world(quota("team", fourKeys, "")), pod(container(t, "main", whole), container(t, "init", "")))
	if answer(p) != "QuotaMissing" || p.Refusals()[0].Container != "init" {
		t.Errorf("got %v: %v", answer(p), refusals(p))
	}
}

func TestR3InitContainerThatCopiesCostsNothing(t *testing.T) {
	p := pod(container(t, "main", "/ cpu=1"), container(t, "init", "/ cpu=1"))
	if got := podspec.PodLimits(p)["cpu"]; got.String() != "1" {
		t.Errorf("got %v", got.String())
	}
}

func TestR4OneMissingLimitIsNamed(t *testing.T) {
	p := predict(t, world(quota("q", "limits.cpu=4 limits.memory=4Gi", "")), main(t, "/ memory=1Gi"))
	if len(p.Refusals()) != 1 || p.Refusals()[0].Resource != "limits.cpu" {
		t.Errorf("got %v", p.Refusals())
	}
}

func TestR11DefaultLimitBelowTheRequest(t *testing.T) {
	TestFact09DefaultLimitBelowTheRequestIsInvalid(t)
}

func TestR13SidecarsAddAndInitContainersDoNot(t *testing.T) {
	sum := podspec.PodLimits(pod(container(t, "main", "/ cpu=2"), sidecar(t, "s", "/ cpu=3")))["cpu"]
	most := podspec.PodLimits(pod(container(t, "main", "/ cpu=2"), container(t, "init", "/ cpu=3")))["cpu"]
	if sum.String() != "5" || most.String() != "3" {
		t.Errorf("sidecar %v, init %v", sum.String(), most.String())
	}
}

func TestR14AndR15MaskingIsSaid(t *testing.T) {
	s := world(limitRange("lr", corev1.LimitTypeContainer, "default memory=64Mi cpu=1"), quota("q", fourKeys, ""))
	p := predict(t, s, pod(container(t, "main", "cpu=1 / cpu=1"), container(t, "init", whole)))
	if answer(p) != "Admit" {
		t.Fatalf("got %v: %v", answer(p), refusals(p))
	}
	want := []podspec.Masking{
		{LimitRange: "lr", Container: "main", Field: "limits", Resource: "memory", Value: resource.MustParse("64Mi")},
		{LimitRange: "lr", Container: "main", Field: "requests", Resource: "memory", Value: resource.MustParse("64Mi")},
	}
	if diff := cmp.Diff(want, p.Masked); diff != "" {
		t.Error(diff)
	}
	if len(p.Findings) != 2 || p.Findings[0].Severity != podspec.Warns || p.Findings[0].Message != "container main declares no limits.memory and gets 64Mi from LimitRange lr" {
		t.Errorf("findings %v", p.Findings)
	}
	strict := predict(t, s, pod(container(t, "main", "cpu=1 / cpu=1")), podspec.StrictSizing())
	if answer(strict) != "LimitRange" || len(strict.Refusals()) != 2 {
		t.Errorf("strict: %v", answer(strict))
	}
	if complete := predict(t, s, main(t, whole), podspec.StrictSizing()); answer(complete) != "Admit" {
		t.Errorf("strict, complete: %v", answer(complete))
	}
}

func TestR18EmptyStatusIsSaid(t *testing.T) { TestFact01QuotaIsEnforcedFromStatus(t) }

func TestR19StatusUnknownIsTransient(t *testing.T) { TestFact02UncountedUsageIsRefusedForAWhile(t) }

func TestQuotaUse(t *testing.T) {
	q := quota("q", "requests.cpu=4 limits.memory=1Gi pods=9 services=1", "requests.cpu=3500m")
	other := scoped(quota("other", "pods=1", ""), corev1.ResourceQuotaScopeBestEffort)
	p := predict(t, world(q, other), main(t, "/ cpu=1 memory=2Gi"))
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
	p := predict(t, s, main(t, "/ cpu=2"))
	if answer(p) != "QuotaExceeded" || p.Refusals()[0].Object != "ClusterResourceQuota all" || !p.Quotas[0].Cluster || len(p.Caveats) != 1 {
		t.Errorf("got %v: %v, caveats %v", answer(p), p.Refusals(), p.Caveats)
	}
}

func TestRuntimeClassScheduling(t *testing.T) {
	class := runtimeClass("kata", "")
	class.Scheduling = &nodev1.Scheduling{NodeSelector: map[string]string{"kata": "yes"}, Tolerations: []corev1.Toleration{{Key: "kata", Operator: corev1.TolerationOpExists}}}
	p := with(main(t, whole), func(p *corev1.Pod) { name := "kata"; p.Spec.RuntimeClassName = &name })
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
	p := with(main(t, whole), func(p *corev1.Pod) { p.Spec.PreemptionPolicy = &lower })
	if got := predict(t, world(second, class), p); answer(got) != "PriorityClass" {
		t.Errorf("got %v", answer(got))
	}
	p.Spec.PreemptionPolicy = nil
	if got := predict(t, world(second, class), p); answer(got) != "Admit" || *got.Effective.Spec.PreemptionPolicy != never || got.Effective.Spec.PriorityClassName != "high" {
		t.Errorf("got %v, %v", answer(got), got.Effective.Spec.PreemptionPolicy)
	}
}

func TestUnknownParts(t *testing.T) {
	named := with(main(t, whole), func(p *corev1.Pod) { p.Spec.PriorityClassName = "high" })
	kata := with(main(t, whole), func(p *corev1.Pod) { name := "kata"; p.Spec.RuntimeClassName = &name })
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
		"quotas":                        {func(s *podspec.Snapshot) { s.ResourceQuotas = podspec.Unknown[[]corev1.ResourceQuota]("forbidden") }, world(), main(t, whole), "Unknown"},
		"quotas, but the pod is bad":    {func(s *podspec.Snapshot) { s.ResourceQuotas = podspec.Unknown[[]corev1.ResourceQuota]("forbidden") }, world(), main(t, "cpu=2 / cpu=1"), "Invalid"},
		"LimitRanges":                   {func(s *podspec.Snapshot) { s.LimitRanges = podspec.Unknown[[]corev1.LimitRange]("forbidden") }, world(), main(t, whole), "Unknown"},
		"LimitRanges hide quotas":       {func(s *podspec.Snapshot) { s.LimitRanges = podspec.Unknown[[]corev1.LimitRange]("forbidden") }, world(quota("q", fourKeys, "")), main(t, ""), "Unknown"},
		"namespace":                     {func(s *podspec.Snapshot) { s.Namespace = podspec.Unknown[corev1.Namespace]("forbidden") }, world(), main(t, whole), "Unknown"},
		"namespace, and a quota":        {func(s *podspec.Snapshot) { s.Namespace = podspec.Unknown[corev1.Namespace]("forbidden") }, world(quota("q", "pods=0", "")), main(t, whole), "QuotaExceeded"},
		"priority classes, one named":   {nil, noClasses(world()), named, "Unknown"},
		"priority classes, none named":  {nil, noClasses(world()), main(t, whole), "Admit"},
		"priority classes and a scope":  {nil, noClasses(world(byPriority)), main(t, whole), "Unknown"},
		"priority classes and selector": {nil, noClasses(world(bySelector)), main(t, whole), "Unknown"},
		"runtime classes":               {func(s *podspec.Snapshot) { s.RuntimeClasses = podspec.Unknown[[]nodev1.RuntimeClass]("forbidden") }, world(), kata, "Unknown"},
		"the version":                   {func(s *podspec.Snapshot) { s.ServerMinor = podspec.Unknown[int]("forbidden") }, world(), main(t, whole), "Admit"},
		"everything":                    {func(s *podspec.Snapshot) { *s = podspec.Snapshot{} }, world(), main(t, whole), "Unknown"},
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
	if p := predict(t, world(), main(t, whole)); p.Caveats != nil {
		t.Errorf("a world without doubt has caveats: %v", p.Caveats)
	}
	if p := predict(t, podspec.Snapshot{}, main(t, whole)); len(p.Caveats) != 4 {
		t.Errorf("nothing is known, and the caveats are %v", p.Caveats)
	}
	s := world(99)
	s.Webhooks.Value = []string{"inject.example"}
	if p := predict(t, s, main(t, whole)); len(p.Caveats) != 2 || !strings.Contains(p.Caveats[1], "inject.example") {
		t.Errorf("caveats %v", p.Caveats)
	}
}

func TestWarnLevelIsAWarning(t *testing.T) {
	p := predict(t, world(labelled("enforce", "privileged", "warn", "restricted")), main(t, whole))
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
			level := resources(t, test.level)
			p := with(main(t, test.main), func(p *corev1.Pod) { p.Spec.Resources = &level })
			if got := predict(t, world(), p); answer(got) != test.want {
				t.Errorf("got %v, want %v: %v", answer(got), test.want, refusals(got))
			}
		})
	}
	windows := with(main(t, whole), func(p *corev1.Pod) {
		p.Spec.Resources = &corev1.ResourceRequirements{}
		p.Spec.OS = &corev1.PodOS{Name: corev1.Windows}
	})
	if got := predict(t, world(), windows); answer(got) != "Invalid" {
		t.Errorf("Windows: %v", answer(got))
	}
	claims := with(main(t, whole), func(p *corev1.Pod) {
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
	s := world(limitRange("a", corev1.LimitTypeContainer, "default cpu=1; max memory=1Gi"), limitRange("b", corev1.LimitTypeContainer, "default cpu=3"), quota("q", fourKeys, "limits.cpu=2"), priorityClass("p", true), runtimeClass("kata", "cpu=1"), labelled("enforce", "baseline"), 36)
	p := pod(container(t, "main", "cpu=1 /"), sidecar(t, "s", ""))
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
