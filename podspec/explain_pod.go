package podspec

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ExplainPod explains why a pod that was accepted does not run, or stopped running: one diagnosis for each thing that is
// wrong, those of the whole pod before those of its containers. Events are those that concern the pod; they are only used
// where its status says nothing, and may be nil. A pod with nothing wrong gives nil.
func ExplainPod(pod *corev1.Pod, events []corev1.Event) []Diagnosis {
	if pod == nil {
		return nil
	}
	var found []Diagnosis
	if scheduling, ok := explainScheduling(pod, events); ok {
		found = append(found, scheduling)
	}
	if ended, ok := explainReason(pod); ok {
		found = append(found, ended)
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			found = append(found, explainContainer(pod, &list[i])...)
		}
	}
	return found
}

// explainScheduling reads the scheduler's condition, or its last event.
func explainScheduling(pod *corev1.Pod, events []corev1.Event) (Diagnosis, bool) {
	if pod.Spec.NodeName != "" {
		return Diagnosis{}, false
	}
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type != corev1.PodScheduled || condition.Status == corev1.ConditionTrue {
			continue
		}
		switch condition.Reason {
		case corev1.PodReasonSchedulingGated:
			d := Diagnosis{Original: condition.Message, Reasons: gates(pod)}
			d.set(CategorySchedulingGated, "scheduling gates hold the pod back: "+strings.Join(d.Reasons, ", "), "have their owner remove them")
			return d, true
		case corev1.PodReasonUnschedulable:
			return unschedulable(condition.Message), true
		}
	}
	last := -1
	for i := range events {
		if events[i].Reason == "FailedScheduling" && (last < 0 || !events[i].LastTimestamp.Before(&events[last].LastTimestamp)) {
			last = i
		}
	}
	if last < 0 {
		return Diagnosis{}, false
	}
	return unschedulable(events[last].Message), true
}

func gates(pod *corev1.Pod) []string {
	names := make([]string, 0, len(pod.Spec.SchedulingGates))
	for _, gate := range pod.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	return names
}

// The scheduler's message begins with how many nodes there are and lists how many of them fell to which reason. Reasons
// change from version to version, so that only their counts are relied on; what follows the first full stop is about
// preemption.
var (
	nodesShape  = regexp.MustCompile(`^\s*0/(\d+) nodes are available: `)
	clauseShape = regexp.MustCompile(`^(\d+) (.+)$`)
)

func unschedulable(message string) Diagnosis {
	d := Diagnosis{Original: message}
	text := message
	nodes := "no"
	if match := nodesShape.FindStringSubmatch(message); match != nil {
		nodes = "none of " + match[1]
		text = message[len(match[0]):]
	}
	text, _, _ = strings.Cut(text, " preemption: ")
	text = strings.TrimSuffix(strings.TrimSpace(text), ".")
	for _, clause := range braced(text) {
		d.Reasons = append(d.Reasons, clause)
		match := clauseShape.FindStringSubmatch(clause)
		if match == nil {
			continue
		}
		count, err := strconv.Atoi(match[1])
		if err != nil {
			continue
		}
		if name, ok := strings.CutPrefix(match[2], "Insufficient "); ok {
			d.Figures = append(d.Figures, Figure{Resource: corev1.ResourceName(name), Count: count})
		} else if match[2] == "Too many pods" {
			d.Figures = append(d.Figures, Figure{Resource: corev1.ResourcePods, Count: count})
		}
	}
	remedy := "look at the taints, selectors and affinities that are named"
	if len(d.Figures) > 0 {
		remedy = "ask for less, wait until other pods end, or add nodes"
	}
	d.set(CategoryUnschedulable, nodes+" nodes take the pod: "+text, remedy)
	return d
}

