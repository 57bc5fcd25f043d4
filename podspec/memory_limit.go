package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// memoryLimit is the limit under which a container ran: that of its status, which knows of resizes, or else of its spec.
func memoryLimit(pod *corev1.Pod, status *corev1.ContainerStatus) (resource.Quantity, bool) {
	if status.Resources != nil {
		if limit, ok := status.Resources.Limits[corev1.ResourceMemory]; ok {
			return limit.DeepCopy(), true
		}
	}
	var limit resource.Quantity
	found := false
	each(&pod.Spec, func(container *corev1.Container) {
		if own, ok := container.Resources.Limits[corev1.ResourceMemory]; ok && container.Name == status.Name {
			limit, found = own.DeepCopy(), true
		}
	})
	return limit, found && !limit.IsZero()
}
