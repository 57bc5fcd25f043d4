package podspec

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// On OpenShift the constraint restricted-v2 gives a pod its user, its groups and its SELinux level from ranges that
// stand in annotations of the namespace. A pod that names others is refused, so the best a pod can do is to name none.
const (
	annotationUIDRange = "openshift.io/sa.scc.uid-range"
	annotationGroups   = "openshift.io/sa.scc.supplemental-groups"
	annotationMCS      = "openshift.io/sa.scc.mcs"
	// annotationSCC is written on a pod that was accepted: the constraint that admitted it.
	annotationSCC = "openshift.io/scc"
)

// idRange is "start/length" or "start-end", both ends included.
type idRange struct{ first, last int64 }

func (r idRange) holds(id int64) bool { return id >= r.first && id <= r.last }

// rangesIn reads a list of ranges; what cannot be read is left out.
func rangesIn(text string) []idRange {
	var ranges []idRange
	for part := range strings.SplitSeq(text, ",") {
		start, rest, slash := strings.Cut(strings.TrimSpace(part), "/")
		if !slash {
			if start, rest, slash = strings.Cut(start, "-"); !slash {
				continue
			}
		}
		first, err := strconv.ParseInt(start, 10, 64)
		second, errSecond := strconv.ParseInt(rest, 10, 64)
		if err != nil || errSecond != nil {
			continue
		}
		if strings.Contains(part, "/") {
			second = first + second - 1
		}
		ranges = append(ranges, idRange{first, second})
	}
	return ranges
}

// outsideRanges reports ids that the namespace does not allow.
func outsideRanges(namespace *corev1.Namespace, spec *corev1.PodSpec) []Finding {
	users := rangesIn(namespace.Annotations[annotationUIDRange])
	groups := rangesIn(namespace.Annotations[annotationGroups])
	if len(groups) == 0 {
		groups = users
	}
	level := namespace.Annotations[annotationMCS]
	var found []Finding
	report := func(container, path, value, allowed string) {
		found = append(found, Finding{Stage: StagePodSecurity, Category: CategorySCC, Severity: Refuses, Object: "SecurityContextConstraints restricted-v2", Container: container, Retry: RetryNever,
			Message: fmt.Sprintf("%s is %s, and the namespace allows %s", path, value, allowed), Remedy: "leave it out; OpenShift fills it in"})
	}
	id := func(container, path string, id *int64, ranges []idRange) {
		if id != nil && len(ranges) > 0 && !within(ranges, *id) {
			report(container, path, strconv.FormatInt(*id, 10), describe(ranges))
		}
	}
	selinux := func(container, path string, options *corev1.SELinuxOptions) {
		if options != nil && options.Level != "" && level != "" && options.Level != level {
			report(container, path+".level", options.Level, level)
		}
	}
	if context := spec.SecurityContext; context != nil {
		id("", "spec.securityContext.runAsUser", context.RunAsUser, users)
		id("", "spec.securityContext.fsGroup", context.FSGroup, groups[:min(1, len(groups))])
		for i := range context.SupplementalGroups {
			id("", "spec.securityContext.supplementalGroups", &context.SupplementalGroups[i], groups)
		}
		selinux("", "spec.securityContext.seLinuxOptions", context.SELinuxOptions)
	}
	each(spec, func(container *corev1.Container) {
		if context := container.SecurityContext; context != nil {
			id(container.Name, "securityContext.runAsUser of container "+container.Name, context.RunAsUser, users)
			selinux(container.Name, "securityContext.seLinuxOptions of container "+container.Name, context.SELinuxOptions)
		}
	})
	return found
}

func within(ranges []idRange, id int64) bool {
	for _, r := range ranges {
		if r.holds(id) {
			return true
		}
	}
	return false
}

func describe(ranges []idRange) string {
	parts := make([]string, len(ranges))
	for i, r := range ranges {
		parts[i] = fmt.Sprintf("%d to %d", r.first, r.last)
	}
	return strings.Join(parts, ", ")
}
