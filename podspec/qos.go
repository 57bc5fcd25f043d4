package podspec

import corev1 "k8s.io/api/core/v1"

// QOS is the class of a pod as an API server of a minor version computes it. It looks at cpu and memory only, of
// containers and init containers: a pod that asks for devices or storage alone is BestEffort. Zero counts as absent.
//
//   - A container without cpu and memory is BestEffort; one whose requests equal its limits for both is Guaranteed;
//     everything else is Burstable.
//   - A pod is of the class that all its containers share, Burstable if they differ.
//   - Amounts at pod level decide alone where there are any. Before 1.37, even an empty resources field at pod level
//     decides, and makes the pod BestEffort.
func QOS(spec *corev1.PodSpec, serverMinor int) corev1.PodQOSClass {
	if spec.Resources != nil && serverMinor >= minorPodLevel && (serverMinor < minorPodLevelFixed || hasPodLevel(spec)) {
		return classOf(spec.Resources)
	}
	var class corev1.PodQOSClass
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			own := classOf(&list[i].Resources)
			if class == "" {
				class = own
			}
			if own != class || own == corev1.PodQOSBurstable {
				return corev1.PodQOSBurstable
			}
		}
	}
	if class == "" {
		return corev1.PodQOSBestEffort
	}
	return class
}

// classOf is the class of one set of amounts.
func classOf(r *corev1.ResourceRequirements) corev1.PodQOSClass {
	cpu, memory := classOfResource(r, corev1.ResourceCPU), classOfResource(r, corev1.ResourceMemory)
	if cpu != memory {
		return corev1.PodQOSBurstable
	}
	return cpu
}

func classOfResource(r *corev1.ResourceRequirements, name corev1.ResourceName) corev1.PodQOSClass {
	request, limit := r.Requests[name], r.Limits[name]
	switch {
	case request.Cmp(limit) != 0:
		return corev1.PodQOSBurstable
	case request.IsZero():
		return corev1.PodQOSBestEffort
	}
	return corev1.PodQOSGuaranteed
}
