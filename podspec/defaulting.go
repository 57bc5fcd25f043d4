package podspec

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The first thing that an API server does to a new pod is to decode and default it, before any admission:
//
//  1. every limit of a container or init container without a request becomes its request;
//  2. below 1.37, amounts at pod level are filled in here, from what the containers have so far;
//  3. every amount is rounded up to a thousandth;
//  4. a volume without source becomes an emptyDir, and with hostNetwork every container port becomes a host port.
//
// From 1.37 on the pod level is filled in later, after admission has changed the containers (see fillPodLevel).

const (
	// minorPodLevel is the first server that takes amounts at pod level; older ones drop them.
	minorPodLevel = 34
	// minorPodLevelFixed is the first server that fills them in after admission.
	minorPodLevelFixed = 37
)

// decode defaults a pod in place, as a server of a minor version does when it reads it.
func decode(pod *corev1.Pod, minor int) {
	spec := &pod.Spec
	if minor < minorPodLevel {
		spec.Resources = nil
	}
	each(spec, func(container *corev1.Container) { limitsToRequests(&container.Resources) })
	if minor < minorPodLevelFixed {
		fillPodLevelEarly(spec)
	}
	each(spec, func(container *corev1.Container) { roundRequirements(&container.Resources) })
	if spec.Resources != nil {
		roundRequirements(spec.Resources)
	}
	round(spec.Overhead)
	defaultVolumes(spec.Volumes)
	if spec.HostNetwork {
		each(spec, func(container *corev1.Container) { hostPorts(container.Ports) })
	}
}

// each visits containers, then init containers.
func each(spec *corev1.PodSpec, visit func(*corev1.Container)) {
	for i := range spec.Containers {
		visit(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		visit(&spec.InitContainers[i])
	}
}

// limitsToRequests makes every lone limit its own request.
func limitsToRequests(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if _, ok := r.Requests[name]; !ok {
			put(&r.Requests, name, limit)
		}
	}
}

// put sets an amount in a list that may not exist yet.
func put(list *corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = quantity.DeepCopy()
}

func roundRequirements(r *corev1.ResourceRequirements) {
	round(r.Limits)
	round(r.Requests)
}

// round brings amounts up to whole thousandths.
func round(list corev1.ResourceList) {
	for name, quantity := range list {
		if exact := quantity.RoundUp(resource.Milli); !exact {
			list[name] = quantity
		}
	}
}

// rounded is a list with its amounts rounded. It is the list itself where nothing has to be rounded, so it is read only.
func rounded(list corev1.ResourceList) corev1.ResourceList {
	for _, quantity := range list {
		copied := quantity.DeepCopy()
		if !copied.RoundUp(resource.Milli) {
			return roundedCopy(list)
		}
	}
	return list
}

// roundedCopy is a rounded list of the caller's own.
func roundedCopy(list corev1.ResourceList) corev1.ResourceList {
	copied := list.DeepCopy()
	round(copied)
	return copied
}

// defaultVolumes makes emptyDirs of volumes without a source.
func defaultVolumes(volumes []corev1.Volume) {
	for i := range volumes {
		if reflect.ValueOf(volumes[i].VolumeSource).IsZero() {
			volumes[i].EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
	}
}

func hostPorts(ports []corev1.ContainerPort) {
	for i := range ports {
		if ports[i].HostPort == 0 {
			ports[i].HostPort = ports[i].ContainerPort
		}
	}
}

// fillPodLevelEarly is what servers before 1.37 do: hugepage limits from the containers; then, if there is any limit at pod
// level, requests from the containers' sums, and from the pod's limits where no container has a request.
func fillPodLevelEarly(spec *corev1.PodSpec) {
	level := spec.Resources
	if level == nil || len(level.Limits)+len(level.Requests) == 0 {
		return
	}
	fillHugepageLimits(spec)
	if len(level.Limits) > 0 {
		fillLevelRequests(spec)
	}
}

// fillPodLevel is what servers from 1.37 on do, after admission: hugepage limits, then requests, then a limit for every
// resource of which each container has one: the larger of the containers' sum and the pod's request.
func fillPodLevel(spec *corev1.PodSpec) {
	level := spec.Resources
	if level == nil || len(level.Limits)+len(level.Requests) == 0 {
		return
	}
	fillHugepageLimits(spec)
	fillLevelRequests(spec)
	total := containerTotal(spec, limitsOf)
	for name, request := range level.Requests {
		if _, ok := level.Limits[name]; ok || !podLevelResourceName(name) || !allLimited(spec, name) {
			continue
		}
		limit, ok := total[name]
		if !ok {
			continue
		}
		if request.Cmp(limit) > 0 {
			limit = request
		}
		put(&level.Limits, name, limit)
	}
}

// fillHugepageLimits gives the pod level the sum of the containers' hugepage limits, where it says nothing of them.
func fillHugepageLimits(spec *corev1.PodSpec) {
	level := spec.Resources
	for name, limit := range containerTotal(spec, limitsOf) {
		_, requested := level.Requests[name]
		_, limited := level.Limits[name]
		if isHugepages(name) && !requested && !limited {
			put(&level.Limits, name, limit)
		}
	}
}

// fillLevelRequests gives the pod level requests for cpu and memory from the containers' sums, then from its own limits.
func fillLevelRequests(spec *corev1.PodSpec) {
	level := spec.Resources
	for name, request := range containerTotal(spec, requestsOf) {
		if _, ok := level.Requests[name]; !ok && computeResource(name) {
			put(&level.Requests, name, request)
		}
	}
	for name, limit := range level.Limits {
		if _, ok := level.Requests[name]; !ok && podLevelResourceName(name) {
			put(&level.Requests, name, limit)
		}
	}
}

// allLimited says whether every container and init container has a limit of a resource.
func allLimited(spec *corev1.PodSpec, name corev1.ResourceName) bool {
	all := true
	each(spec, func(container *corev1.Container) {
		_, ok := container.Resources.Limits[name]
		all = all && ok
	})
	return all
}

func isHugepages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
