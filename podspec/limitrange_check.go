package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// After the pod is complete, a LimitRange holds it to its bounds: an item of type Container each container and init
// container, an item of type Pod the sums, which know of the pod level for cpu and memory only and of no overhead.
//
//   - min: a request has to be there, and neither it nor the limit may be smaller;
//   - max: a limit has to be there, and neither it nor the request may be larger;
//   - maxLimitRequestRatio: both have to be there and not be zero, and limit divided by request may not be larger.
//
// Amounts are compared in thousandths where they are small enough for that, in whole units otherwise, each rounded up.

// bounded is what is held to the bounds of one item.
type bounded struct {
	object    string // "LimitRange limits"
	container string // empty for the pod's sums
	requests  corev1.ResourceList
	limits    corev1.ResourceList
}

// checkLimitRange gives the findings of one LimitRange.
func checkLimitRange(limits *corev1.LimitRange, spec *corev1.PodSpec) []Finding {
	var findings []Finding
	object := "LimitRange " + limits.Name
	for i := range limits.Spec.Limits {
		item := &limits.Spec.Limits[i]
		switch item.Type {
		case corev1.LimitTypeContainer:
			each(spec, func(container *corev1.Container) {
				findings = append(findings, bounded{object, container.Name, container.Resources.Requests, container.Resources.Limits}.check(item)...)
			})
		case corev1.LimitTypePod:
			requests, sums := containerTotal(spec, requestsOf), containerTotal(spec, limitsOf)
			overlay(requests, level(spec).Requests, computeResource)
			overlay(sums, level(spec).Limits, computeResource)
			findings = append(findings, bounded{object, "", requests, sums}.check(item)...)
		}
	}
	return findings
}

func (b bounded) check(item *corev1.LimitRangeItem) []Finding {
	var findings []Finding
	each := func(list corev1.ResourceList, check func(corev1.ResourceName, resource.Quantity) *Finding) {
		bounds := rounded(list)
		var place [few]corev1.ResourceName
		for _, name := range appendNames(place[:0], bounds) {
			if finding := check(name, bounds[name]); finding != nil {
				findings = append(findings, *finding)
			}
		}
	}
	each(item.Min, b.checkMin)
	each(item.Max, b.checkMax)
	each(item.MaxLimitRequestRatio, b.checkRatio)
	return findings
}

func (b bounded) checkMin(name corev1.ResourceName, least resource.Quantity) *Finding {
	p := b.pair(name)
	switch {
	case !p.requested:
		return b.finding(name, "requests", nil, least, "has no request for %[2]s, of which the minimum is %[3]s", "set a request of %[3]s or more")
	case comparable3(p, least, func(request, _, bound int64) bool { return request < bound }):
		return b.finding(name, "requests", new(p.request), least, "requests %[1]s of %[2]s, less than the minimum of %[3]s", "raise the request to %[3]s")
	case p.limited && comparable3(p, least, func(_, limit, bound int64) bool { return limit < bound }):
		return b.finding(name, "limits", new(p.limit), least, "has a limit of %[1]s of %[2]s, less than the minimum of %[3]s", "raise the limit to %[3]s")
	}
	return nil
}

func (b bounded) checkMax(name corev1.ResourceName, most resource.Quantity) *Finding {
	p := b.pair(name)
	switch {
	case !p.limited:
		return b.finding(name, "limits", nil, most, "has no limit for %[2]s, of which the maximum is %[3]s", "set a limit of %[3]s or less")
	case comparable3(p, most, func(_, limit, bound int64) bool { return limit > bound }):
		return b.finding(name, "limits", new(p.limit), most, "has a limit of %[1]s of %[2]s, more than the maximum of %[3]s", "lower the limit to %[3]s")
	case p.requested && comparable3(p, most, func(request, _, bound int64) bool { return request > bound }):
		return b.finding(name, "requests", new(p.request), most, "requests %[1]s of %[2]s, more than the maximum of %[3]s", "lower the request to %[3]s")
	}
	return nil
}

func (b bounded) checkRatio(name corev1.ResourceName, most resource.Quantity) *Finding {
	p := b.pair(name)
	zero := func(which func(request, limit, _ int64) int64) bool {
		return comparable3(p, most, func(request, limit, bound int64) bool { return which(request, limit, bound) == 0 })
	}
	switch {
	case !p.requested || zero(func(request, _, _ int64) int64 { return request }):
		return b.finding(name, "requests", present(p.request, p.requested), most, "needs a request for %[2]s that is not zero, because limit to request may be at most %[3]s", "set both")
	case !p.limited || zero(func(_, limit, _ int64) int64 { return limit }):
		return b.finding(name, "limits", present(p.limit, p.limited), most, "needs a limit for %[2]s that is not zero, because limit to request may be at most %[3]s", "set both")
	case steeper(p, most):
		return b.finding(name, "limits", new(p.limit), most, "has a limit of %[1]s of %[2]s, more than %[3]s times its request", "raise the request or lower the limit")
	}
	return nil
}

// steeper says whether limit to request exceeds a ratio. It calculates in floats and in the steps of the API server, so that
// both round alike.
func steeper(p figures, most resource.Quantity) bool {
	request, limit, _ := precise(p.request, p.limit, most)
	ratio := float64(limit) / float64(request)
	if most.Value() <= resource.MaxMilliValue {
		return ratio*1000 > float64(most.MilliValue())
	}
	return ratio > float64(most.Value())
}

func (b bounded) pair(name corev1.ResourceName) figures { return figuresOf(b.requests, b.limits, name) }

// finding writes a finding. The texts name the amount there is as 1, the resource as 2 and the bound as 3.
func (b bounded) finding(name corev1.ResourceName, field string, have *resource.Quantity, bound resource.Quantity, message, remedy string) *Finding {
	bound = bound.DeepCopy() // the LimitRange is the caller's
	had, subject := "", "the pod"
	if have != nil {
		had = have.String()
	}
	if b.container != "" {
		subject = "container " + b.container
	}
	text := fmt.Sprintf(message+"%.0[1]s%.0[2]s%.0[3]s", had, name, bound.String())
	return &Finding{
		Stage: StageLimitRange, Category: CategoryLimitRange, Severity: Refuses, Object: b.object, Container: b.container,
		Resource: name, Field: field, Have: have, Bound: &bound, Retry: RetryNever,
		Message: subject + " " + text + " in " + b.object,
		Remedy:  fmt.Sprintf(remedy+"%.0[1]s%.0[2]s%.0[3]s", had, name, bound.String()),
	}
}

// comparable3 compares request, limit and bound in one unit.
func comparable3(p figures, bound resource.Quantity, test func(request, limit, bound int64) bool) bool {
	return test(precise(p.request, p.limit, bound))
}

// precise gives three amounts in thousandths, or in whole units if one of them is too large for thousandths.
func precise(request, limit, bound resource.Quantity) (r, l, b int64) {
	r, l, b = request.Value(), limit.Value(), bound.Value()
	if r <= resource.MaxMilliValue && l <= resource.MaxMilliValue && b <= resource.MaxMilliValue {
		return request.MilliValue(), limit.MilliValue(), bound.MilliValue()
	}
	return r, l, b
}
