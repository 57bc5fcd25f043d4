package podspec

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// QuotaUsage is what pods use of a quota, as its controller counts it: cpu, memory and the like of the pods that the scopes
// match and that have not ended; count/pods of all that are there. A pod has ended when it succeeded or failed, or when it
// is being deleted and its grace period is over at the given time. Only resources of the quota that concern pods are in
// the result, those that nobody uses as zero. Server minor is needed for the class of pods whose status has none.
func QuotaUsage(quota *corev1.ResourceQuota, pods []corev1.Pod, at time.Time, serverMinor int) (corev1.ResourceList, error) {
	total := corev1.ResourceList{}
	for name := range podResources(quota.Spec.Hard) {
		total[name] = resource.Quantity{Format: resource.DecimalSI}
	}
	for i := range pods {
		pod := &pods[i]
		class := pod.Status.QOSClass
		if class == "" {
			class = QOS(&pod.Spec, serverMinor)
		}
		match, err := matchesScopes(quota, pod, class)
		if err != nil {
			return nil, fmt.Errorf("scope selector of quota %s: %w", quota.Name, err)
		}
		if !match {
			continue
		}
		running, over := runningOf(pod), ended(pod, at)
		usage := charges{running.requests(), running.limits()}
		for name, sum := range total {
			if amount, ok := usage.of(name); ok && (name == countPods || !over) {
				sum.Add(amount)
				total[name] = sum
			}
		}
	}
	return total, nil
}

func ended(pod *corev1.Pod, at time.Time) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return true
	}
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return false
	}
	return at.After(pod.DeletionTimestamp.Add(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second))
}

// StaleUsage warns of a quota whose counted usage is higher than what the pods there use. That is so for moments after every
// change, and after creates that failed because the pod existed already, which are charged all the same; where it lasts, the
// quota controller has stalled, and pods are refused for room that is there.
func StaleUsage(quota *corev1.ResourceQuota, pods []corev1.Pod, at time.Time, serverMinor int) ([]Finding, error) {
	usage, err := QuotaUsage(quota, pods, at, serverMinor)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	for _, name := range sortedNames(usage) {
		counted, actual := quota.Status.Used[name].DeepCopy(), usage[name]
		if counted.Cmp(actual) <= 0 {
			continue
		}
		findings = append(findings, Finding{
			Stage: StageQuota, Category: CategoryQuotaUnknownStatus, Severity: Warns, Object: "ResourceQuota " + quota.Name, Resource: name,
			Have: &counted, Need: &actual, Retry: RetryWhenSynced,
			Message: fmt.Sprintf("ResourceQuota %s counts %s of %s, and its pods use %s", quota.Name, counted.String(), name, actual.String()),
			Remedy:  "wait until it is counted again, at most some minutes; do not repeat creates that fail because the pod exists",
		})
	}
	return findings, nil
}
