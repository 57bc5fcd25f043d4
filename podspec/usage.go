package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
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
	overlay(total, pod.Spec.Resources, requestsOf, podLevelResourceName)
	add(total, pod.Spec.Overhead)
	return total
}

// PodLimits are the effective limits of a pod's spec, with overhead. A resource that some container leaves without limit
// has the sum of the others, as the API server counts it.
func PodLimits(pod *corev1.Pod) corev1.ResourceList {
	total := containerTotal(&pod.Spec, limitsOf)
	overlay(total, pod.Spec.Resources, limitsOf, podLevelResourceName)
	for name, extra := range pod.Spec.Overhead {
		if limit, ok := total[name]; ok && !limit.IsZero() {
			limit = limit.DeepCopy()
			limit.Add(extra)
			total[name] = limit
		}
	}
	return total
}

func requestsOf(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }
func limitsOf(r *corev1.ResourceRequirements) corev1.ResourceList   { return r.Limits }

// containerTotal is the effective usage of the containers alone.
func containerTotal(spec *corev1.PodSpec, of func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	running := corev1.ResourceList{}
	for i := range spec.Containers {
		add(running, of(&spec.Containers[i].Resources))
	}
	if len(spec.InitContainers) == 0 {
		return running
	}
	sidecars, starting := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.InitContainers {
		init := &spec.InitContainers[i]
		if isSidecar(init) {
			add(running, of(&init.Resources))
			add(sidecars, of(&init.Resources))
			raise(starting, sidecars)
			continue
		}
		together := sidecars.DeepCopy()
		add(together, of(&init.Resources))
		raise(starting, together)
	}
	raise(running, starting)
	return running
}

// overlay replaces totals by what the pod level says of the resources it may name.
func overlay(total corev1.ResourceList, level *corev1.ResourceRequirements, of func(*corev1.ResourceRequirements) corev1.ResourceList, may func(corev1.ResourceName) bool) {
	if level == nil {
		return
	}
	for name, quantity := range of(level) {
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
	for _, list := range []corev1.ResourceList{spec.Resources.Requests, spec.Resources.Limits} {
		for name := range list {
			if podLevelResourceName(name) {
				return true
			}
		}
	}
	return false
}
