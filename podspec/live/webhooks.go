package live

import (
	"context"
	"errors"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/podspec"
)

// errNoNamespace is the reason of webhooks that cannot be matched.
var errNoNamespace = errors.New("the labels of the namespace are not known")

// webhooks are the names of the admission webhooks and policies that may see the creation of a pod in a namespace. A rule
// or selector that is not understood counts: too many names cost a caveat, one too few a wrong promise. What object
// selectors and match conditions look at is not known here, so they are passed over.
func (r Reader) webhooks(ctx context.Context, namespace podspec.Part[corev1.Namespace]) ([]string, error) {
	var mutating admissionv1.MutatingWebhookConfigurationList
	var validating admissionv1.ValidatingWebhookConfigurationList
	var policies admissionv1.ValidatingAdmissionPolicyList
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	if err := r.listAll(ctx, &mutating, &validating, &policies, &bindings); err != nil {
		return nil, err
	}
	if !namespace.Known {
		return nil, errNoNamespace
	}
	own := labels.Set(namespace.Value.Labels)
	var names []string
	add := func(name string, rules []admissionv1.RuleWithOperations, selector *metav1.LabelSelector) {
		if slices.ContainsFunc(rules, seesPods) && selects(selector, own) {
			names = append(names, name)
		}
	}
	for _, configuration := range mutating.Items {
		for _, hook := range configuration.Webhooks {
			add(hook.Name, hook.Rules, hook.NamespaceSelector)
		}
	}
	for _, configuration := range validating.Items {
		for _, hook := range configuration.Webhooks {
			add(hook.Name, hook.Rules, hook.NamespaceSelector)
		}
	}
	for i := range policies.Items {
		policy := &policies.Items[i]
		if match := policy.Spec.MatchConstraints; match != nil && bound(policy.Name, bindings.Items, own) {
			add(policy.Name, plain(match.ResourceRules), match.NamespaceSelector)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// listAll fills lists of objects of the cluster.
func (r Reader) listAll(ctx context.Context, lists ...client.ObjectList) error {
	for _, list := range lists {
		if err := r.Client.List(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

// bound says whether a binding brings a policy into a namespace of some labels.
func bound(policy string, bindings []admissionv1.ValidatingAdmissionPolicyBinding, own labels.Set) bool {
	return slices.ContainsFunc(bindings, func(binding admissionv1.ValidatingAdmissionPolicyBinding) bool {
		match := binding.Spec.MatchResources
		return binding.Spec.PolicyName == policy && (match == nil || selects(match.NamespaceSelector, own))
	})
}

func plain(named []admissionv1.NamedRuleWithOperations) []admissionv1.RuleWithOperations {
	rules := make([]admissionv1.RuleWithOperations, 0, len(named))
	for i := range named {
		rules = append(rules, named[i].RuleWithOperations)
	}
	return rules
}

// seesPods says whether a rule is about the creation of pods.
func seesPods(rule admissionv1.RuleWithOperations) bool {
	has := func(list []string, values ...string) bool {
		return slices.ContainsFunc(list, func(item string) bool { return slices.Contains(values, item) })
	}
	creates := slices.Contains(rule.Operations, admissionv1.Create) || slices.Contains(rule.Operations, admissionv1.OperationAll)
	inside := rule.Scope == nil || *rule.Scope != admissionv1.ClusterScope
	return creates && inside && has(rule.APIGroups, "", "*") && has(rule.APIVersions, "v1", "*") && has(rule.Resources, "pods", "*", "*/*")
}

// selects says whether a selector takes labels; one that cannot be read does.
func selects(selector *metav1.LabelSelector, own labels.Set) bool {
	if selector == nil {
		return true
	}
	compiled, err := metav1.LabelSelectorAsSelector(selector)
	return err != nil || compiled.Matches(own)
}
