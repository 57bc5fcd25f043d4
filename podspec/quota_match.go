package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// A quota concerns a pod if its hard limits name anything of pods and all its scopes match. Scopes are:
//
//   - Terminating, NotTerminating: whether activeDeadlineSeconds is set (and not negative);
//   - BestEffort, NotBestEffort: the QoS class;
//   - PriorityClass: the class, the cluster's default one included;
//   - CrossNamespacePodAffinity: whether an affinity term names other namespaces.
//
// A scope that is not known matches no pod. Scopes without an operator ask for existence.

// matchesScopes says whether all scopes of a quota match. An error is a selector that cannot be compiled; an API server
// refuses every pod then.
func matchesScopes(quota *corev1.ResourceQuota, pod *corev1.Pod, class corev1.PodQOSClass) (bool, error) {
	for _, scope := range quota.Spec.Scopes {
		match, err := matchesScope(corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}, pod, class)
		if err != nil || !match {
			return false, err
		}
	}
	if quota.Spec.ScopeSelector == nil {
		return true, nil
	}
	for _, requirement := range quota.Spec.ScopeSelector.MatchExpressions {
		match, err := matchesScope(requirement, pod, class)
		if err != nil || !match {
			return false, err
		}
	}
	return true, nil
}

func matchesScope(scope corev1.ScopedResourceSelectorRequirement, pod *corev1.Pod, class corev1.PodQOSClass) (bool, error) {
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return terminating(pod), nil
	case corev1.ResourceQuotaScopeNotTerminating:
		return !terminating(pod), nil
	case corev1.ResourceQuotaScopeBestEffort:
		return class == corev1.PodQOSBestEffort, nil
	case corev1.ResourceQuotaScopeNotBestEffort:
		return class != corev1.PodQOSBestEffort, nil
	case corev1.ResourceQuotaScopePriorityClass:
		return matchesPriorityClass(scope, pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return crossesNamespaces(pod.Spec.Affinity), nil
	}
	return false, nil
}

func terminating(pod *corev1.Pod) bool {
	return pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds >= 0
}

var scopeOperators = map[corev1.ScopeSelectorOperator]selection.Operator{
	corev1.ScopeSelectorOpIn: selection.In, corev1.ScopeSelectorOpNotIn: selection.NotIn,
	corev1.ScopeSelectorOpExists: selection.Exists, corev1.ScopeSelectorOpDoesNotExist: selection.DoesNotExist,
}

// matchesPriorityClass treats the class as a label that the pod has or lacks.
func matchesPriorityClass(scope corev1.ScopedResourceSelectorRequirement, class string) (bool, error) {
	if scope.Operator == corev1.ScopeSelectorOpExists {
		return class != "", nil
	}
	requirement, err := labels.NewRequirement(string(scope.ScopeName), scopeOperators[scope.Operator], scope.Values)
	if err != nil {
		return false, err
	}
	set := labels.Set{}
	if class != "" {
		set[string(scope.ScopeName)] = class
	}
	return requirement.Matches(set), nil
}

// crossesNamespaces says whether a pod affinity or anti-affinity term looks at other namespaces.
func crossesNamespaces(affinity *corev1.Affinity) bool {
	if affinity == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	weighted := func(list []corev1.WeightedPodAffinityTerm) {
		for i := range list {
			terms = append(terms, list[i].PodAffinityTerm)
		}
	}
	if affinity.PodAffinity != nil {
		terms = append(terms, affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if affinity.PodAntiAffinity != nil {
		terms = append(terms, affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	for i := range terms {
		if len(terms[i].Namespaces) > 0 || terms[i].NamespaceSelector != nil {
			return true
		}
	}
	return false
}

// countPods is the name under which a quota counts pods that exist, finished ones included.
const countPods corev1.ResourceName = "count/pods"

// podQuotaResource says whether a resource of a quota concerns pods.
func podQuotaResource(name corev1.ResourceName) bool {
	switch name {
	case countPods, corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	text := string(name)
	if strings.HasPrefix(text, corev1.ResourceHugePagesPrefix) || strings.HasPrefix(text, corev1.ResourceRequestsHugePagesPrefix) {
		return true
	}
	device := strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix+resourcev1.ResourceDeviceClassPrefix)
	return strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix) && (device || !nativeResource(name))
}

// mandatory are the resources that every container has to declare if a quota names them.
func mandatory(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory:
		return true
	}
	return false
}

// charges are what a quota charges a pod for.
type charges struct{ requests, limits corev1.ResourceList }

// of is the charge under a name that a quota uses; false where the pod uses nothing of it. The pod itself counts as one.
func (c charges) of(key corev1.ResourceName) (resource.Quantity, bool) {
	if key == corev1.ResourcePods || key == countPods {
		return *resource.NewQuantity(1, resource.DecimalSI), true
	}
	if name, ok := strings.CutPrefix(string(key), "limits."); ok {
		return chargeFor(c.limits, corev1.ResourceName(name), storable)
	}
	if name, ok := strings.CutPrefix(string(key), corev1.DefaultResourceRequestsPrefix); ok {
		return chargeFor(c.requests, corev1.ResourceName(name), func(name corev1.ResourceName) bool {
			return storable(name) || isHugepages(name) || extendedResource(name) || strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix)
		})
	}
	return chargeFor(c.requests, key, func(name corev1.ResourceName) bool { return storable(name) || isHugepages(name) })
}

// chargeFor is an amount of a list, if quotas count what it is of.
func chargeFor(list corev1.ResourceList, name corev1.ResourceName, counted func(corev1.ResourceName) bool) (resource.Quantity, bool) {
	amount, ok := list[name]
	if !ok || !counted(name) {
		return resource.Quantity{}, false
	}
	return amount, true
}

// storable are the resources that quotas know by requests and by limits.
func storable(name corev1.ResourceName) bool {
	return computeResource(name) || name == corev1.ResourceEphemeralStorage
}
