package differential_test

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

// An answer is what the server said to one pod.
type answer struct {
	err error
	// pod is what it would store; nil if it refuses.
	pod *corev1.Pod
	// deltas are what the pod added to the usage of the quotas; nil if it was not really created.
	deltas map[string]corev1.ResourceList
}

// phrases tell the class of a refusal, by nothing that podspec does.
var phrases = []struct {
	phrase string
	class  podspec.Category
}{
	{"exceeded quota: ", podspec.CategoryQuotaExceeded},
	{": must specify ", podspec.CategoryQuotaMissing},
	{"status unknown for quota: ", podspec.CategoryQuotaUnknownStatus},
	{"violates PodSecurity ", podspec.CategoryPodSecurity},
	{" usage per Container is ", podspec.CategoryLimitRange},
	{" usage per Pod is ", podspec.CategoryLimitRange},
	{" ratio per Container is ", podspec.CategoryLimitRange},
	{" ratio per Pod is ", podspec.CategoryLimitRange},
	{"no PriorityClass with name ", podspec.CategoryPriorityClass},
	{"pod rejected: RuntimeClass ", podspec.CategoryRuntimeClass},
}

// class is that of the server's refusal; empty if it admits the pod.
func (a answer) class() podspec.Category {
	switch {
	case a.err == nil:
		return ""
	case apierrors.IsInvalid(a.err):
		return podspec.CategoryInvalid
	}
	for _, known := range phrases {
		if contains(a.err.Error(), known.phrase) {
			return known.class
		}
	}
	return podspec.CategoryOther
}

// disagreement says what the prediction has otherwise than the answer; empty if nothing. Where LimitRanges contradict each
// other one of the outcomes has to be the server's.
func disagreement(prediction podspec.Prediction, a answer) string {
	outcomes := prediction.Alternatives
	if outcomes == nil {
		outcomes = []podspec.Outcome{prediction.Outcome}
	}
	var all []string
	for i := range outcomes {
		why := differs(&outcomes[i], a)
		if why == "" {
			return ""
		}
		all = append(all, why)
	}
	return strings.Join(all, " / ")
}

func differs(o *podspec.Outcome, a answer) string {
	class := a.class()
	switch {
	case o.Verdict != podspec.Admit && o.Verdict != podspec.Reject, (o.Verdict == podspec.Admit) != (class == ""), o.Category != class && !otherQuota(o, class):
		return fmt.Sprintf("predicted %s %s, the server says %q %v", o.Verdict, o.Category, class, a.err)
	case class != "":
		return misread(o, class, a.err)
	}
	if why := otherAmounts(&o.Effective.Spec, &a.pod.Spec); why != "" {
		return why
	}
	if o.QOS != a.pod.Status.QOSClass {
		return fmt.Sprintf("QoS class %s, the server's is %s", o.QOS, a.pod.Status.QOSClass)
	}
	if o.Effective.Spec.PriorityClassName != a.pod.Spec.PriorityClassName {
		return fmt.Sprintf("priority class %q, the server's is %q", o.Effective.Spec.PriorityClassName, a.pod.Spec.PriorityClassName)
	}
	if a.deltas == nil {
		return ""
	}
	for i := range o.Quotas {
		// What is charged for overhead can be finer than the thousandths in which usage is stored.
		if use := &o.Quotas[i]; !sameList(stored(use.Delta), a.deltas[use.Name]) {
			return fmt.Sprintf("quota %s gets %v, on the server %v", use.Name, written(use.Delta), written(a.deltas[use.Name]))
		}
	}
	return ""
}

// otherQuota says whether a class is that of another quota than the one that the prediction names. The server takes quotas
// in no fixed order and stops at the first one that lacks a size or a figure.
func otherQuota(o *podspec.Outcome, class podspec.Category) bool {
	early := []podspec.Category{podspec.CategoryQuotaMissing, podspec.CategoryQuotaUnknownStatus}
	return slices.Contains(early, o.Category) && slices.Contains(early, class) && slices.ContainsFunc(o.Findings, func(f podspec.Finding) bool {
		return f.Severity == podspec.Refuses && f.Category == class
	})
}

// otherAmounts compares every amount of two pods.
func otherAmounts(ours, theirs *corev1.PodSpec) string {
	for _, list := range []struct{ ours, theirs []corev1.Container }{{ours.Containers, theirs.Containers}, {ours.InitContainers, theirs.InitContainers}} {
		if len(list.ours) != len(list.theirs) {
			return "the number of containers"
		}
		for i := range list.ours {
			if !same(&list.ours[i].Resources, &list.theirs[i].Resources) {
				return fmt.Sprintf("container %s has %v, on the server %v", list.ours[i].Name, shown(&list.ours[i].Resources), shown(&list.theirs[i].Resources))
			}
		}
	}
	if (ours.Resources == nil) != (theirs.Resources == nil) || ours.Resources != nil && !same(ours.Resources, theirs.Resources) {
		return fmt.Sprintf("pod level %v, on the server %v", shown(ours.Resources), shown(theirs.Resources))
	}
	if !sameList(ours.Overhead, theirs.Overhead) {
		return fmt.Sprintf("overhead %v, on the server %v", written(ours.Overhead), written(theirs.Overhead))
	}
	return ""
}

func same(a, b *corev1.ResourceRequirements) bool {
	return sameList(a.Requests, b.Requests) && sameList(a.Limits, b.Limits)
}

func sameList(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, amount := range a {
		if other, ok := b[name]; !ok || amount.Cmp(other) != 0 {
			return false
		}
	}
	return true
}

// stored rounds amounts up as the API server does when it stores them.
func stored(list corev1.ResourceList) corev1.ResourceList {
	rounded := list.DeepCopy()
	for name, amount := range rounded {
		amount.RoundUp(resource.Milli)
		rounded[name] = amount
	}
	return rounded
}

func shown(r *corev1.ResourceRequirements) string {
	if r == nil {
		return "nothing"
	}
	return fmt.Sprintf("%v / %v", written(r.Requests), written(r.Limits))
}

// written lists amounts in the order of their names.
func written(list corev1.ResourceList) []string {
	var all []string
	for name, amount := range list {
		all = append(all, string(name)+"="+amount.String())
	}
	slices.Sort(all)
	return all
}
