package cel_test

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

func ExampleLoad() {
	source := `
name: models
params:
  ceiling: {type: int, default: 800}
rules:
- name: opus-budget
  match: {models: ["opus*"]}
  when: budget.cost.usedPermille >= params.ceiling
  effect: deny
  message: opus starts only while less than 80% of the budget is used
`
	hook, err := cel.Load("models.yaml", []byte(source), cel.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	in := policy.Input{
		Operation: policy.Admit,
		Now:       time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC),
		Task:      policy.Task{Model: "opus-5"},
		Budgets:   []policy.Budget{{Name: "team", Cost: policy.Limited(100_000_000, 85_000_000, 0)}},
	}.Complete()
	v, err := hook.Evaluate(context.Background(), &in)
	fmt.Println(v.Outcome, v.Reasons[0].Code, err)
	// Output: Deny opus-budget <nil>
}

func ExampleCompile() {
	_, err := cel.Compile(cel.Policy{Rules: []policy.Rule{{
		Name: "owner", When: `task.label["owner"] == ""`, Effect: policy.EffectDeny, Message: "an owner is required",
	}}}, cel.Options{Name: "inline"})
	fmt.Println(err)
	// Output: 1:5: rules[0].when: rule owner: undefined field 'label'; did you mean labels?
}
