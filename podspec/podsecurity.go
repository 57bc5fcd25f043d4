package podspec

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// PodSecurity holds a pod to the level that its namespace enforces, or, where the namespace says nothing, to a default in
// the API server's configuration, which no client can read. The checks are those of the Kubernetes library itself. An
// enforce label that cannot be read counts as "restricted". Exemptions are in the server's configuration too.

// checkPodSecurity gives the findings of the enforced level, or an undecided one where the level is not known and matters.
func checkPodSecurity(snapshot *Snapshot, pod *corev1.Pod) []Finding {
	defaults := snapshot.PodSecurity
	if defaults.Known && exempt(defaults.Value, pod) {
		return nil
	}
	var labels map[string]string
	if snapshot.Namespace.Known {
		labels = snapshot.Namespace.Value.Labels
	}
	if !snapshot.Namespace.Known || !hasKey(labels, api.EnforceLevelLabel) && !defaults.Known {
		return undecidedSecurity(snapshot, pod)
	}
	enforced, warned := levels(defaults.Value, labels)
	findings := violations(enforced, snapshot.minor(), pod, Refuses)
	if len(findings) == 0 {
		findings = violations(warned, snapshot.minor(), pod, Warns)
	}
	return findings
}

func hasKey(labels map[string]string, key string) bool {
	_, ok := labels[key]
	return ok
}

// exempt says whether the configuration spares the pod.
func exempt(defaults PodSecurityDefaults, pod *corev1.Pod) bool {
	class := pod.Spec.RuntimeClassName
	return defaults.Exempt || class != nil && *class != "" && slices.Contains(defaults.ExemptRuntimeClasses, *class)
}

// levels are the enforced and the warned level of a namespace with its labels.
func levels(defaults PodSecurityDefaults, labels map[string]string) (enforced, warned api.LevelVersion) {
	base := api.Policy{
		Enforce: levelOf(defaults.Enforce, defaults.EnforceVersion),
		Audit:   levelOf("", ""),
		Warn:    levelOf(defaults.Warn, defaults.WarnVersion),
	}
	// What cannot be parsed comes back as the strictest level, which is what the server enforces then.
	effective, _ := api.PolicyToEvaluate(labels, base)
	return effective.Enforce, effective.Warn
}

// levelOf reads a level of the configuration; empty is privileged and latest, and what cannot be read is restricted.
func levelOf(level, version string) api.LevelVersion {
	result := api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
	if level != "" {
		result.Level, _ = api.ParseLevel(level)
	}
	if version != "" {
		result.Version, _ = api.ParseVersion(version)
	}
	return result
}

// checks is the library's own set, which it finds valid. It is built once, at first use, and never changed.
var checks = sync.OnceValue(func() policy.Evaluator {
	evaluator, _ := policy.NewEvaluator(policy.DefaultChecks(), nil)
	return evaluator
})

// capped is a level as a server of a minor version applies it: "latest" is the latest there, not the library's.
func capped(level api.LevelVersion, minor int) api.LevelVersion {
	if newest := api.MajorMinorVersion(1, minor); newest.Older(level.Version) {
		level.Version = newest
	}
	return level
}

// violations gives one finding for each check that the pod fails.
func violations(level api.LevelVersion, minor int, pod *corev1.Pod, severity Severity) []Finding {
	if level.Level == api.LevelPrivileged {
		return nil
	}
	var findings []Finding
	for _, result := range checks().EvaluatePod(capped(level, minor), &pod.ObjectMeta, &pod.Spec) {
		if result.Allowed {
			continue
		}
		message := result.ForbiddenReason
		if result.ForbiddenDetail != "" {
			message += " (" + result.ForbiddenDetail + ")"
		}
		findings = append(findings, Finding{
			Stage: StagePodSecurity, Category: CategoryPodSecurity, Severity: severity, Object: "PodSecurity " + level.String(), Retry: RetryNever,
			Message: fmt.Sprintf("PodSecurity %s forbids: %s", level.String(), message), Remedy: securityRemedy(level.Level),
		})
	}
	return findings
}

func securityRemedy(level api.Level) string {
	if level == api.LevelRestricted {
		return "harden the pod, or run it where the level allows it"
	}
	return "remove what the level forbids, or run the pod where it is allowed"
}

// undecidedSecurity answers where the level is not known: a pod that passes the strictest level passes any.
func undecidedSecurity(snapshot *Snapshot, pod *corev1.Pod) []Finding {
	strictest := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	failed := violations(strictest, snapshot.minor(), pod, Undecided)
	if len(failed) == 0 {
		return nil
	}
	reasons := make([]string, len(failed))
	for i := range failed {
		_, reasons[i], _ = strings.Cut(failed[i].Message, "forbids: ")
	}
	source := "the namespace has no enforce label, and the default of the API server is not known"
	if !snapshot.Namespace.Known {
		source = "the labels of the namespace are not known"
	}
	return []Finding{{
		Stage: StagePodSecurity, Category: CategoryPodSecurity, Severity: Undecided, Object: "PodSecurity", Retry: RetryNever,
		Message: fmt.Sprintf("%s; under restricted the pod would be refused for: %s", source, strings.Join(reasons, ", ")),
		Remedy:  "harden the pod, label the namespace, or ask the server with a dry run",
	}}
}
