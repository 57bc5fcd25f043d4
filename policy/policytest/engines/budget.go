package engines

import (
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

// isBudget reports whether a file is a TaskBudget and no file of rules.
func isBudget(source []byte) bool {
	var head struct {
		Kind string `json:"kind"`
	}
	return yaml.Unmarshal(source, &head) == nil && head.Kind == "TaskBudget"
}

// loadBudget gives the policies of a TaskBudget, compiled as a controller does. A
// fault anywhere in the budget is an error: its policies would never be asked.
func loadBudget(file string, source []byte) (policy.Hook, error) {
	var tb budgetv1alpha1.TaskBudget
	if err := yaml.UnmarshalStrict(source, &tb); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var compiled policy.Hook
	_, faults := budget.Compile(&tb, budget.WithPolicies(func(name string, rules []policy.Rule) (policy.Hook, error) {
		made, err := cel.CompileRules(name, rules)
		compiled = made
		return made, err
	}))
	if err := faults.ToAggregate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if compiled == nil {
		return nil, fmt.Errorf("%s: spec.policies: %w", file, errNoPolicies)
	}
	return compiled, nil
}

var errNoPolicies = errors.New("the budget carries no policies to test")