// braced splits a list at its commas, except inside braces, where the scheduler prints taints.
func braced(text string) []string {
	var list []string
	depth, start := 0, 0
	for i := range len(text) {
		switch {
		case text[i] == '{':
			depth++
		case text[i] == '}':
			depth--
		case text[i] == ',' && depth <= 0:
			list = append(list, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" {
		list = append(list, rest)
	}
	return list
}

// explainReason reads the reason of a pod that the node refused or pushed out.
func explainReason(pod *corev1.Pod) (Diagnosis, bool) {
	d := Diagnosis{Original: pod.Status.Message}
	if name, ok := strings.CutPrefix(pod.Status.Reason, "OutOf"); ok && pod.Status.Phase == corev1.PodFailed {
		d.Figures = []Figure{{Resource: corev1.ResourceName(name)}}
		d.set(CategoryOutOfResource, "the node had no "+name+" left when the pod arrived: "+pod.Status.Message, "create the pod again; the scheduler and the node disagreed for a moment")
		d.Retry = RetryBackoff
		return d, true
	}
	if pod.Status.Reason == "Evicted" {
		d.set(CategoryEvicted, "the node pushed the pod out: "+pod.Status.Message, "declare what the pod needs, so that it is not the first to go, and create it again")
		return d, true
	}
	return Diagnosis{}, false
}

// explainContainer reads the states of one container.
func explainContainer(pod *corev1.Pod, status *corev1.ContainerStatus) []Diagnosis {
	var found []Diagnosis
	if waiting := status.State.Waiting; waiting != nil {
		if d, ok := explainWaiting(status.Name, waiting); ok {
			found = append(found, d)
		}
	}
	ended := status.State.Terminated
	if ended == nil {
		ended = status.LastTerminationState.Terminated
	}
	if ended == nil {
		return found
	}
	d := Diagnosis{Containers: []string{status.Name}, Original: ended.Message}
	switch {
	case ended.Reason == "OOMKilled":
		outOfMemory(pod, status, &d)
	case ended.ExitCode == 137:
		d.set(CategoryKilled, "container "+status.Name+" was killed (exit code 137) and its status does not say by whom", "a process may have run out of memory inside, or a probe or a deletion killed it: look at its last output and at the node")
	default:
		return found
	}
	return append(found, d)
}

// outOfMemory explains a container that ran out of memory, with its limit and the next size to try.
func outOfMemory(pod *corev1.Pod, status *corev1.ContainerStatus, d *Diagnosis) {
	message := "container " + status.Name + " used more memory than it may (OOMKilled)"
	var remedy string
	limit, ok := memoryLimit(pod, status)
	if !ok {
		message = "container " + status.Name + " was killed for want of memory (OOMKilled), and has no limit of its own: the node or the pod's limit ran out"
		remedy = "declare what it needs"
	} else {
		next := scale(corev1.ResourceMemory, limit, big.NewRat(3, 2))
		d.Figures = []Figure{{Container: status.Name, Resource: corev1.ResourceMemory, Field: "limits", Need: &next, Bound: &limit}}
		message += ", which is " + limit.String()
		remedy = fmt.Sprintf("give it more memory, %s next", next.String())
	}
	d.set(CategoryOOMKilled, message, remedy)
}

// explainWaiting reads why a container does not start.
func explainWaiting(name string, waiting *corev1.ContainerStateWaiting) (Diagnosis, bool) {
	d := Diagnosis{Containers: []string{name}, Original: waiting.Message}
	switch {
	case waiting.Reason == "CreateContainerConfigError" && strings.Contains(waiting.Message, "non-numeric user"):
		d.set(CategoryRunAsNonRoot, "the image of container "+name+" names its user by name, so that nobody can tell whether it is root", "set runAsUser to the user's number, or have the image name it by number")
	case waiting.Reason == "CreateContainerConfigError" && strings.Contains(waiting.Message, "runAsNonRoot"):
		d.set(CategoryRunAsNonRoot, "container "+name+" may not run as root, and its image would", "set runAsUser to another user, or change the image")
	case waiting.Reason == "CreateContainerConfigError" || waiting.Reason == "CreateContainerError":
		d.set(CategoryContainerConfig, "container "+name+" cannot be created: "+waiting.Message, "correct what is named")
	case slices.Contains([]string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}, waiting.Reason):
		d.set(CategoryImagePull, "the image of container "+name+" cannot be pulled: "+waiting.Message, "check its name and the pull secrets")
	default:
		return Diagnosis{}, false
	}
	return d, true
}
