package podspec

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Part is one thing that is known, or not known for a reason. The zero Part is unknown: what nobody read is never taken
// for empty.
type Part[T any] struct {
	// Value is what was read; meaningless unless Known.
	Value T `json:"value,omitzero"`
	// Known says that Value was read.
	Known bool `json:"known"`
	// Reason is why it is not known: "forbidden", "not served by this cluster".
	Reason string `json:"reason,omitempty"`
}

// Known is a part that was read.
func Known[T any](value T) Part[T] { return Part[T]{Value: value, Known: true} }

// Unknown is a part that could not be read.
func Unknown[T any](reason string) Part[T] { return Part[T]{Reason: reason} }

// Snapshot is what is known of a namespace and of the cluster around it. Parts that are not known make a prediction
// careful, never impossible: one list that is forbidden does not spoil the others. It is plain data; as JSON it replays a
// prediction without a cluster.
type Snapshot struct {
	// Namespace gives the labels that PodSecurity reads, OpenShift's annotations, and whether it is being deleted.
	Namespace Part[corev1.Namespace] `json:"namespace"`
	// LimitRanges of the namespace, defaulted by the API server or as they were written.
	LimitRanges Part[[]corev1.LimitRange] `json:"limitRanges"`
	// ResourceQuotas of the namespace, with their status: quotas are enforced from status.hard, not from spec.hard.
	ResourceQuotas Part[[]corev1.ResourceQuota] `json:"resourceQuotas"`
	// PriorityClasses of the cluster.
	PriorityClasses Part[[]schedulingv1.PriorityClass] `json:"priorityClasses"`
	// RuntimeClasses of the cluster.
	RuntimeClasses Part[[]nodev1.RuntimeClass] `json:"runtimeClasses"`
	// ServerMinor is the minor version of the API server: 37 for 1.37.
	ServerMinor Part[int] `json:"serverMinor"`
	// PodSecurity is the configuration of the API server that no client can read. Upstream's own default is
	// Known(PodSecurityDefaults{}).
	PodSecurity Part[PodSecurityDefaults] `json:"podSecurity"`
	// Webhooks are the names of admission webhooks and policies that see pods of the namespace. They may change or refuse
	// anything, which a prediction cannot foresee and says.
	Webhooks Part[[]string] `json:"webhooks"`
	// OpenShift is what is known of OpenShift's own admission; Known with the zero value on clusters without it.
	OpenShift Part[OpenShift] `json:"openShift"`
	// ReadAt is when the snapshot was read; it is carried along and never compared with a clock.
	ReadAt metav1.Time `json:"readAt,omitzero"`
}

// PlainCluster is a snapshot of an empty namespace on a cluster as upstream sets it up, for tests and sketches: everything
// is known, and nothing is in a pod's way. There are no LimitRanges, ResourceQuotas, RuntimeClasses or webhooks, PodSecurity
// asks for nothing, OpenShift is absent, and the PriorityClasses are the two that every cluster has. Then set what your
// namespace has:
//
//	snapshot := podspec.PlainCluster(37)
//	snapshot.LimitRanges = podspec.Known(limitRanges)
//	snapshot.ResourceQuotas = podspec.Known(quotas) // with their status: it is status.hard that is enforced
//
// Of a cluster that exists, all this is an assumption: a Reader of package podspec/live reads what there is. Each call
// gives a value of its own.
func PlainCluster(serverMinor int) Snapshot {
	return Snapshot{
		Namespace:       Known(corev1.Namespace{}),
		LimitRanges:     Known([]corev1.LimitRange{}),
		ResourceQuotas:  Known([]corev1.ResourceQuota{}),
		PriorityClasses: Known(systemClasses()),
		RuntimeClasses:  Known([]nodev1.RuntimeClass{}),
		ServerMinor:     Known(serverMinor),
		PodSecurity:     Known(PodSecurityDefaults{}),
		Webhooks:        Known([]string{}),
		OpenShift:       Known(OpenShift{}),
	}
}

// systemClasses are the PriorityClasses that an API server creates when it starts.
func systemClasses() []schedulingv1.PriorityClass {
	const critical = 2_000_000_000 // twice the highest value that users may give
	class := func(name string, value int32) schedulingv1.PriorityClass {
		policy := corev1.PreemptLowerPriority
		return schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, PreemptionPolicy: &policy}
	}
	return []schedulingv1.PriorityClass{class("system-node-critical", critical+1000), class("system-cluster-critical", critical)}
}

// PodSecurityDefaults are the levels that hold where a namespace has no label for them. Empty strings stand for
// "privileged" and "latest".
type PodSecurityDefaults struct {
	Enforce        string `json:"enforce,omitempty"`
	EnforceVersion string `json:"enforceVersion,omitempty"`
	Warn           string `json:"warn,omitempty"`
	WarnVersion    string `json:"warnVersion,omitempty"`
	// ExemptRuntimeClasses are not looked at.
	ExemptRuntimeClasses []string `json:"exemptRuntimeClasses,omitempty"`
	// Exempt says that the namespace or the user who creates the pod is not looked at.
	Exempt bool `json:"exempt,omitempty"`
}

// OpenShift is what decides beside Kubernetes on OpenShift.
type OpenShift struct {
	// Present says that the cluster enforces SecurityContextConstraints.
	Present bool `json:"present,omitempty"`
	// ClusterQuotas are the AppliedClusterResourceQuotas of the namespace, in the shape of a quota: the total hard and used.
	ClusterQuotas []corev1.ResourceQuota `json:"clusterQuotas,omitempty"`
}

// latestMinor is the newest API server whose rules this package knows; an unknown server is taken for it, which is said.
const latestMinor = 37

// minor is the server's version, or the newest known one.
func (s *Snapshot) minor() int {
	if s.ServerMinor.Known {
		return s.ServerMinor.Value
	}
	return latestMinor
}
