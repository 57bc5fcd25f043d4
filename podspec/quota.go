package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Quotas come last. A quota is enforced from status.hard and status.used, as the quota controller wrote them:
//
//  1. Of every quota that concerns the pod, first: each container and init container declares every spelling of cpu and
//     memory that status.hard names; zero is a declaration. Amounts at pod level make this check void.
//  2. Then status.used has a value for everything in status.hard that concerns pods.
//  3. When all quotas have passed these two: used plus the pod's usage is at most hard, for every resource that the quota
//     names and of which the pod uses more than zero.
//
// A quota whose status is still empty admits everything.

// quotaStage collects the findings of all quotas in the order in which the server would meet them.
type quotaStage struct {
	pod      *corev1.Pod
	class    corev1.PodQOSClass
	minor    int
	usage    charges
	early    []Finding // steps 1 and 2, and what concerns the quota as a whole
	late     []Finding // step 3
	warnings []Finding
	uses     []QuotaUse
}

// checkQuotas looks at all quotas.
func checkQuotas(pod *corev1.Pod, class corev1.PodQOSClass, minor int, quotas, clusterQuotas []corev1.ResourceQuota) ([]Finding, []QuotaUse) {
	s := &quotaStage{pod: pod, class: class, minor: minor, usage: charges{PodRequests(pod), PodLimits(pod)}}
	s.uses = make([]QuotaUse, 0, len(quotas)+len(clusterQuotas))
	for i := range quotas {
		s.check(&quotas[i], false)
	}
	for i := range clusterQuotas {
		s.check(&clusterQuotas[i], true)
	}
	return slices.Concat(s.early, s.late, s.warnings), s.uses
}

// object is how findings name a quota.
func object(quota *corev1.ResourceQuota, cluster bool) string {
	if cluster {
		return "ClusterResourceQuota " + quota.Name
	}
	return "ResourceQuota " + quota.Name
}

// check looks at one quota.
func (s *quotaStage) check(quota *corev1.ResourceQuota, cluster bool) {
	use := QuotaUse{Name: quota.Name, Cluster: cluster, Fits: true, CanEverFit: true}
	scoped, err := matchesScopes(quota, s.pod, s.class)
	hard, used := podResources(rounded(quota.Status.Hard)), rounded(quota.Status.Used)
	use.Synced = synced(quota)
	switch {
	case err != nil:
		s.early = append(s.early, Finding{Stage: StageQuota, Category: CategoryOther, Severity: Refuses, Object: object(quota, cluster),
			Retry: RetryNever, Message: fmt.Sprintf("%s has a scope selector that cannot be read: %v", object(quota, cluster), err)})
		use.Fits, use.CanEverFit = false, false
	case scoped && !use.Synced:
		s.stale(quota, cluster)
		fallthrough
	case scoped && len(hard) > 0:
		use.Matches = scoped && len(hard) > 0
		if use.Matches {
			s.measure(quota, cluster, hard, used, &use)
		}
	}
	s.uses = append(s.uses, use)
}

// measure does steps 1 to 3 for a quota that concerns the pod.
func (s *quotaStage) measure(quota *corev1.ResourceQuota, cluster bool, hard, used corev1.ResourceList, use *QuotaUse) {
	name := object(quota, cluster)
	var place [few]corev1.ResourceName
	keys := appendNames(place[:0], hard)
	missing := s.missing(name, hard, keys)
	unknown := uncounted(name, used, keys)
	if len(missing) > 0 {
		unknown = nil // the server stops at what is missing
	}
	s.early = append(s.early, missing...)
	s.early = append(s.early, unknown...)
	use.Delta, use.Headroom = corev1.ResourceList{}, corev1.ResourceList{}
	for _, key := range keys {
		limit, spent := hard[key], used[key]
		room := limit.DeepCopy()
		room.Sub(spent)
		use.Headroom[key] = room
		need, uses := s.usage.of(key)
		if !uses || need.IsZero() {
			continue
		}
		use.Delta[key] = need.DeepCopy()
		after := spent.DeepCopy()
		after.Add(need)
		if after.Cmp(limit) <= 0 {
			continue
		}
		use.Fits = false
		ever := need.Cmp(limit) <= 0
		use.CanEverFit = use.CanEverFit && ever
		s.late = append(s.late, exceeded(name, key, spent.DeepCopy(), need.DeepCopy(), limit.DeepCopy(), ever))
	}
	if len(missing)+len(unknown) > 0 {
		use.Fits = false
	}
}

