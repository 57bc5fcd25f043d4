package budget

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
)

// maxPolicies bounds the rules in spec.policies.
const maxPolicies = 32

// CompileOption changes how [Compile] works.
type CompileOption func(*compiler)

// WithPolicies gives [Compile] the engine of spec.policies:
//
//	rule, faults := budget.Compile(tb, budget.WithPolicies(cel.CompileRules))
//
// It is injected, so that who uses no policies links no engine. Give it
// everywhere or nowhere: to the webhook, the gate and the reconciler.
func WithPolicies(compile policy.RuleCompiler) CompileOption {
	return func(c *compiler) { c.compileRules = compile }
}

// policies compiles spec.policies. Every fault is reported, with its place.
func (c *compiler) policies(path *field.Path, list []budgetv1alpha1.PolicyRule) {
	if len(list) == 0 {
		return
	}
	if len(list) > maxPolicies {
		c.fail(ReasonInvalidPolicy, field.TooMany(path, len(list), maxPolicies))
		return
	}
	rules := make([]policy.Rule, len(list))
	for i := range list {
		rules[i] = ruleOf(&list[i])
	}
	found := policy.CheckRules(rules)
	hook, err := c.compileHook("TaskBudget "+c.rule.name.String(), rules)
	var located policy.LoadErrors
	switch {
	case errors.As(err, &located):
		for _, e := range located {
			if !slices.ContainsFunc(found, func(o policy.LoadError) bool { return o.Path == e.Path && o.Text == e.Text }) {
				found = append(found, e)
			}
		}
	case err != nil:
		c.fail(ReasonInvalidPolicy, field.Forbidden(path, err.Error()))
	}
	for _, e := range found {
		c.fail(ReasonInvalidPolicy, locate(path, list, e))
	}
	if err == nil && len(found) == 0 {
		c.bind(path, hook)
	}
}

var errNoCompiler = errors.New("policies are not enabled here: no compiler was given (see budget.WithPolicies)")

// compileHook asks the engine. Its panic is a fault of the budget, not the end
// of the process that was given one.
func (c *compiler) compileHook(name string, rules []policy.Rule) (hook policy.Hook, err error) {
	if c.compileRules == nil {
		return nil, errNoCompiler
	}
	defer func() {
		if r := recover(); r != nil {
			hook, err = nil, fmt.Errorf("they cannot be compiled: %v", r)
		}
	}()
	hook, err = c.compileRules(name, rules)
	if err == nil && hook == nil {
		err = errors.New("they cannot be compiled: the compiler gave nothing")
	}
	return hook, err
}

// bind makes the hook the rule's own. What a budget that only warns would
// refuse is a warning, and so is what its policies would.
func (c *compiler) bind(path *field.Path, hook policy.Hook) {
	enforcement := policy.Enforce
	if c.rule.action == budgetv1alpha1.ActionWarn {
		enforcement = policy.Warn
	}
	set, err := policy.NewSet(policy.Options{Name: hook.Name()}, policy.Binding{Hook: hook, Enforcement: enforcement})
	if err != nil {
		c.fail(ReasonInvalidPolicy, field.Forbidden(path, err.Error()))
		return
	}
	c.rule.policies = set
}

// ruleOf reads a rule of a manifest.
func ruleOf(r *budgetv1alpha1.PolicyRule) policy.Rule {
	rule := policy.Rule{
		Name: r.Name, Description: r.Description, When: r.When, Effect: policy.Effect(r.Effect), Code: r.Code,
		Message: r.Message, MessageExpression: r.MessageExpression, RetryAfterSeconds: r.RetryAfterSeconds,
		Field: r.Field, Key: r.Key, Value: r.Value,
	}
	if m := r.Match; m != nil {
		rule.Match = policy.Match{
			Namespaces: slices.Clone(m.Namespaces), Models: slices.Clone(m.Models),
			Priorities: slices.Clone(m.Priorities), Profiles: slices.Clone(m.Profiles), Labels: maps.Clone(m.Labels),
		}
		for _, o := range m.Operations {
			rule.Match.Operations = append(rule.Match.Operations, policy.Operation(o))
		}
	}
	return rule
}

// locate gives a fault of a rule the path of its field in the budget, and its
// place within the expression: "spec.policies[0].when: Invalid value: …: 1:5: …".
func locate(path *field.Path, list []budgetv1alpha1.PolicyRule, e policy.LoadError) *field.Error {
	text := e.Text
	if e.Line > 0 {
		text = fmt.Sprintf("%d:%d: %s", e.Line, e.Column, text)
	}
	number, rest, ok := strings.Cut(strings.TrimPrefix(e.Path, "rules["), "]")
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i < 0 || i >= len(list) {
		return field.Forbidden(path, strings.TrimPrefix(e.Path+": "+text, ": "))
	}
	at := path.Index(i)
	name := strings.TrimPrefix(rest, ".")
	for part := range strings.SplitSeq(name, ".") {
		if part != "" {
			at = at.Child(part)
		}
	}
	value := valueOf(&list[i], name)
	if value == "" && strings.HasPrefix(e.Text, "is required") {
		return field.Required(at, text)
	}
	return field.Invalid(at, bounded(value, maxValue), text)
}

// valueOf is what a field of a rule says, for the fault that repeats it.
func valueOf(r *budgetv1alpha1.PolicyRule, name string) string {
	switch name {
	case "when":
		return r.When
	case "effect":
		return string(r.Effect)
	case "code":
		return r.Code
	case "message":
		return r.Message
	case "messageExpression":
		return r.MessageExpression
	case "retryAfterSeconds":
		return r.RetryAfterSeconds
	case "field":
		return r.Field
	case "key":
		return r.Key
	case "value":
		return r.Value
	default:
		return r.Name
	}
}
