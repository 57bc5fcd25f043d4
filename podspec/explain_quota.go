package podspec

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Shapes of quota failures. The name of a quota may contain dots, never a comma, colon or blank.
var (
	exceededShape  = regexp.MustCompile(`exceeded quota: ([^,\s]+), requested: (\S+), used: (\S+), limited: (\S+)`)
	missingShape   = regexp.MustCompile(`failed quota: ([^:\s]+): must specify (.+)$`)
	uncountedShape = regexp.MustCompile(`status unknown for quota: ([^,\s]+), resources: (\S+)`)
	uncoveredShape = regexp.MustCompile(`insufficient quota to (consume: (\S+)|match these scopes: (.+))$`)
	conflictShape  = regexp.MustCompile(`Operation cannot be fulfilled on resourcequotas(?:\.\S+)? "([^"]+)"`)
)

func parseExceeded(text string, d *Diagnosis) bool {
	match := exceededShape.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	requested, used, hard := amountsIn(match[2]), amountsIn(match[3]), amountsIn(match[4])
	d.Object = "ResourceQuota " + match[1]
	var parts []string
	for _, name := range sortedNames(requested) {
		figure := Figure{Resource: name, Have: used[name], Need: requested[name], Bound: hard[name]}
		d.Figures = append(d.Figures, figure)
		if figure.Have != nil && figure.Bound != nil {
			parts = append(parts, figure.Have.String()+" of "+figure.Bound.String()+" "+string(name)+" are in use and the pod needs "+figure.Need.String())
		}
	}
	d.set(CategoryQuotaExceeded, "quota "+match[1]+" is exceeded: "+strings.Join(parts, "; "), "wait until other pods end, ask for less, or raise the quota")
	return true
}

// amountsIn reads "cpu=1,memory=1Gi".
func amountsIn(text string) map[corev1.ResourceName]*resource.Quantity {
	amounts := map[corev1.ResourceName]*resource.Quantity{}
	for part := range strings.SplitSeq(strings.TrimRight(text, ",.;"), ",") {
		name, amount, ok := strings.Cut(part, "=")
		if quantity := quantityIn(amount); ok && quantity != nil {
			amounts[corev1.ResourceName(name)] = quantity
		}
	}
	return amounts
}

// parseMissing knows both forms of the list: newer servers name the containers ("limits.cpu for: a,b; memory for: a"),
// older ones the resources only ("limits.cpu,memory").
func parseMissing(text string, d *Diagnosis) bool {
	match := missingShape.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	d.Object = "ResourceQuota " + match[1]
	for part := range strings.SplitSeq(match[2], "; ") {
		resources, containers, named := strings.Cut(part, " for: ")
		if !named {
			for name := range strings.SplitSeq(resources, ",") {
				d.Figures = append(d.Figures, Figure{Resource: corev1.ResourceName(strings.TrimSpace(name))})
			}
			continue
		}
		for container := range strings.SplitSeq(containers, ",") {
			d.Figures = append(d.Figures, Figure{Resource: corev1.ResourceName(resources), Container: container})
			d.Containers = append(d.Containers, container)
		}
	}
	slices.Sort(d.Containers)
	d.Containers = slices.Compact(d.Containers)
	d.set(CategoryQuotaMissing, "quota "+match[1]+" demands amounts that are not declared: "+match[2], "declare them in every container and init container; one size sets request and limit")
	return true
}

func parseUncounted(text string, d *Diagnosis) bool {
	match := uncountedShape.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	d.Object = "ResourceQuota " + match[1]
	for name := range strings.SplitSeq(match[2], ",") {
		d.Figures = append(d.Figures, Figure{Resource: corev1.ResourceName(name)})
	}
	d.set(CategoryQuotaUnknownStatus, "the usage of quota "+match[1]+" has not been counted yet", "try again in a few seconds")
	return true
}

func parseUncovered(text string, d *Diagnosis) bool {
	match := uncoveredShape.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	what := match[2]
	if what == "" {
		what = match[3]
	} else {
		for name := range strings.SplitSeq(what, ",") {
			d.Figures = append(d.Figures, Figure{Resource: corev1.ResourceName(name)})
		}
	}
	d.set(CategoryQuotaUncovered, "the cluster allows this only under a quota, and no quota of the namespace covers it: "+what, "ask for a quota of the namespace that covers it")
	return true
}

// parseQuotaTrouble knows failures of counting that pass by themselves.
func parseQuotaTrouble(text string, d *Diagnosis) bool {
	if match := conflictShape.FindStringSubmatch(text); match != nil {
		d.Object = "ResourceQuota " + match[1]
		d.set(CategoryQuotaConflict, "quota "+match[1]+" was written by others at the same time", "try again, later each time")
		return true
	}
	if strings.Contains(text, "resource quota evaluation timed out") {
		d.set(CategoryQuotaTimeout, "the quotas were not evaluated in time", "try again, later each time")
		return true
	}
	return false
}
