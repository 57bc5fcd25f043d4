package rego_test

import (
	"context"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/rego"
)

func ExampleLoad() {
	folder := fstest.MapFS{"models.rego": {Data: []byte(`
# METADATA
# custom:
#   params:
#     ceiling: {type: int, default: 800}
package bursar.models

deny contains {"code": "opus-budget", "msg": "opus starts only while less than 80% of the budget is used"} if {
	startswith(input.task.model, "opus")
	input.budget.cost.usedPermille >= data.params.ceiling
}
`)}}
	hooks, err := rego.Load(folder, rego.Options{})
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
	v, err := hooks[0].Evaluate(context.Background(), &in)
	fmt.Println(hooks[0].Name(), v.Outcome, v.Reasons[0].Code, err)
	// Output: models Deny opus-budget <nil>
}

func ExampleCompile() {
	_, err := rego.Compile(map[string]string{"owner.rego": `package bursar.owner

deny[msg] if {
	not input.task.labels.owner
	msg := "an owner is required"
}
`}, rego.Options{})
	fmt.Println(err)
	// Output: owner.rego:3:1: deny must be a set: write deny contains … if { … }
}
