package podspec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// TestEffectiveUsage is the law of what a pod uses.
func TestEffectiveUsage(t *testing.T) {
	level := func(text string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { r := resources(text); p.Spec.Resources = &r }
	}
	overhead := func(text string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Overhead = amounts(text) }
	}
	tests := map[string]struct {
		pod    *corev1.Pod
		change func(*corev1.Pod)
		want   string
	}{
		"containers add up":                           {pod(container("a", "cpu=1 / cpu=2"), container("b", "cpu=1 / cpu=1")), nil, "cpu=2 / cpu=3"},
		"a plain init container is not added":         {pod(container("a", "cpu=2 / cpu=2"), container("init", "cpu=3 / cpu=3")), nil, "cpu=3 / cpu=3"},
		"a small init container costs nothing":        {pod(container("a", "cpu=2 / cpu=2"), container("init", "cpu=1 / cpu=1")), nil, "cpu=2 / cpu=2"},
		"init containers run one at a time":           {pod(container("a", "cpu=1 / cpu=1"), container("init-1", "cpu=2 / cpu=2"), container("init-2", "cpu=2 / cpu=2")), nil, "cpu=2 / cpu=2"},
		"sidecars add up":                             {pod(container("a", "cpu=2 / cpu=2"), sidecar("s", "cpu=3 / cpu=3")), nil, "cpu=5 / cpu=5"},
		"a sidecar runs beside later init containers": {pod(container("a", "cpu=1 / cpu=1"), sidecar("s", "cpu=2 / cpu=2"), container("init", "cpu=4 / cpu=4")), nil, "cpu=6 / cpu=6"},
		"not beside earlier ones":                     {pod(container("a", "cpu=1 / cpu=1"), container("init", "cpu=4 / cpu=4"), sidecar("s", "cpu=2 / cpu=2")), nil, "cpu=4 / cpu=4"},
		"the pod level replaces sums":                 {pod(container("a", "cpu=1 memory=1Gi / cpu=1 memory=1Gi")), level("cpu=3 / cpu=4"), "cpu=3 memory=1Gi / cpu=4 memory=1Gi"},
		"overhead comes on top":                       {pod(container("a", "cpu=1 / cpu=1")), overhead("cpu=250m memory=64Mi"), "cpu=1250m memory=64Mi / cpu=1250m"},
		"a limit of zero gets no overhead":            {pod(container("a", "cpu=0 / cpu=0")), overhead("cpu=250m"), "cpu=250m / cpu=0"},
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
	overhead := kataClass("cpu=250m")
	tests := map[string]struct {
		world podspec.Snapshot
		pod   *corev1.Pod
		want  string
	}{
		"LimitRange before limits become requests": {world(limitRange("lr", corev1.LimitTypeContainer, "defaultRequest cpu=100m"), quota("q", "requests.cpu=500m", "")), main("/ cpu=1"), "QuotaExceeded"},
		"no rounding up":                          {world(quota("q", "requests.cpu=1m", "")), pod(container("a", "cpu=0.0001 / cpu=1"), container("b", "cpu=0.0001 / cpu=1")), "QuotaExceeded"},
		"presence on containers only":             {world(quota("q", "limits.cpu=4", "")), pod(container("a", "/ cpu=1"), container("init", "")), "QuotaMissing"},
		"init containers ignored":                 {world(quota("q", "limits.cpu=2", "")), pod(container("a", "/ cpu=1"), container("init", "/ cpu=3")), "QuotaExceeded"},
		"init containers summed":                  {world(quota("q", "limits.cpu=3", "")), pod(container("a", "/ cpu=1"), container("init", "/ cpu=3")), "Admit"},
		"sidecars taken for init containers":      {world(quota("q", "limits.cpu=3", "")), pod(container("a", "/ cpu=1"), sidecar("s", "/ cpu=3")), "QuotaExceeded"},
		"overhead not charged":                    {world(quota("q", "limits.cpu=1", ""), overhead), with(main("/ cpu=1"), kata), "QuotaExceeded"},
		"overhead held against LimitRanges":       {world(limitRange("lr", corev1.LimitTypePod, "max cpu=1"), overhead), with(main("/ cpu=1"), kata), "Admit"},
		"pod-level sums held against LimitRanges": {world(limitRange("lr", corev1.LimitTypePod, "max cpu=1")), pod(container("a", "/ cpu=1"), container("b", "/ cpu=1")), "LimitRange"},
		"zero deltas checked":                     {world(quota("q", "requests.memory=1Gi pods=9", "requests.memory=5Gi")), main("memory=0 /"), "Admit"},
		"other keys of a full quota checked":      {world(quota("q", "requests.nvidia.com/gpu=1", "requests.nvidia.com/gpu=5")), main(whole), "Admit"},
		"used not counted":                        {world(quota("q", "limits.cpu=2", "limits.cpu=1500m")), main("/ cpu=1"), "QuotaExceeded"},
		"one millicore under the hard limit":      {world(quota("q", "limits.cpu=1", "")), main("/ cpu=1001m"), "QuotaExceeded"},
		"exactly the hard limit":                  {world(quota("q", "limits.cpu=1", "")), main("/ cpu=1"), "Admit"},
		"scopes ignored":                          {world(full(corev1.ResourceQuotaScopeTerminating)), main(whole), "Admit"},
		"scope Terminating":                       {world(full(corev1.ResourceQuotaScopeTerminating)), with(main(whole), deadline), "QuotaExceeded"},
		"scope NotTerminating":                    {world(full(corev1.ResourceQuotaScopeNotTerminating)), with(main(whole), deadline), "Admit"},
		"scope NotTerminating, without deadline":  {world(full(corev1.ResourceQuotaScopeNotTerminating)), main(whole), "QuotaExceeded"},
		"scope BestEffort":                        {world(full(corev1.ResourceQuotaScopeBestEffort)), main(whole), "Admit"},
		"scope NotBestEffort":                     {world(full(corev1.ResourceQuotaScopeNotBestEffort)), main(whole), "QuotaExceeded"},
		"scope NotBestEffort, best effort":        {world(full(corev1.ResourceQuotaScopeNotBestEffort)), main(""), "Admit"},
		"scope PriorityClass, none":               {world(full(corev1.ResourceQuotaScopePriorityClass), priorityClass("high", false)), main(whole), "Admit"},
		"scope PriorityClass, some":               {world(full(corev1.ResourceQuotaScopePriorityClass), priorityClass("high", false)), with(main(whole), high), "QuotaExceeded"},
		"two scopes of which one matches":         {world(full(corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeTerminating)), main(whole), "Admit"},
		"selector In":                             {world(pickedBy(corev1.ScopeSelectorOpIn, "high"), priorityClass("high", false)), with(main(whole), high), "QuotaExceeded"},
		"selector In, another class":              {world(pickedBy(corev1.ScopeSelectorOpIn, "low"), priorityClass("high", false)), with(main(whole), high), "Admit"},
		"selector NotIn, no class":                {world(pickedBy(corev1.ScopeSelectorOpNotIn, "low")), main(whole), "QuotaExceeded"},
		"selector Exists":                         {world(pickedBy(corev1.ScopeSelectorOpExists), priorityClass("high", false)), with(main(whole), high), "QuotaExceeded"},
		"selector DoesNotExist":                   {world(pickedBy(corev1.ScopeSelectorOpDoesNotExist), priorityClass("high", false)), with(main(whole), high), "Admit"},
		"a selector that cannot be read":          {world(pickedBy("Nonsense")), main(whole), "Other"},
		"an unknown scope":                        {world(full("Someday")), main(whole), "Admit"},
		"scope of affinity across namespaces":     {world(full(corev1.ResourceQuotaScopeCrossNamespacePodAffinity)), with(main(whole), away), "QuotaExceeded"},
		"no affinity across namespaces":           {world(full(corev1.ResourceQuotaScopeCrossNamespacePodAffinity)), main(whole), "Admit"},
		"a priority class that does not exist":    {world(), with(main(whole), high), "PriorityClass"},
		"a priority that is not the class's":      {world(priorityClass("high", true)), with(main(whole), priority(8)), "PriorityClass"},
		"the priority of the class":               {world(priorityClass("high", true)), with(main(whole), priority(7)), "Admit"},
		"a runtime class that does not exist":     {world(), with(main(whole), kata), "RuntimeClass"},
		"overhead without a class":                {world(), with(main(whole), func(p *corev1.Pod) { p.Spec.Overhead = amounts("cpu=1") }), "RuntimeClass"},
		"overhead that is not the class's":        {world(overhead), with(with(main(whole), kata), func(p *corev1.Pod) { p.Spec.Overhead = amounts("cpu=1") }), "RuntimeClass"},
		"overhead that is the class's":            {world(overhead), with(with(main(whole), kata), func(p *corev1.Pod) { p.Spec.Overhead = amounts("cpu=0.25") }), "Admit"},
		"hugepages of a part of a page":           {world(), main("/ cpu=1 hugepages-2Mi=3Mi"), "Invalid"},
		"hugepages alone":                         {world(), main("/ hugepages-2Mi=2Mi"), "Invalid"},
		"hugepages with cpu":                      {world(), main("/ cpu=1 hugepages-2Mi=2Mi"), "Admit"},
		"a negative amount":                       {world(), main("cpu=-1 /"), "Invalid"},
		"a request above its limit":               {world(), main("cpu=2 / cpu=1"), "Invalid"},
		"a LimitRange's minimum":                  {world(limitRange("lr", corev1.LimitTypeContainer, "min memory=64Mi")), main("memory=32Mi / memory=1Gi"), "LimitRange"},
		"a minimum that only the limit misses":    {world(limitRange("lr", corev1.LimitTypePod, "min memory=64Mi")), main("memory=32Mi / memory=32Mi"), "LimitRange"},
		"a minimum without a request":             {world(limitRange("lr", corev1.LimitTypePod, "min memory=64Mi")), main(""), "LimitRange"},
		"a maximum without a limit":               {world(limitRange("lr", corev1.LimitTypePod, "max memory=64Mi")), main("memory=1Mi /"), "LimitRange"},
		"a maximum of an init container":          {world(limitRange("lr", corev1.LimitTypeContainer, "max cpu=1")), pod(container("a", "/ cpu=1"), container("init", "/ cpu=2")), "LimitRange"},
		"a LimitRange for claims":                 {world(limitRange("lr", corev1.LimitTypePersistentVolumeClaim, "max storage=1")), main(""), "Admit"},
		"amounts too large for thousandths":       {world(limitRange("lr", corev1.LimitTypeContainer, "max memory=5Ei; ratio memory=1")), main("/ memory=4Ei"), "Admit"},
		"a namespace that is being deleted":       {world(corev1.Namespace{Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}}), main(whole), "NamespaceTerminating"},
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
			p := predict(t, world(q), main(test.amounts))
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
	p := predict(t, world(q), main(""))
	if len(p.Refusals()) != 4 || p.Refusals()[0].Container != "main" || p.Refusals()[0].Object != "ResourceQuota team" {
		t.Errorf("got %v", p.Refusals())
	}
	sized, _, err := podspec.Apply(main(""), podspec.Plan{Size: podspec.MustSize(podspec.Cores(1), podspec.MiB(512))})
	if err != nil {
		t.Fatal(err)
	}
	if p := predict(t, world(q), sized); answer(p) != "Admit" || p.QOS != corev1.PodQOSGuaranteed {
		t.Errorf("sized: %v, %v", answer(p), p.QOS)
	}
}

