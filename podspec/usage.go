package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The effective usage of a pod is what a scheduler reserves and a quota charges. Containers and sidecars run together and
// add up; a plain init container runs before the containers, beside the sidecars that were started before it. So the pod
// needs, of each resource, the larger of
//
//   - the sum over containers and sidecars, and
//   - the most that any init container needs, together with the sidecars before it.
//
// Amounts at pod level replace that figure for cpu, memory and hugepages. The overhead of a runtime class comes on top: to
// requests always, to limits only where there is one that is not zero.

// PodRequests are the effective requests of a pod's spec, with overhead. Status is not looked at. The pod is not changed,
// and the result shares nothing with it.
func PodRequests(pod *corev1.Pod) corev1.ResourceList {
	total := containerTotal(&pod.Spec, requestsOf)
	overlay(total, level(&pod.Spec).Requests, podLevelResourceName)
	add(total, pod.Spec.Overhead)
	return total
}

// PodLimits are the effective limits of a pod's spec, with overhead. A resource that some container leaves without limit
// has the sum of the others, as the API server counts it.
func PodLimits(pod *corev1.Pod) corev1.ResourceList {
	total := containerTotal(&pod.Spec, limitsOf)
	overlay(total, level(&pod.Spec).Limits, podLevelResourceName)
	addToLimits(total, pod.Spec.Overhead)
	return total
}

// addToLimits adds overhead, which goes to limits that are there and not zero.
func addToLimits(total, overhead corev1.ResourceList) {
	for name, extra := range overhead {
		if limit, ok := total[name]; ok && !limit.IsZero() {
			limit = limit.DeepCopy()
			limit.Add(extra)
			total[name] = limit
		}
	}
}

func requestsOf(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests }
func limitsOf(c *corev1.Container) corev1.ResourceList   { return c.Resources.Limits }

// level are the amounts at pod level, of which there may be none.
func level(spec *corev1.PodSpec) corev1.ResourceRequirements {
	if spec.Resources == nil {
		return corev1.ResourceRequirements{}
	}
	return *spec.Resources
}

// containerTotal is the effective usage of the containers alone, of what each of them is said to have.
func containerTotal(spec *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	running := corev1.ResourceList{}
	for i := range spec.Containers {
		add(running, of(&spec.Containers[i]))
	}
	if len(spec.InitContainers) == 0 {
		return running
	}
	sidecars, starting := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.InitContainers {
		init := &spec.InitContainers[i]
		if isSidecar(init) {
			add(running, of(init))
			add(sidecars, of(init))
			raise(starting, sidecars)
			continue
		}
		together := sidecars.DeepCopy()
		add(together, of(init))
		raise(starting, together)
	}
	raise(running, starting)
	return running
}

// overlay replaces totals by what the pod level says of the resources it may name.
func overlay(total, level corev1.ResourceList, may func(corev1.ResourceName) bool) {
	for name, quantity := range level {
		if may(name) {
			total[name] = quantity.DeepCopy()
		}
	}
}

// add adds amounts to a list. Quantities are copied first: a quantity of arbitrary precision shares its digits with its
// copies, and adding to one would change the pod that it came from.
func add(total, more corev1.ResourceList) {
	for name, quantity := range more {
		sum, ok := total[name]
		if !ok {
			total[name] = quantity.DeepCopy()
			continue
		}
		sum = sum.DeepCopy()
		sum.Add(quantity)
		total[name] = sum
	}
}

// raise brings a list up to another one.
func raise(total, other corev1.ResourceList) {
	for name, quantity := range other {
		if had, ok := total[name]; !ok || quantity.Cmp(had) > 0 {
			total[name] = quantity.DeepCopy()
		}
	}
}

// podLevelResourceName says whether the API server takes a resource at pod level into account.
func podLevelResourceName(name corev1.ResourceName) bool {
	return computeResource(name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// computeResource names the two resources that decide a pod's QoS class.
func computeResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory
}

// hasPodLevel says whether a pod has amounts at pod level that count.
func hasPodLevel(spec *corev1.PodSpec) bool {
	if spec.Resources == nil {
		return false
	}
	return hasPodLevelAmounts(spec.Resources.Requests) || hasPodLevelAmounts(spec.Resources.Limits)
}

func hasPodLevelAmounts(list corev1.ResourceList) bool {
	for name := range list {
		if podLevelResourceName(name) {
			return true
		}
	}
	return false
}

// figures are request and limit of one resource; what is absent is zero.
type figures struct {
	request, limit     resource.Quantity
	requested, limited bool
}

func figuresOf(requests, limits corev1.ResourceList, name corev1.ResourceName) (f figures) {
	f.request, f.requested = requests[name]
	f.limit, f.limited = limits[name]
	return f
}

// present is an amount that may be absent, as findings have it.
func present(amount resource.Quantity, there bool) *resource.Quantity {
	if !there {
		return nil
	}
	return &amount
}
