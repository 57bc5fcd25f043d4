package differential_test

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

// misread holds what ExplainError reads from a refusal against the findings of the prediction.
func misread(o *podspec.Outcome, class podspec.Category, err error) string {
	d := podspec.ExplainError(err)
	if d.Category != class {
		return fmt.Sprintf("explained as %s: %v", d.Category, err)
	}
	if d.Message == "" || d.Original != err.Error() {
		return fmt.Sprintf("the explanation loses its text: %+v", d)
	}
	// The server stops at the first object that refuses; which one comes first is up to it.
	byObject := map[string][]string{}
	for _, finding := range o.Findings {
		if finding.Severity == podspec.Refuses && finding.Category == d.Category {
			byObject[finding.Object] = append(byObject[finding.Object], figureOf(finding))
		}
	}
	var read []string
	switch d.Category {
	case podspec.CategoryPodSecurity:
		if ours := byObject[d.Object]; len(ours) != len(d.Reasons) {
			return fmt.Sprintf("%d violations of %s are predicted, and %d are read from %v", len(ours), d.Object, len(d.Reasons), err)
		}
		return ""
	case podspec.CategoryInvalid:
		return unforeseen(o, d)
	case podspec.CategoryPriorityClass, podspec.CategoryRuntimeClass:
		if byObject[d.Object] == nil {
			return fmt.Sprintf("%s is not among what is predicted: %v", d.Object, byObject)
		}
		return ""
	}
	for _, figure := range d.Figures {
		read = append(read, figureOf(podspec.Finding{Category: d.Category, Container: figure.Container, Resource: figure.Resource, Field: figure.Field, Have: figure.Have, Need: figure.Need, Bound: figure.Bound}))
	}
	// The server says once what is the same for several containers.
	slices.Sort(read)
	read = slices.Compact(read)
	for object, ours := range byObject {
		slices.Sort(ours)
		ours = slices.Compact(ours)
		if object != d.Object && d.Object != "" {
			continue
		}
		// Of a quota that lacks a figure the server lists all resources, the prediction those that lack one.
		if slices.Equal(ours, read) || d.Category == podspec.CategoryQuotaUnknownStatus && within(ours, read) {
			return ""
		}
	}
	return fmt.Sprintf("%s %v is read from %v; predicted are %v", d.Object, read, err, byObject)
}

// within says whether every item of a list is in another one.
func within(list, all []string) bool {
	return !slices.ContainsFunc(list, func(item string) bool { return !slices.Contains(all, item) })
}

// figureOf is the part of a finding that the server's text has too.
func figureOf(f podspec.Finding) string {
	switch f.Category {
	case podspec.CategoryQuotaMissing:
		return fmt.Sprintf("%s of %s", f.Resource, f.Container)
	case podspec.CategoryQuotaUnknownStatus:
		return string(f.Resource)
	case podspec.CategoryLimitRange:
		return fmt.Sprintf("%s bound %s", f.Resource, text(f.Bound))
	default:
		return fmt.Sprintf("%s used %s needs %s of %s", f.Resource, text(f.Have), text(f.Need), text(f.Bound))
	}
}

func text(q *resource.Quantity) string {
	if q == nil {
		return "nothing"
	}
	exact, ok := new(big.Rat).SetString(q.AsDec().String())
	if !ok {
		return "no number"
	}
	return exact.RatString()
}

var containerPath = regexp.MustCompile(`^spec\.(containers|initContainers)\[(\d+)\]\.resources\.(limits|requests)`)

// unforeseen says which cause of a 422 that is about the amounts of a container no finding has foreseen.
func unforeseen(o *podspec.Outcome, d podspec.Diagnosis) string {
	if len(d.Causes) == 0 {
		return "a refusal without causes: " + d.Original
	}
	for _, cause := range d.Causes {
		at := containerPath.FindStringSubmatch(cause.Field)
		if at == nil {
			if !strings.HasPrefix(cause.Field, "spec.") {
				return "cause " + cause.Field
			}
			continue
		}
		list := o.Effective.Spec.Containers
		if at[1] == "initContainers" {
			list = o.Effective.Spec.InitContainers
		}
		var index int
		if _, err := fmt.Sscan(at[2], &index); err != nil || index >= len(list) {
			return "cause " + cause.Field
		}
		foreseen := slices.ContainsFunc(o.Findings, func(f podspec.Finding) bool {
			return f.Category == podspec.CategoryInvalid && (f.Container == list[index].Name || f.Container == "")
		})
		if !foreseen {
			return fmt.Sprintf("nothing predicts %s: %s", cause.Field, cause.Message)
		}
	}
	return ""
}