func TestR2UnsizedInitContainerIsNamed(t *testing.T) {
	p := predict(t, world(quota("team", fourKeys, "")), pod(container("main", whole), container("init", "")))
	if answer(p) != "QuotaMissing" || p.Refusals()[0].Container != "init" {
		t.Errorf("got %v: %v", answer(p), refusals(p))
	}
}

func TestR3InitContainerThatCopiesCostsNothing(t *testing.T) {
	p := pod(container("main", "/ cpu=1"), container("init", "/ cpu=1"))
	if got := podspec.PodLimits(p)["cpu"]; got.String() != "1" {
		t.Errorf("got %v", got.String())
	}
}

func TestR4OneMissingLimitIsNamed(t *testing.T) {
	p := predict(t, world(quota("q", "limits.cpu=4 limits.memory=4Gi", "")), main("/ memory=1Gi"))
	if len(p.Refusals()) != 1 || p.Refusals()[0].Resource != "limits.cpu" {
		t.Errorf("got %v", p.Refusals())
	}
}

func TestR11DefaultLimitBelowTheRequest(t *testing.T) {
	TestFact09DefaultLimitBelowTheRequestIsInvalid(t)
}

func TestR13SidecarsAddAndInitContainersDoNot(t *testing.T) {
	sum := podspec.PodLimits(pod(container("main", "/ cpu=2"), sidecar("s", "/ cpu=3")))["cpu"]
	most := podspec.PodLimits(pod(container("main", "/ cpu=2"), container("init", "/ cpu=3")))["cpu"]
	if sum.String() != "5" || most.String() != "3" {
		t.Errorf("sidecar %v, init %v", sum.String(), most.String())
	}
}

func TestR14AndR15MaskingIsSaid(t *testing.T) {
	s := world(limitRange("lr", corev1.LimitTypeContainer, "default memory=64Mi cpu=1"), quota("q", fourKeys, ""))
	p := predict(t, s, pod(container("main", "cpu=1 / cpu=1"), container("init", whole)))
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
	strict := predict(t, s, pod(container("main", "cpu=1 / cpu=1")), podspec.StrictSizing())
	if answer(strict) != "LimitRange" || len(strict.Refusals()) != 2 {
		t.Errorf("strict: %v", answer(strict))
	}
	if complete := predict(t, s, main(whole), podspec.StrictSizing()); answer(complete) != "Admit" {
		t.Errorf("strict, complete: %v", answer(complete))
	}
}

func TestR18EmptyStatusIsSaid(t *testing.T) { TestFact01QuotaIsEnforcedFromStatus(t) }

func TestR19StatusUnknownIsTransient(t *testing.T) { TestFact02UncountedUsageIsRefusedForAWhile(t) }
