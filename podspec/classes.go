package podspec

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// setPriority does what the Priority plugin does to a new pod: it fills in the cluster's default class (the one with the
// lowest value, should there be several), and refuses a class that does not exist and a priority or preemption policy that
// contradicts the class.
func setPriority(pod *corev1.Pod, classes Part[[]schedulingv1.PriorityClass]) []Finding {
	refuse := func(severity Severity, name, message string) []Finding {
		return []Finding{{Stage: StagePriority, Category: CategoryPriorityClass, Severity: severity, Object: "PriorityClass " + name, Retry: RetryNever, Message: message, Remedy: "name a class that exists, and leave priority and preemptionPolicy to it"}}
	}
	spec := &pod.Spec
	if !classes.Known {
		if spec.PriorityClassName != "" {
			return refuse(Undecided, spec.PriorityClassName, fmt.Sprintf("whether priority class %q exists is not known (%s)", spec.PriorityClassName, classes.Reason))
		}
		return nil
	}
	class := pickClass(spec.PriorityClassName, classes.Value)
	if class == nil && spec.PriorityClassName != "" {
		return refuse(Refuses, spec.PriorityClassName, fmt.Sprintf("priority class %q does not exist", spec.PriorityClassName))
	}
	priority, policy := int32(0), corev1.PreemptLowerPriority
	givenPolicy := &policy
	if class != nil {
		spec.PriorityClassName, priority, givenPolicy = class.Name, class.Value, class.PreemptionPolicy
	}
	if spec.Priority != nil && *spec.Priority != priority {
		return refuse(Refuses, spec.PriorityClassName, fmt.Sprintf("the pod's priority %d is not the %d of its class", *spec.Priority, priority))
	}
	spec.Priority = &priority
	if givenPolicy == nil {
		return nil
	}
	if spec.PreemptionPolicy != nil && *spec.PreemptionPolicy != *givenPolicy {
		return refuse(Refuses, spec.PriorityClassName, fmt.Sprintf("the pod's preemption policy %q is not the %q of its class", *spec.PreemptionPolicy, *givenPolicy))
	}
	policy = *givenPolicy
	spec.PreemptionPolicy = &policy
	return nil
}

// pickClass finds the named class, or the default one where none is named.
func pickClass(name string, classes []schedulingv1.PriorityClass) *schedulingv1.PriorityClass {
	var picked *schedulingv1.PriorityClass
	for i := range classes {
		class := &classes[i]
		switch {
		case name != "" && class.Name == name:
			return class
		case name == "" && class.GlobalDefault && (picked == nil || class.Value < picked.Value):
			picked = class
		}
	}
	return picked
}

// setRuntimeClass does what the RuntimeClass plugin does to a new pod: it sets the overhead of the class and adds its node
// selector and tolerations, and refuses a class that does not exist and what contradicts it. It gives the overhead check
// too, which the server does after all validation: overhead may only come from a class.
func setRuntimeClass(pod *corev1.Pod, classes Part[[]nodev1.RuntimeClass]) (now, later []Finding) {
	spec := &pod.Spec
	if spec.RuntimeClassName == nil {
		return nil, checkOverhead(spec, nil)
	}
	name := *spec.RuntimeClassName
	finding := func(severity Severity, message string) []Finding {
		return []Finding{{Stage: StageRuntimeClass, Category: CategoryRuntimeClass, Severity: severity, Object: "RuntimeClass " + name, Retry: RetryNever, Message: message, Remedy: "name a class that exists, and leave the overhead to it"}}
	}
	if !classes.Known {
		return finding(Undecided, fmt.Sprintf("whether runtime class %q exists is not known (%s)", name, classes.Reason)), nil
	}
	at := slices.IndexFunc(classes.Value, func(class nodev1.RuntimeClass) bool { return class.Name == name })
	if at < 0 {
		return finding(Refuses, fmt.Sprintf("runtime class %q does not exist", name)), nil
	}
	class := &classes.Value[at]
	if class.Overhead != nil {
		if len(spec.Overhead) > 0 && !sameAmounts(class.Overhead.PodFixed, spec.Overhead) {
			return finding(Refuses, fmt.Sprintf("the pod's overhead is not that of runtime class %q", name)), nil
		}
		spec.Overhead = class.Overhead.PodFixed.DeepCopy()
	}
	if class.Scheduling == nil {
		return nil, checkOverhead(spec, class)
	}
	for _, key := range slices.Sorted(maps.Keys(class.Scheduling.NodeSelector)) {
		want := class.Scheduling.NodeSelector[key]
		if had, ok := spec.NodeSelector[key]; ok && had != want {
			return finding(Refuses, fmt.Sprintf("the pod's node selector %s=%s contradicts the %s of runtime class %q", key, had, want, name)), nil
		}
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[key] = want
	}
	addTolerations(spec, class.Scheduling.Tolerations)
	return nil, checkOverhead(spec, class)
}

// addTolerations adds those that the pod does not have word for word.
func addTolerations(spec *corev1.PodSpec, more []corev1.Toleration) {
	for i := range more {
		if !slices.ContainsFunc(spec.Tolerations, func(had corev1.Toleration) bool { return had.MatchToleration(&more[i]) }) {
			spec.Tolerations = append(spec.Tolerations, *more[i].DeepCopy())
		}
	}
}

// checkOverhead refuses overhead that no class gave.
func checkOverhead(spec *corev1.PodSpec, class *nodev1.RuntimeClass) []Finding {
	if class != nil && class.Overhead != nil || spec.Overhead == nil {
		return nil
	}
	return []Finding{{Stage: StageOverhead, Category: CategoryRuntimeClass, Severity: Refuses, Retry: RetryNever,
		Message: "the pod has an overhead, and no runtime class that defines one", Remedy: "remove spec.overhead; a runtime class sets it"}}
}

func sameAmounts(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, quantity := range a {
		if other, ok := b[name]; !ok || quantity.Cmp(other) != 0 {
			return false
		}
	}
	return true
}
