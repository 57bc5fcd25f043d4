package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Existing says what becomes of amounts that a container has already.
type Existing int

const (
	// KeepExisting fills in only what is absent.
	KeepExisting Existing = iota
	// Override replaces amounts of the dimensions that the size sets; other resources stay.
	Override
	// RequireEqual fills in what is absent and refuses amounts that differ (ErrUnequal).
	RequireEqual
)

// Rule says how the containers of a kind are sized that have no size of their own in the plan.
type Rule int

const (
	// RuleDefault is CopyMain for plain init containers, NeedSize for sidecars and further containers.
	RuleDefault Rule = iota
	// CopyMain gives the container the resources of the main container.
	CopyMain
	// NeedSize refuses the pod (ErrContainer) unless the container is complete as it stands.
	NeedSize
	// LeaveAlone changes nothing in the container.
	LeaveAlone
)

// PodLevel says what to size in a pod whose spec has resources of its own.
type PodLevel int

const (
	// RefusePodLevel refuses such pods with ErrPodLevel.
	RefusePodLevel PodLevel = iota
	// SizeContainers leaves the pod level as it is and sizes the containers.
	SizeContainers
	// SizePod sizes the pod level with cpu, memory and hugepages of the plan's size, sets the rest of the size on the main
	// container, and leaves the other containers to the plan's Containers.
	SizePod
)

// Plan says which container of a pod gets which size. The zero values of its rules are the safe ones.
type Plan struct {
	// Main is the name of the main container; empty if the pod has only one container.
	Main string
	// Size is the size of the main container.
	Size Size
	// Containers are the sizes of other containers by name: further containers, init containers, sidecars.
	Containers map[string]Size
	// Inits is the rule for plain init containers. They run before the main container and one at a time, so that a copy of
	// its resources costs a quota nothing.
	Inits Rule
	// Sidecars is the rule for init containers that are restarted (restartPolicy Always). They run beside the main
	// container, so that a copy of its resources doubles the pod.
	Sidecars Rule
	// Others is the rule for containers beside the main one.
	Others Rule
	// Existing is what becomes of amounts that are there.
	Existing Existing
	// PodLevel is what to do with a pod whose spec has resources of its own.
	PodLevel PodLevel
	// Identity gives the two labels by which the pod is found again; zero sets none.
	Identity Identity
	// Options are those of BuildPodResources, for every size in the plan.
	Options []Option
}

// sizing is what one Apply works with.
type sizing struct {
	plan   Plan
	spec   *corev1.PodSpec
	report *Report
	found  faults
	main   *corev1.Container
}

// choose finds the main container and checks that every name in the plan is in the pod once.
func (s *sizing) choose() {
	seen := map[string]int{}
	each(s.spec, func(container *corev1.Container) { seen[container.Name]++ })
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if seen[name] > 1 {
			s.found.add(fmt.Errorf("%w name %q is in the pod %d times", ErrContainer, clip(name), seen[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.plan.Containers)) {
		if seen[name] == 0 {
			s.found.add(fmt.Errorf("%w %q of the plan is not in the pod, which has %s", ErrContainer, clip(name), s.names()))
		}
		if name == s.plan.Main && name != "" {
			s.found.add(fmt.Errorf("%w %q is the main one and has a size in Plan.Containers too", ErrContainer, clip(name)))
		}
	}
	s.found.add(s.chooseMain())
}

// chooseMain finds the container that is named, or the only one.
func (s *sizing) chooseMain() error {
	if s.plan.Main == "" && len(s.spec.Containers) == 1 {
		s.main = &s.spec.Containers[0]
		return nil
	}
	for i := range s.spec.Containers {
		if s.spec.Containers[i].Name == s.plan.Main && s.plan.Main != "" {
			s.main = &s.spec.Containers[i]
			return nil
		}
	}
	switch {
	case len(s.spec.Containers) == 0:
		return fmt.Errorf("%w: the pod has none", ErrContainer)
	case s.plan.Main == "":
		return fmt.Errorf("%w: the pod has several (%s), say in Plan.Main which is the main one", ErrContainer, s.names())
	}
	return fmt.Errorf("%w %q, the main one of the plan, is not in the pod, which has %s", ErrContainer, clip(s.plan.Main), s.names())
}

// names lists the containers of the pod for an error, the first ten of them.
func (s *sizing) names() string {
	var names []string
	each(s.spec, func(container *corev1.Container) { names = append(names, clip(container.Name)) })
	if len(names) > 10 {
		names = append(names[:10], "…")
	}
	if len(names) == 0 {
		return "no containers"
	}
	return strings.Join(names, ", ")
}

// isSidecar says whether an init container keeps running beside the containers.
func isSidecar(init *corev1.Container) bool {
	return init.RestartPolicy != nil && *init.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// or replaces the default rule.
func (r Rule) or(rule Rule) Rule {
	if r == RuleDefault {
		return rule
	}
	return r
}
