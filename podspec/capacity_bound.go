package podspec

import corev1 "k8s.io/api/core/v1"

// holds says whether a pod holds a part of a node: it is bound, and has not ended.
func holds(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// A running pod counts as schedulers and quotas of 1.37 count it. While it is resized there are several figures: what its
// spec asks for, what the node has allotted, and what the containers have got. Each of them gives a total by the law of
// effective usage, and of each resource the largest total counts. Where the node has said that the resize is not feasible,
// the spec does not count at all.
type running struct {
	pod        *corev1.Pod
	statuses   map[string]*corev1.ContainerStatus
	infeasible bool
	// own is the pod's own status, of which schedulers know and quotas do not.
	own *corev1.ResourceRequirements
}

// scheduled is a pod as a scheduler counts it.
func scheduled(pod *corev1.Pod) running {
	r := runningOf(pod)
	r.own = pod.Status.Resources
	return r
}

// runningOf is a pod as a quota counts it.
func runningOf(pod *corev1.Pod) running {
	r := running{pod: pod, statuses: map[string]*corev1.ContainerStatus{}, infeasible: resizeInfeasible(pod)}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			r.statuses[list[i].Name] = &list[i]
		}
	}
	return r
}

// requests are its effective requests, with overhead. A lone limit is a request.
func (r running) requests() corev1.ResourceList {
	asked := func(container *corev1.Container) corev1.ResourceList {
		own := *container.Resources.DeepCopy()
		limitsToRequests(&own)
		return own.Requests
	}
	allotted := func(s *corev1.ContainerStatus) corev1.ResourceList { return s.AllocatedResources }
	got := func(s *corev1.ContainerStatus) corev1.ResourceList {
		if s.Resources != nil && s.Resources.Requests != nil {
			return s.Resources.Requests
		}
		return s.AllocatedResources
	}
	total := corev1.ResourceList{}
	if !r.infeasible {
		total = containerTotal(&r.pod.Spec, asked)
	}
	// The pod's own status has the totals where the node reports them.
	if whole := r.own; whole != nil && whole.Requests != nil && r.pod.Status.AllocatedResources != nil {
		raise(total, r.pod.Status.AllocatedResources)
		raise(total, whole.Requests)
	} else {
		raise(total, r.total(asked, allotted))
		raise(total, r.total(asked, got))
	}
	overlay(total, r.levelRequests(), podLevelResourceName)
	add(total, r.pod.Spec.Overhead)
	return total
}

// levelRequests are the requests at pod level, and while they are resized the most of what is asked for, allotted and there.
func (r running) levelRequests() corev1.ResourceList {
	asked := level(&r.pod.Spec).Requests
	if r.own == nil || !hasPodLevelAmounts(asked) {
		return asked
	}
	most := corev1.ResourceList{}
	if !r.infeasible {
		raise(most, asked)
	}
	raise(most, r.own.Requests)
	raise(most, r.pod.Status.AllocatedResources)
	return most
}

// limits are its effective limits, with overhead.
func (r running) limits() corev1.ResourceList {
	total := corev1.ResourceList{}
	if !r.infeasible {
		total = containerTotal(&r.pod.Spec, limitsOf)
	}
	raise(total, r.total(limitsOf, func(s *corev1.ContainerStatus) corev1.ResourceList {
		if s.Resources == nil {
			return nil
		}
		return s.Resources.Limits
	}))
	overlay(total, level(&r.pod.Spec).Limits, podLevelResourceName)
	addToLimits(total, r.pod.Spec.Overhead)
	return total
}

// total is the effective usage of what the containers' statuses say, and what they are asked for where these say nothing.
func (r running) total(asked func(*corev1.Container) corev1.ResourceList, said func(*corev1.ContainerStatus) corev1.ResourceList) corev1.ResourceList {
	return containerTotal(&r.pod.Spec, func(container *corev1.Container) corev1.ResourceList {
		if status := r.statuses[container.Name]; status != nil {
			if own := said(status); own != nil {
				return own
			}
		}
		if r.infeasible {
			return nil
		}
		return asked(container)
	})
}

// resizeInfeasible says whether the node has refused the resize.
func resizeInfeasible(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == corev1.PodResizePending {
			return condition.Reason == corev1.PodReasonInfeasible
		}
	}
	return false
}
