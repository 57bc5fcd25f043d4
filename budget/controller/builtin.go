package controller

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobConditions are the [OwnConditions] of tasks that are Jobs. A Job's
// conditions have no observedGeneration.
func JobConditions() OwnConditions[*batchv1.Job] {
	is := func(conditionType string) func(batchv1.JobCondition) bool {
		return func(c batchv1.JobCondition) bool { return string(c.Type) == conditionType }
	}
	return OwnConditions[*batchv1.Job]{
		Find: func(job *batchv1.Job, conditionType string) *metav1.Condition {
			i := slices.IndexFunc(job.Status.Conditions, is(conditionType))
			if i < 0 {
				return nil
			}
			c := &job.Status.Conditions[i]
			return &metav1.Condition{
				Type: conditionType, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
				LastTransitionTime: c.LastTransitionTime,
			}
		},
		Set: func(job *batchv1.Job, conditionType string, condition *metav1.Condition) {
			if condition == nil {
				job.Status.Conditions = slices.DeleteFunc(job.Status.Conditions, is(conditionType))
				return
			}
			job.Status.Conditions = put(job.Status.Conditions, is(conditionType), batchv1.JobCondition{
				Type: batchv1.JobConditionType(conditionType), Status: corev1.ConditionStatus(condition.Status),
				Reason: condition.Reason, Message: condition.Message, LastTransitionTime: condition.LastTransitionTime,
			})
		},
	}
}

// PodConditions are the [OwnConditions] of tasks that are Pods. A Pod waits by
// means of a scheduling gate, which its controller takes off.
func PodConditions() OwnConditions[*corev1.Pod] {
	is := func(conditionType string) func(corev1.PodCondition) bool {
		return func(c corev1.PodCondition) bool { return string(c.Type) == conditionType }
	}
	return OwnConditions[*corev1.Pod]{
		Find: func(pod *corev1.Pod, conditionType string) *metav1.Condition {
			i := slices.IndexFunc(pod.Status.Conditions, is(conditionType))
			if i < 0 {
				return nil
			}
			c := &pod.Status.Conditions[i]
			return &metav1.Condition{
				Type: conditionType, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
				LastTransitionTime: c.LastTransitionTime, ObservedGeneration: c.ObservedGeneration,
			}
		},
		Set: func(pod *corev1.Pod, conditionType string, condition *metav1.Condition) {
			if condition == nil {
				pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, is(conditionType))
				return
			}
			pod.Status.Conditions = put(pod.Status.Conditions, is(conditionType), corev1.PodCondition{
				Type: corev1.PodConditionType(conditionType), Status: corev1.ConditionStatus(condition.Status),
				Reason: condition.Reason, Message: condition.Message,
				LastTransitionTime: condition.LastTransitionTime, ObservedGeneration: condition.ObservedGeneration,
			})
		},
	}
}

// put puts an element in the place of the one that is meant, or at the end.
func put[E any](list []E, meant func(E) bool, element E) []E {
	if i := slices.IndexFunc(list, meant); i >= 0 {
		list[i] = element
		return list
	}
	return append(list, element)
}