// exceeded is the finding of a quota that is too small.
func exceeded(object string, key corev1.ResourceName, used, need, hard resource.Quantity, ever bool) Finding {
	finding := Finding{
		Stage: StageQuota, Category: CategoryQuotaExceeded, Severity: Refuses, Object: object, Resource: key,
		Have: &used, Need: &need, Bound: &hard, Retry: RetryWhenUsageDrops,
		Message: fmt.Sprintf("%s has %s of %s %s in use, and the pod needs %s", object, used.String(), hard.String(), key, need.String()),
		Remedy:  "wait until other pods end, ask for less, or raise the quota",
	}
	if !ever {
		finding.Retry = RetryNever
		finding.Remedy = "the pod is larger than the whole quota: ask for less, or raise the quota"
	}
	return finding
}

// missing does step 1. A finding for each resource and container, in the order of resources.
func (s *quotaStage) missing(object string, hard corev1.ResourceList, keys []corev1.ResourceName) []Finding {
	if s.minor >= minorPodLevel && hasPodLevel(&s.pod.Spec) {
		return nil
	}
	var findings []Finding
	for _, key := range keys {
		if !mandatory(key) {
			continue
		}
		each(&s.pod.Spec, func(container *corev1.Container) {
			if declares(&container.Resources, key) {
				return
			}
			bound := hard[key].DeepCopy()
			findings = append(findings, Finding{
				Stage: StageQuota, Category: CategoryQuotaMissing, Severity: Refuses, Object: object, Container: container.Name,
				Resource: key, Bound: &bound, Retry: RetryNever,
				Message: fmt.Sprintf("container %s declares no %s, which %s demands of every container", container.Name, key, object),
				Remedy:  "set it; one size sets request and limit",
			})
		})
	}
	return findings
}

// declares says whether amounts declare a mandatory resource of a quota: the plain names are those of requests.
func declares(r *corev1.ResourceRequirements, key corev1.ResourceName) bool {
	if name, ok := strings.CutPrefix(string(key), "limits."); ok {
		_, declared := r.Limits[corev1.ResourceName(name)]
		return declared
	}
	_, declared := r.Requests[corev1.ResourceName(strings.TrimPrefix(string(key), corev1.DefaultResourceRequestsPrefix))]
	return declared
}

// uncounted does step 2. One finding for each resource that has no usage yet.
func uncounted(object string, used corev1.ResourceList, keys []corev1.ResourceName) []Finding {
	var findings []Finding
	for _, key := range keys {
		if _, counted := used[key]; !counted {
			findings = append(findings, Finding{
				Stage: StageQuota, Category: CategoryQuotaUnknownStatus, Severity: Refuses, Object: object, Resource: key, Retry: RetryWhenSynced,
				Message: fmt.Sprintf("the usage of %s in %s has not been counted yet", key, object), Remedy: "try again in a few seconds",
			})
		}
	}
	return findings
}

// stale warns of a quota whose status lags behind its spec, and says what it will do to the pod once it has caught up.
func (s *quotaStage) stale(quota *corev1.ResourceQuota, cluster bool) {
	name := object(quota, cluster)
	later := &quotaStage{pod: s.pod, class: s.class, minor: s.minor, usage: s.usage}
	hard := podResources(rounded(quota.Spec.Hard))
	used := roundedCopy(quota.Status.Used)
	zero := resource.Quantity{}
	for key := range hard {
		if _, ok := used[key]; !ok {
			put(&used, key, zero)
		}
	}
	later.measure(quota, cluster, hard, used, &QuotaUse{CanEverFit: true})
	message := name + " has not been counted yet, so that it is not enforced as it is written"
	if refusals := slices.Concat(later.early, later.late); len(refusals) > 0 {
		reasons := make([]string, len(refusals))
		for i := range refusals {
			reasons[i] = refusals[i].Message
		}
		message += "; once it is, it refuses this pod: " + strings.Join(reasons, ", ")
	}
	s.warnings = append(s.warnings, Finding{Stage: StageQuota, Category: CategoryQuotaUnknownStatus, Severity: Warns, Object: name, Retry: RetryWhenSynced,
		Message: message, Remedy: "wait until status.hard equals spec.hard"})
}

// synced says whether the controller has counted: status.hard is spec.hard and has usage for all of it.
func synced(quota *corev1.ResourceQuota) bool {
	if len(quota.Status.Hard) != len(quota.Spec.Hard) {
		return false
	}
	spec, status := rounded(quota.Spec.Hard), rounded(quota.Status.Hard)
	for key, hard := range spec {
		own, ok := status[key]
		if _, counted := quota.Status.Used[key]; !ok || !counted || own.Cmp(hard) != 0 {
			return false
		}
	}
	return true
}

// podResources is the part of a list that concerns pods. It is the list itself where all of it does, so it is read only.
func podResources(list corev1.ResourceList) corev1.ResourceList {
	for name := range list {
		if !podQuotaResource(name) {
			own := maps.Clone(list)
			maps.DeleteFunc(own, func(name corev1.ResourceName, _ resource.Quantity) bool { return !podQuotaResource(name) })
			return own
		}
	}
	return list
}
