package rego_test

import (
	"strings"
	"testing"

	"github.com/bursar-dev/bursar/policy"
)

func TestExplainTellsEachRule(t *testing.T) {
	h := compile(t, `deny contains {"code": "spent", "msg": "m"} if {
	input.budget.cost.usedPermille >= 400
	input.task.labels.team == "a"
}
deny contains {"code": "other", "msg": "m"} if {
	input.task.attempt > 5
}
cap contains {"field": "maxTokens", "value": 10}
`)
	set, err := policy.NewSet(policy.Options{}, policy.Binding{Hook: h})
	if err != nil {
		t.Fatal(err)
	}
	in := base()
	x, err := set.Explain(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	text := x.String()
	for _, want := range []string{
		"Deny: denied by p (spent)",
		"p: Deny (enforce, cost ", "decides",
		"deny@p.rego:2 matched [deny] p.rego:2",
		"input.budget.cost.usedPermille = 500",
		"deny@p.rego:6 not matched [deny] p.rego:6 line 7 did not hold: input.task.attempt > 5",
		"input.task.attempt = 1",
		"cap@p.rego:9 matched [cap] p.rego:9",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing from:\n%s", want, text)
		}
	}
	if strings.Contains(text, `"a"`) {
		t.Errorf("the value of a label is told:\n%s", text)
	}
}
