package podspec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// A LimitRange fills in what containers and init containers leave open, one LimitRange after the other, each only what is
// still absent. What it fills in for a container is
//
//   - as limit: its default, or else its max;
//   - as request: its defaultRequest, or else that limit, or else its min.
//
// So a LimitRange with a max and nothing else hands the max to every container that asked for nothing, GPUs included. An
// item of type Pod fills in nothing.

// containerDefaults are what one LimitRange fills in. A LimitRange that was read from a server has these defaults written
// out already, one from a file may not have.
func containerDefaults(limits *corev1.LimitRange) (requests, limit corev1.ResourceList) {
	for i := range limits.Spec.Limits {
		item := &limits.Spec.Limits[i]
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		own, ownRequests := roundedCopy(item.Default), roundedCopy(item.DefaultRequest)
		fallback(&own, rounded(item.Max))
		fallback(&ownRequests, own)
		fallback(&ownRequests, rounded(item.Min))
		limit, requests = own, ownRequests // there is at most one item of a type
	}
	return requests, limit
}

// fallback fills in what a list lacks.
func fallback(list *corev1.ResourceList, from corev1.ResourceList) {
	for name, quantity := range from {
		if _, ok := (*list)[name]; !ok {
			put(list, name, quantity)
		}
	}
}

// fillFrom applies one LimitRange to a pod and tells what it filled in, in the order of containers and resources.
func fillFrom(limits *corev1.LimitRange, spec *corev1.PodSpec) []Masking {
	requests, limit := containerDefaults(limits)
	requestNames, limitNames := sortedNames(requests), sortedNames(limit)
	var masked []Masking
	fill := func(container *corev1.Container, init bool) {
		note := func(field string, list *corev1.ResourceList, from corev1.ResourceList, names []corev1.ResourceName) {
			for _, name := range names {
				if _, ok := (*list)[name]; !ok {
					put(list, name, from[name])
					masked = append(masked, Masking{LimitRange: limits.Name, Container: container.Name, Init: init, Field: field, Resource: name, Value: from[name]})
				}
			}
		}
		note("limits", &container.Resources.Limits, limit, limitNames)
		note("requests", &container.Resources.Requests, requests, requestNames)
	}
	for i := range spec.Containers {
		fill(&spec.Containers[i], false)
	}
	for i := range spec.InitContainers {
		fill(&spec.InitContainers[i], true)
	}
	return masked
}

// orders gives the orders of LimitRanges that have to be looked at: one if no two of them fill in the same resource
// differently, all of them for up to four LimitRanges, and for more the rotations of the list and of its reverse, so that
// each one comes first and last. The API server keeps them in a map and takes them as they come.
func orders(ranges []corev1.LimitRange) (list [][]*corev1.LimitRange, all bool) {
	base := make([]*corev1.LimitRange, len(ranges))
	for i := range ranges {
		base[i] = &ranges[i]
	}
	switch {
	case len(base) < 2 || !contradict(base):
		return [][]*corev1.LimitRange{base}, true
	case len(base) <= maxPermuted:
		return permutations(base), true
	}
	for _, start := range [][]*corev1.LimitRange{base, reversed(base)} {
		for i := range start {
			list = append(list, append(slices.Clone(start[i:]), start[:i]...))
		}
	}
	return list, false
}

// maxPermuted bounds the orders that are looked at to 24.
const maxPermuted = 4

// contradict says whether the order of filling in can matter: two LimitRanges give the same field different amounts.
func contradict(ranges []*corev1.LimitRange) bool {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	clash := func(known, own corev1.ResourceList) bool {
		for name, quantity := range own {
			if had, ok := known[name]; ok && had.Cmp(quantity) != 0 {
				return true
			}
			known[name] = quantity
		}
		return false
	}
	for _, item := range ranges {
		ownRequests, own := containerDefaults(item)
		if clash(requests, ownRequests) || clash(limits, own) {
			return true
		}
	}
	return false
}

func permutations(list []*corev1.LimitRange) [][]*corev1.LimitRange {
	if len(list) <= 1 {
		return [][]*corev1.LimitRange{list}
	}
	var all [][]*corev1.LimitRange
	for i, first := range list {
		rest := append(slices.Clone(list[:i]), list[i+1:]...)
		for _, tail := range permutations(rest) {
			all = append(all, append([]*corev1.LimitRange{first}, tail...))
		}
	}
	return all
}

func reversed(list []*corev1.LimitRange) []*corev1.LimitRange {
	turned := slices.Clone(list)
	slices.Reverse(turned)
	return turned
}

// maskings turns what was filled in into findings: refusals in strict mode, warnings otherwise.
func maskings(masked []Masking, strict bool) []Finding {
	findings := make([]Finding, 0, len(masked))
	for _, mask := range masked {
		value := mask.Value.DeepCopy()
		severity := Warns
		if strict {
			severity = Refuses
		}
		findings = append(findings, Finding{
			Stage: StageLimitRange, Category: CategoryLimitRange, Severity: severity, Object: "LimitRange " + mask.LimitRange,
			Container: mask.Container, Resource: mask.Resource, Field: mask.Field, Bound: &value, Retry: RetryNever,
			Message: fmt.Sprintf("container %s declares no %s.%s and gets %s from LimitRange %s", mask.Container, mask.Field, mask.Resource, value.String(), mask.LimitRange),
			Remedy:  "declare what it needs",
		})
	}
	return findings
}
