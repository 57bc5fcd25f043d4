package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The API server validates the amounts of a pod after they are complete and before any quota sees them:
//
//   - a resource of a container is cpu, memory, ephemeral-storage, hugepages of a size, or a qualified name outside the
//     domain of Kubernetes (names inside of it are let through); at pod level cpu, memory and hugepages only;
//   - no amount is negative, devices are whole, hugepages are a multiple of their size and come with cpu or memory;
//   - no request exceeds its limit; devices and hugepages have a limit, and it equals the request;
//   - at pod level, requests cover the containers' sums, hugepage limits too, and no container's limit exceeds the pod's.
//
// These are the rules for resources; a pod may be invalid in hundreds of other ways that are not looked at here.

// validate gives the findings of object validation.
func validate(pod *corev1.Pod, minor int) []Finding {
	v := &validity{}
	each(&pod.Spec, func(container *corev1.Container) {
		v.container = container.Name
		v.requirements(&container.Resources, containerName)
	})
	v.container = ""
	if pod.Spec.Overhead != nil {
		v.requirements(&corev1.ResourceRequirements{Limits: pod.Spec.Overhead}, containerName)
	}
	if pod.Spec.Resources != nil && minor >= minorPodLevel {
		v.podLevel(&pod.Spec)
	}
	return v.findings
}

type validity struct {
	container string
	findings  []Finding
}

func (v *validity) add(name corev1.ResourceName, field string, have, bound *resource.Quantity, remedy, message string, arguments ...any) {
	subject := "the pod"
	if v.container != "" {
		subject = "container " + v.container
	}
	v.findings = append(v.findings, Finding{
		Stage: StageValidation, Category: CategoryInvalid, Severity: Refuses, Container: v.container, Resource: name, Field: field,
		Have: have, Bound: bound, Retry: RetryNever, Message: subject + ": " + fmt.Sprintf(message, arguments...), Remedy: remedy,
	})
}

// requirements checks one set of amounts.
func (v *validity) requirements(r *corev1.ResourceRequirements, allowed func(corev1.ResourceName) bool) {
	compute, pages := false, false
	list := func(field string, amounts corev1.ResourceList) {
		var place [few]corev1.ResourceName
		for _, name := range appendNames(place[:0], amounts) {
			v.amount(name, field, amounts[name], allowed)
			compute = compute || computeResource(name)
			pages = pages || isHugepages(name)
		}
	}
	list("limits", r.Limits)
	list("requests", r.Requests)
	var place [few]corev1.ResourceName
	for _, name := range appendNames(place[:0], r.Requests) {
		v.order(name, figuresOf(r.Requests, r.Limits, name))
	}
	if pages && !compute {
		v.add("", "", nil, nil, "declare cpu or memory too", "hugepages need cpu or memory beside them")
	}
}

// amount checks one amount by itself.
func (v *validity) amount(name corev1.ResourceName, field string, quantity resource.Quantity, allowed func(corev1.ResourceName) bool) {
	if !allowed(name) {
		v.add(name, field, new(quantity), nil, "use cpu, memory, ephemeral-storage, hugepages of a size, or the qualified name of a device", "%q in %s is not a resource that can be requested there", clip(string(name)), field)
	}
	if quantity.Sign() < 0 {
		v.add(name, field, new(quantity), nil, "", "%s.%s is negative: %s", field, name, quantity.String())
	}
	if extendedResource(name) && quantity.MilliValue()%1000 != 0 {
		v.add(name, field, new(quantity), nil, "ask for whole devices", "%s.%s is not a whole number: %s", field, name, quantity.String())
	}
	if isHugepages(name) && !wholePages(name, quantity) {
		v.add(name, field, new(quantity), nil, "ask for a multiple of the page size", "%s.%s is no multiple of the page size: %s", field, name, quantity.String())
	}
}

