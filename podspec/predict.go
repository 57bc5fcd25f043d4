package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// PredictOption changes what a prediction holds against a pod.
type PredictOption func(*predictor)

// StrictSizing makes every amount that a LimitRange would fill in a refusal: a pod that is sized by accident is not sized.
func StrictSizing() PredictOption { return func(p *predictor) { p.strict = true } }

type predictor struct {
	snapshot *Snapshot
	pod      *corev1.Pod
	strict   bool
}

// Predict says what the API server will answer to the creation of a pod in a namespace, and why, without asking it. It
// goes through the stages of the server in their order and reports the findings of all of them, though the server would
// stop at the first refusal, which is the prediction's Stage and Category. Neither argument is changed; the result shares
// nothing with them.
//
// A prediction is as good as its snapshot and true for the moment at which that was read: others may use up the quota in
// between. What can be decided is decided exactly; what hangs on something unknown is Unknown, never Admit. Not looked at
// are rights, the service account, and what makes a pod invalid beside its amounts.
func Predict(snapshot Snapshot, pod *corev1.Pod, options ...PredictOption) (Prediction, error) {
	if pod == nil {
		return Prediction{}, fmt.Errorf("%w: the pod is nil", ErrOption)
	}
	p := &predictor{snapshot: &snapshot, pod: pod}
	for _, option := range options {
		if option != nil {
			option(p)
		}
	}
	return p.predict(), nil
}

func (p *predictor) predict() Prediction {
	sequences, complete := orders(p.snapshot.LimitRanges.Value)
	var outcomes []Outcome
	for _, sequence := range sequences {
		outcome := p.outcome(sequence)
		if !slices.ContainsFunc(outcomes, outcome.equivalent) {
			outcomes = append(outcomes, outcome)
		}
	}
	prediction := Prediction{Outcome: outcomes[0], Caveats: p.caveats(complete)}
	if len(outcomes) > 1 {
		prediction.Alternatives = outcomes
		prediction.Verdict = joint(outcomes)
		if prediction.Verdict == Depends {
			prediction.Stage, prediction.Category = "", ""
		}
	}
	return prediction
}

// joint is the verdict over several outcomes.
func joint(outcomes []Outcome) Verdict {
	for i := range outcomes {
		if outcomes[i].Verdict != outcomes[0].Verdict {
			return Depends
		}
	}
	return outcomes[0].Verdict
}

// outcome goes through the stages for one order of LimitRanges.
func (p *predictor) outcome(ranges []*corev1.LimitRange) Outcome {
	minor := p.snapshot.minor()
	pod := p.pod.DeepCopy()
	o := Outcome{Effective: pod}
	decode(pod, minor)
	for _, limits := range ranges {
		o.Order = append(o.Order, limits.Name)
		o.Masked = append(o.Masked, fillFrom(limits, &pod.Spec)...)
	}
	o.Findings = append(o.Findings, p.namespace()...)
	o.Findings = append(o.Findings, setPriority(pod, p.snapshot.PriorityClasses)...)
	runtimeNow, runtimeLater := setRuntimeClass(pod, p.snapshot.RuntimeClasses)
	o.Findings = append(o.Findings, runtimeNow...)
	if minor >= minorPodLevelFixed {
		fillPodLevel(&pod.Spec)
	}
	o.QOS = QOS(&pod.Spec, minor)
	o.Findings = append(o.Findings, validate(pod, minor)...)
	o.Findings = append(o.Findings, p.limitRanges(ranges, pod, o.Masked)...)
	o.Findings = append(o.Findings, checkPodSecurity(p.snapshot, pod)...)
	o.Findings = append(o.Findings, runtimeLater...)
	quota, uses := p.quotas(pod, o.QOS)
	o.Findings = append(o.Findings, quota...)
	o.Quotas = uses
	o.conclude()
	if o.Verdict != Reject && (minor < minorPodLevelFixed || pod.Spec.Overhead != nil) {
		// What is stored is read like what is sent: the overhead is rounded, and servers before 1.37 fill in the pod level once
		// more. Class and quotas are settled by then. The rest is as it was at the first reading.
		decode(pod, minor)
	}
	return o
}

