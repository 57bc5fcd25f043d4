package differential_test

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A world is what one namespace holds.
type world struct {
	namespace corev1.Namespace
	limits    []corev1.LimitRange
	quotas    []corev1.ResourceQuota
}

// world draws a namespace. Most have one kind of obstacle, so that one cause decides.
func (c *chance) world() world {
	var w world
	w.namespace.GenerateName = "world-"
	security, limits, quotas := false, 0, 0
	switch n := c.IntN(20); {
	case n < 1:
	case n < 3:
		security = true
	case n < 7:
		limits = pick(c, 1, 1, 1, 2, 3)
	case n < 13:
		quotas = pick(c, 1, 1, 2, 3)
	default:
		security, limits, quotas = c.in(0.4), pick(c, 0, 1, 1, 2), pick(c, 0, 1, 1, 2)
	}
	if security {
		c.levels(&w.namespace)
	}
	for i := range limits {
		w.limits = append(w.limits, c.limitRange(fmt.Sprintf("lr%d", i)))
	}
	for i := range quotas {
		w.quotas = append(w.quotas, c.quota(fmt.Sprintf("q.%d", i)))
	}
	return w
}

func (c *chance) levels(namespace *corev1.Namespace) {
	const prefix = "pod-security.kubernetes.io/"
	namespace.Labels = map[string]string{prefix + "enforce": pick(c, "privileged", "baseline", "baseline", "restricted", "restricted")}
	if c.in(0.4) {
		namespace.Labels[prefix+"enforce-version"] = pick(c, "v1.24", "v1.30", "v1.34", "v1.37", "latest", "v1.19")
	}
}

// limitRange draws one that the API server takes: min, defaultRequest, default and max ascend.
func (c *chance) limitRange(name string) corev1.LimitRange {
	limits := corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if c.in(0.85) {
		limits.Spec.Limits = append(limits.Spec.Limits, c.containerItem())
	}
	if len(limits.Spec.Limits) == 0 || c.in(0.3) {
		limits.Spec.Limits = append(limits.Spec.Limits, c.podItem())
	}
	return limits
}

func (c *chance) containerItem() corev1.LimitRangeItem {
	item := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if name == corev1.ResourceEphemeralStorage && c.in(0.8) || c.in(0.3) {
			continue
		}
		amounts := c.ascending(name, 4)
		for i, list := range []*corev1.ResourceList{&item.Min, &item.DefaultRequest, &item.Default, &item.Max} {
			if c.in(0.35) {
				set(list, name, amounts[i])
			}
		}
	}
	if c.in(0.1) {
		set(&item.Max, gpu, resource.MustParse(pick(c, "1", "2")))
	}
	if _, bounded := item.Min[corev1.ResourceCPU]; !bounded && c.in(0.15) {
		set(&item.MaxLimitRequestRatio, corev1.ResourceCPU, resource.MustParse(pick(c, "1", "1.5", "2", "10")))
	}
	return item
}

func (c *chance) podItem() corev1.LimitRangeItem {
	item := corev1.LimitRangeItem{Type: corev1.LimitTypePod}
	if c.in(0.6) {
		set(&item.Max, corev1.ResourceCPU, resource.MustParse(pick(c, "1", "2", "4", "9")))
	}
	if c.in(0.3) {
		set(&item.Min, corev1.ResourceMemory, resource.MustParse(pick(c, "64Mi", "1")))
	} else if c.in(0.3) {
		set(&item.MaxLimitRequestRatio, corev1.ResourceMemory, resource.MustParse(pick(c, "1", "2")))
	}
	return item
}

var quotaNames = []corev1.ResourceName{
	"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory", "pods", "count/pods", "requests.ephemeral-storage",
	"limits.ephemeral-storage", "ephemeral-storage", "requests.nvidia.com/gpu", "hugepages-2Mi", "requests.hugepages-2Mi", "services",
}

// takes says whether a quota of a scope may name a resource.
func takes(scope corev1.ResourceQuotaScope, name corev1.ResourceName) bool {
	switch scope {
	case "":
		return true
	case corev1.ResourceQuotaScopeBestEffort:
		return name == corev1.ResourcePods
	default:
		return slices.Contains(quotaNames[:7], name)
	}
}

// quota draws a quota and its status. Some have no figure for the usage of something, one in twenty is not counted
// at all, one in twenty is counted for another spec.
func (c *chance) quota(name string) corev1.ResourceQuota {
	quota := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}}
	scope := c.scope(&quota.Spec)
	hard, used := corev1.ResourceList{}, corev1.ResourceList{}
	for _, key := range quotaNames {
		if !takes(scope, key) || !c.in(0.22) {
			continue
		}
		hard[key], used[key] = c.room(key)
		if c.in(0.03) {
			delete(used, key)
		}
	}
	quota.Spec.Hard = hard
	switch c.IntN(20) {
	case 0:
	case 1:
		quota.Spec.Hard = hard.DeepCopy()
		for key := range hard {
			quota.Spec.Hard[key] = resource.MustParse("1")
		}
		quota.Status.Hard, quota.Status.Used = hard, used
	default:
		quota.Status.Hard, quota.Status.Used = hard, used
	}
	return quota
}

// room draws the limit of a resource and what is used of it, now and then more than the limit.
func (c *chance) room(key corev1.ResourceName) (hard, used resource.Quantity) {
	switch key {
	case "pods", "count/pods", "services", "requests.nvidia.com/gpu":
		return resource.MustParse(pick(c, "5", "2", "1")), resource.MustParse(pick(c, "0", "0", "1", "2", "7"))
	case "cpu", "requests.cpu", "limits.cpu":
		return resource.MustParse(pick(c, "100", "5", "2", "3001m")), resource.MustParse(pick(c, "0", "0", "1", "999m", "200"))
	default:
		return resource.MustParse(pick(c, "100Gi", "4Gi", "1Gi", "1000001k")), resource.MustParse(pick(c, "0", "0", "1", "512Mi", "200Gi"))
	}
}

func (c *chance) scope(spec *corev1.ResourceQuotaSpec) corev1.ResourceQuotaScope {
	if c.in(0.55) {
		return ""
	}
	scope := pick(c, corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeTerminating,
		corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity)
	if scope != corev1.ResourceQuotaScopePriorityClass || c.in(0.3) {
		spec.Scopes = []corev1.ResourceQuotaScope{scope}
		return scope
	}
	operator := pick(c, corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn, corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist)
	requirement := corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: operator}
	if operator == corev1.ScopeSelectorOpIn || operator == corev1.ScopeSelectorOpNotIn {
		requirement.Values = []string{pick(c, "high", "low")}
	}
	spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{requirement}}
	return scope
}
