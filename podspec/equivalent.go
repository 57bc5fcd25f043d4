package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// equivalent says whether two outcomes differ in nothing that a caller could act on: verdict, stage, amounts and class.
func (o Outcome) equivalent(other Outcome) bool {
	return o.Verdict == other.Verdict && o.Stage == other.Stage && o.Category == other.Category && o.QOS == other.QOS &&
		samePodAmounts(&o.Effective.Spec, &other.Effective.Spec)
}

// samePodAmounts compares all amounts of two pods that have the same containers.
func samePodAmounts(a, b *corev1.PodSpec) bool {
	same := func(x, y corev1.Container) bool {
		return sameAmounts(x.Resources.Requests, y.Resources.Requests) && sameAmounts(x.Resources.Limits, y.Resources.Limits)
	}
	if !slices.EqualFunc(a.Containers, b.Containers, same) || !slices.EqualFunc(a.InitContainers, b.InitContainers, same) {
		return false
	}
	if a.Resources == nil || b.Resources == nil {
		return a.Resources == b.Resources
	}
	return sameAmounts(a.Resources.Requests, b.Resources.Requests) && sameAmounts(a.Resources.Limits, b.Resources.Limits)
}