// namespace is the first stage: nothing is created in a namespace that is being deleted.
func (p *predictor) namespace() []Finding {
	namespace := &p.snapshot.Namespace
	if !namespace.Known || namespace.Value.Status.Phase != corev1.NamespaceTerminating {
		return nil
	}
	return []Finding{{Stage: StageNamespace, Category: CategoryNamespaceTerminating, Severity: Refuses, Object: "Namespace " + namespace.Value.Name, Retry: RetryNever,
		Message: fmt.Sprintf("namespace %s is being deleted", namespace.Value.Name), Remedy: "use another namespace"}}
}

// limitRanges checks the bounds, and what was filled in.
func (p *predictor) limitRanges(ranges []*corev1.LimitRange, pod *corev1.Pod, masked []Masking) []Finding {
	if !p.snapshot.LimitRanges.Known {
		return []Finding{{Stage: StageLimitRange, Category: CategoryLimitRange, Severity: Undecided, Message: "the LimitRanges of the namespace are not known (" + p.snapshot.LimitRanges.Reason + ")", Remedy: "allow the caller to list them, or ask the server with a dry run"}}
	}
	var findings []Finding
	for _, limits := range ranges {
		findings = append(findings, checkLimitRange(limits, &pod.Spec)...)
	}
	return append(findings, maskings(masked, p.strict)...)
}

// quotas checks the quotas.
func (p *predictor) quotas(pod *corev1.Pod, class corev1.PodQOSClass) ([]Finding, []QuotaUse) {
	findings, uses := checkQuotas(pod, class, p.snapshot.minor(), p.snapshot.ResourceQuotas.Value, p.snapshot.OpenShift.Value.ClusterQuotas)
	if !p.snapshot.ResourceQuotas.Known {
		findings = append(findings, Finding{Stage: StageQuota, Category: CategoryQuotaExceeded, Severity: Undecided, Message: "the quotas of the namespace are not known (" + p.snapshot.ResourceQuotas.Reason + ")", Remedy: "allow the caller to list them, or ask the server with a dry run"})
	}
	if !p.snapshot.PriorityClasses.Known && p.pod.Spec.PriorityClassName == "" && scopedByPriority(p.snapshot.ResourceQuotas.Value) {
		findings = append(findings, Finding{Stage: StageQuota, Category: CategoryQuotaExceeded, Severity: Undecided, Message: "a quota is scoped by priority class, and whether the cluster has a default class is not known", Remedy: "name the priority class"})
	}
	return findings, uses
}

func scopedByPriority(quotas []corev1.ResourceQuota) bool {
	return slices.ContainsFunc(quotas, func(quota corev1.ResourceQuota) bool {
		if slices.Contains(quota.Spec.Scopes, corev1.ResourceQuotaScopePriorityClass) {
			return true
		}
		return quota.Spec.ScopeSelector != nil && slices.ContainsFunc(quota.Spec.ScopeSelector.MatchExpressions, func(r corev1.ScopedResourceSelectorRequirement) bool {
			return r.ScopeName == corev1.ResourceQuotaScopePriorityClass
		})
	})
}

// caveats are what the snapshot cannot tell.
func (p *predictor) caveats(allOrders bool) []string {
	var caveats []string
	s := p.snapshot
	switch {
	case !s.ServerMinor.Known:
		caveats = append(caveats, fmt.Sprintf("the version of the API server is not known; the rules of 1.%d are assumed", latestMinor))
	case s.ServerMinor.Value > latestMinor:
		caveats = append(caveats, fmt.Sprintf("the API server is newer than 1.%d, the newest one whose rules are known here", latestMinor))
	}
	switch {
	case !s.Webhooks.Known:
		caveats = append(caveats, "whether admission webhooks or policies see the pod is not known; they may change or refuse it")
	case len(s.Webhooks.Value) > 0:
		caveats = append(caveats, "admission webhooks and policies see the pod and may change or refuse it: "+strings.Join(s.Webhooks.Value, ", "))
	}
	switch {
	case !s.OpenShift.Known:
		caveats = append(caveats, "whether the cluster enforces SecurityContextConstraints or ClusterResourceQuotas is not known")
	case s.OpenShift.Value.Present:
		caveats = append(caveats, "OpenShift's SecurityContextConstraints decide too and may change the pod's security context")
	}
	if !s.PodSecurity.Known {
		caveats = append(caveats, "the API server's configuration is not known: who is exempt from PodSecurity, and what it allows only under a quota")
	}
	if !allOrders {
		caveats = append(caveats, fmt.Sprintf("%d LimitRanges contradict each other; only some of their orders were looked at", len(s.LimitRanges.Value)))
	}
	return caveats
}
