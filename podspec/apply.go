package podspec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Apply sizes a pod by a plan. It returns a copy; the pod that it is given is never changed. Only resource amounts and
// the two labels of the plan's Identity differ in the copy: amounts of resources that no size names, claims, env, mounts
// and everything else are as they were. Applying the same plan to the result changes nothing.
//
// The main container gets Plan.Size. The other containers get their size in Plan.Containers, or what the rule for their
// kind says. Where a container has amounts already, Plan.Existing decides; a lone limit counts as its own request, as it
// does to the API server, and a lone request gets the larger of itself and the size as its limit. All faults are reported
// at once, and then there is no copy.
//
// A negative amount (ErrNegative) and a request above its limit are always faults, because the API server refuses the pod for
// them. A limit of zero it takes: to a quota that counts as declared, though it reserves nothing, and the container runs
// without that limit and in class BestEffort. So a zero that stays where a size is due is an ErrZero, unless WithZero says what it
// means: with ZeroUnset it is filled in like an absent amount, with ZeroExplicit it stays.
func Apply(pod *corev1.Pod, plan Plan) (*corev1.Pod, Report, error) {
	if pod == nil {
		return nil, Report{}, fmt.Errorf("%w: the pod is nil", ErrOption)
	}
	sized := pod.DeepCopy()
	report, err := apply(&sized.ObjectMeta, &sized.Spec, plan)
	if err != nil {
		return nil, Report{}, err
	}
	return sized, report, nil
}

// ApplyTemplate is Apply for the pods that a Job, Deployment or other controller makes.
func ApplyTemplate(template *corev1.PodTemplateSpec, plan Plan) (*corev1.PodTemplateSpec, Report, error) {
	if template == nil {
		return nil, Report{}, fmt.Errorf("%w: the pod template is nil", ErrOption)
	}
	sized := template.DeepCopy()
	report, err := apply(&sized.ObjectMeta, &sized.Spec, plan)
	if err != nil {
		return nil, Report{}, err
	}
	return sized, report, nil
}

// apply works on a copy that is thrown away if it fails.
func apply(meta *metav1.ObjectMeta, spec *corev1.PodSpec, plan Plan) (Report, error) {
	var report Report
	s := &sizing{plan: plan, spec: spec, report: &report}
	s.found.add(plan.Identity.validate())
	s.choose()
	podLevel := hasResources(spec.Resources)
	if podLevel && plan.PodLevel == RefusePodLevel {
		s.found.add(fmt.Errorf("%w: say in Plan.PodLevel whether to size the pod or its containers", ErrPodLevel))
	}
	s.found = append(s.found, newBuilder(plan.Options).misused...)
	meta.Labels = plan.Identity.label(meta.Labels, &report)
	if podLevel && plan.PodLevel == SizePod {
		s.sizePod()
	} else {
		s.sizeContainers()
	}
	return report, s.found.err()
}

func hasResources(resources *corev1.ResourceRequirements) bool {
	return resources != nil && len(resources.Requests)+len(resources.Limits) > 0
}

// sizeContainers sizes the main container, then the others, which may copy it. Where the main one is not known or has faults,
// there is nothing to copy, and the others are looked at all the same.
func (s *sizing) sizeContainers() {
	var copied corev1.ResourceRequirements
	if s.main != nil {
		before := len(s.found)
		s.own(s.main, "spec.containers", s.plan.Size)
		if len(s.found) == before {
			copied = *s.main.Resources.DeepCopy()
		}
	}
	for i := range s.spec.Containers {
		if container := &s.spec.Containers[i]; container != s.main {
			s.other(container, "spec.containers", s.plan.Others.or(NeedSize), copied)
		}
	}
	for i := range s.spec.InitContainers {
		init, rule := &s.spec.InitContainers[i], s.plan.Inits.or(CopyMain)
		if isSidecar(init) {
			rule = s.plan.Sidecars.or(NeedSize)
		}
		s.other(init, "spec.initContainers", rule, copied)
	}
}

// sizePod sizes the pod level; containers get only what the pod level cannot hold and what the plan names.
func (s *sizing) sizePod() {
	level, rest := Size{amounts: map[corev1.ResourceName]Amount{}}, Size{amounts: map[corev1.ResourceName]Amount{}}
	for name, amount := range s.plan.Size.amounts {
		if podLevelResource(name) {
			level.amounts[name] = amount
		} else {
			rest.amounts[name] = amount
		}
	}
	builder := newBuilder(s.plan.Options)
	builder.required = slices.DeleteFunc(builder.required, func(name corev1.ResourceName) bool { return !podLevelResource(name) })
	s.fill(target{path: "spec.resources", resources: s.spec.Resources}, builder, builder.build(level), level)
	if s.main != nil {
		s.part(s.main, "spec.containers", rest)
	}
	for i := range s.spec.Containers {
		s.part(&s.spec.Containers[i], "spec.containers", s.plan.Containers[s.spec.Containers[i].Name])
	}
	for i := range s.spec.InitContainers {
		s.part(&s.spec.InitContainers[i], "spec.initContainers", s.plan.Containers[s.spec.InitContainers[i].Name])
	}
}

// part sets what a size has on a container that need not be complete, because the pod level is.
func (s *sizing) part(container *corev1.Container, list string, size Size) {
	if size.IsZero() {
		return
	}
	builder := newBuilder(s.plan.Options)
	builder.required = nil
	s.fill(at(list, container), builder, builder.build(size), size)
}

// podLevelResource says whether the resources of a pod's spec can hold a resource.
func podLevelResource(name corev1.ResourceName) bool {
	_, paged := pageSize(name)
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || paged
}

// own gives a container a size of its own.
func (s *sizing) own(container *corev1.Container, list string, size Size) {
	builder := newBuilder(s.plan.Options)
	s.fill(at(list, container), builder, builder.build(size), size)
}

// other sizes a container that is not the main one.
func (s *sizing) other(container *corev1.Container, list string, rule Rule, main corev1.ResourceRequirements) {
	if size, named := s.plan.Containers[container.Name]; named {
		s.own(container, list, size)
		return
	}
	builder, t := newBuilder(s.plan.Options), at(list, container)
	if s.main == nil {
		rule = LeaveAlone // any of them may be the main one
	}
	switch rule {
	case CopyMain:
		if len(main.Requests)+len(main.Limits) == 0 {
			builder.required = nil // the fault, if it is one, is the main container's
		}
		s.fill(t, builder, main, Size{})
	case NeedSize:
		s.sound(t, builder, resourceNames(container.Resources)...)
		if builder.complete("", container.Resources) != nil {
			s.found.add(fmt.Errorf("%w %q runs beside the main one and has no size of its own; give it one in Plan.Containers, or change the plan's rule for its kind", ErrContainer, clip(container.Name)))
		}
	case LeaveAlone, RuleDefault:
		builder.zero = ZeroExplicit
		s.sound(t, builder, resourceNames(container.Resources)...)
	}
}