// order checks a request against its limit.
func (v *validity) order(name corev1.ResourceName, p figures) {
	switch {
	case !p.limited && !overcommittable(name):
		v.add(name, "limits", nil, new(p.request), "set the limit to the request", "requests %s of %s and has no limit, which devices and hugepages need", p.request.String(), name)
	case !p.limited:
	case p.request.Cmp(p.limit) != 0 && !overcommittable(name):
		v.add(name, "requests", new(p.request), new(p.limit), "set both to the same amount", "requests %s of %s and has a limit of %s, which must be equal for devices and hugepages", p.request.String(), name, p.limit.String())
	case p.request.Cmp(p.limit) > 0:
		v.add(name, "requests", new(p.request), new(p.limit), "set a limit of "+p.request.String()+" or more, or lower the request", "requests %s of %s, more than the limit of %s", p.request.String(), name, p.limit.String())
	}
}

// podLevel checks the amounts at pod level, by themselves and against the containers.
func (v *validity) podLevel(spec *corev1.PodSpec) {
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		v.add("", "", nil, nil, "size the containers", "pod-level resources are not allowed for Windows")
		return
	}
	if spec.Resources.Claims != nil {
		v.add("", "", nil, nil, "name the claims in the containers", "pod-level resources cannot have claims")
	}
	v.requirements(spec.Resources, podLevelName)
	v.covers(spec.Resources.Requests, containerTotal(spec, requestsOf), "requests", func(corev1.ResourceName) bool { return true })
	v.covers(spec.Resources.Limits, containerTotal(spec, limitsOf), "limits", isHugepages)
	for i := range spec.Containers {
		container := &spec.Containers[i]
		for _, name := range sortedNames(container.Resources.Limits) {
			limit, most := container.Resources.Limits[name], spec.Resources.Limits[name]
			if _, ok := spec.Resources.Limits[name]; ok && limit.Cmp(most) > 0 {
				v.add(name, "limits", &limit, &most, "raise the pod's limit or lower the container's", "container %s has a limit of %s of %s, more than the pod's %s", container.Name, limit.String(), name, most.String())
			}
		}
	}
}

// covers checks that amounts at pod level are as large as the containers' sums.
func (v *validity) covers(level, total corev1.ResourceList, field string, which func(corev1.ResourceName) bool) {
	for _, name := range sortedNames(total) {
		sum, own := total[name], level[name]
		if _, ok := level[name]; ok && which(name) && sum.Cmp(own) > 0 {
			v.add(name, field, &own, &sum, "raise the pod's "+field+" to "+sum.String(), "pod-level %s of %s are %s, less than the %s of its containers", field, name, own.String(), sum.String())
		}
	}
}

// containerName says whether the API server lets a container name a resource.
func containerName(name corev1.ResourceName) bool {
	if computeResource(name) || name == corev1.ResourceEphemeralStorage {
		return true
	}
	if len(validation.IsQualifiedName(string(name))) > 0 {
		return false
	}
	if !strings.Contains(string(name), "/") {
		return isHugepages(name)
	}
	return nativeResource(name) || extendedResource(name)
}

func podLevelName(name corev1.ResourceName) bool {
	return len(validation.IsQualifiedName(string(name))) == 0 && !strings.Contains(string(name), "/") && podLevelResourceName(name)
}

// nativeResource says whether a name belongs to Kubernetes: one without a domain, or with one of its own.
func nativeResource(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// extendedResource says whether a name is that of an extended resource: not native, not in the form that quotas use, and
// still a qualified name in that form.
func extendedResource(name corev1.ResourceName) bool {
	if nativeResource(name) || strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) {
		return false
	}
	return len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// overcommittable says whether limits of a resource may exceed requests.
func overcommittable(name corev1.ResourceName) bool {
	return nativeResource(name) && !isHugepages(name)
}

// wholePages says whether an amount is a multiple of the page size that its name tells.
func wholePages(name corev1.ResourceName, quantity resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 {
		return false
	}
	return quantity.Value()%size.Value() == 0
}
