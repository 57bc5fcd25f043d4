package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Acceptance is how a pod that was accepted differs from the one that was sent.
type Acceptance struct {
	// Drifts are the differences in amounts and containers, in the order of the accepted pod.
	Drifts []Drift `json:"drifts,omitempty"`
	// IntendedQOS and AcceptedQOS are the classes; AcceptedQOS is that of the status, where it is set.
	IntendedQOS corev1.PodQOSClass `json:"intendedQOS"`
	AcceptedQOS corev1.PodQOSClass `json:"acceptedQOS"`
	// SCC is the constraint of OpenShift that admitted the pod; empty elsewhere.
	SCC string `json:"scc,omitempty"`
}

// Clean says that amounts and class are as intended.
func (a Acceptance) Clean() bool { return len(a.Drifts) == 0 && a.IntendedQOS == a.AcceptedQOS }

// Drift is one difference.
type Drift struct {
	// Path is the place: "spec.containers[bot].resources.limits.cpu".
	Path string `json:"path"`
	// Intended and Accepted are the amounts; nil where there is none.
	Intended *resource.Quantity `json:"intended,omitempty"`
	Accepted *resource.Quantity `json:"accepted,omitempty"`
	// Author is who probably made the difference, one of the constants.
	Author Author `json:"author"`
}

// Author is who probably changed a pod on its way.
type Author string

// The authors.
const (
	// AuthorLimitRanger: a LimitRange filled it in; the annotation that it leaves says so.
	AuthorLimitRanger Author = "LimitRange"
	// AuthorMutation: a webhook, a policy or the provider of the cluster.
	AuthorMutation Author = "webhook, policy or provider"
)

// String is the drift on one line.
func (d Drift) String() string {
	show := func(q *resource.Quantity) string {
		if q == nil {
			return "nothing"
		}
		return q.String()
	}
	return fmt.Sprintf("%s: intended %s, accepted %s (%s)", d.Path, show(d.Intended), show(d.Accepted), d.Author)
}

// annotationLimitRanger is where a LimitRange leaves what it filled in.
const annotationLimitRanger = "kubernetes.io/limit-ranger"

// VerifyAccepted compares a pod that was accepted with the one that was meant, in amounts, containers and class. What the
// API server does to every pod (a limit becomes its own request, fractions of a thousandth are rounded up, pod-level
// amounts are filled in) is no drift. Spellings of a quantity do not matter. ServerMinor is the minor version of the
// server; zero for the newest known. Nil pods give an empty answer.
func VerifyAccepted(intended, accepted *corev1.Pod, serverMinor int) Acceptance {
	if intended == nil || accepted == nil {
		return Acceptance{}
	}
	if serverMinor == 0 {
		serverMinor = latestMinor
	}
	want := intended.DeepCopy()
	decode(want, serverMinor)
	if serverMinor >= minorPodLevelFixed {
		fillPodLevel(&want.Spec)
	}
	v := verification{filled: filledIn(accepted.Annotations[annotationLimitRanger])}
	v.containers("spec.containers", want.Spec.Containers, accepted.Spec.Containers, "container ")
	v.containers("spec.initContainers", want.Spec.InitContainers, accepted.Spec.InitContainers, "init container ")
	v.amounts("spec.resources", "", orEmpty(want.Spec.Resources), orEmpty(accepted.Spec.Resources))
	acceptance := Acceptance{Drifts: v.drifts, IntendedQOS: QOS(&want.Spec, serverMinor), AcceptedQOS: accepted.Status.QOSClass, SCC: accepted.Annotations[annotationSCC]}
	if acceptance.AcceptedQOS == "" {
		acceptance.AcceptedQOS = QOS(&accepted.Spec, serverMinor)
	}
	return acceptance
}

type verification struct {
	filled map[string]bool
	drifts []Drift
}

func orEmpty(r *corev1.ResourceRequirements) *corev1.ResourceRequirements {
	if r == nil {
		return &corev1.ResourceRequirements{}
	}
	return r
}

// containers compares the containers of one list by name. One that was added or taken away is a drift by itself.
func (v *verification) containers(list string, want, got []corev1.Container, kind string) {
	find := func(list []corev1.Container, name string) *corev1.Container {
		at := slices.IndexFunc(list, func(c corev1.Container) bool { return c.Name == name })
		if at < 0 {
			return nil
		}
		return &list[at]
	}
	for i := range got {
		path := list + "[" + got[i].Name + "]"
		intended := find(want, got[i].Name)
		if intended == nil {
			v.drifts = append(v.drifts, Drift{Path: path + " (added)", Author: AuthorMutation})
			intended = &corev1.Container{}
		}
		v.amounts(path+".resources", kind+got[i].Name, &intended.Resources, &got[i].Resources)
	}
	for i := range want {
		if find(got, want[i].Name) == nil {
			v.drifts = append(v.drifts, Drift{Path: list + "[" + want[i].Name + "] (removed)", Author: AuthorMutation})
		}
	}
}

// amounts compares one set of amounts. Owner is how the annotation of the LimitRange names the container.
func (v *verification) amounts(path, owner string, want, got *corev1.ResourceRequirements) {
	for _, half := range []struct {
		field, noun string
		want, got   corev1.ResourceList
	}{{"requests", "request", want.Requests, got.Requests}, {"limits", "limit", want.Limits, got.Limits}} {
		for _, name := range resourceNames(corev1.ResourceRequirements{Requests: half.want, Limits: half.got}) {
			drift := Drift{Path: path + "." + half.field + "." + string(name), Author: AuthorMutation}
			if quantity, ok := half.want[name]; ok {
				drift.Intended = &quantity
			}
			if quantity, ok := half.got[name]; ok {
				drift.Accepted = &quantity
			}
			if drift.Intended != nil && drift.Accepted != nil && drift.Intended.Cmp(*drift.Accepted) == 0 {
				continue
			}
			if drift.Intended == nil && v.filled[string(name)+" "+half.noun+" for "+owner] {
				drift.Author = AuthorLimitRanger
			}
			v.drifts = append(v.drifts, drift)
		}
	}
}

// filledIn reads the annotation of a LimitRange: "LimitRanger plugin set: cpu, memory request for container a; cpu limit
// for init container b". Each entry of the result is one amount, as "cpu request for container a".
func filledIn(annotation string) map[string]bool {
	filled := map[string]bool{}
	list, ok := strings.CutPrefix(annotation, "LimitRanger plugin set: ")
	if !ok {
		return filled
	}
	for part := range strings.SplitSeq(list, "; ") {
		for _, noun := range []string{" request for ", " limit for "} {
			names, owner, found := strings.Cut(part, noun)
			if !found {
				continue
			}
			for name := range strings.SplitSeq(names, ", ") {
				filled[name+noun+owner] = true
			}
		}
	}
	return filled
}
