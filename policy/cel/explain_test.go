package cel_test

import (
	"strings"
	"testing"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

func TestExplainTellsEachRule(t *testing.T) {
	source := `rules:
- name: spent
  when: budget.cost.usedPermille >= 400 && task.labels["team"] == "a"
  effect: deny
  message: m
- name: other
  match: {models: [haiku]}
  when: "true"
  effect: deny
  message: m
- name: broken
  when: task.name == "odd" && task.labels["owner"] == "x"
  effect: warn
  message: m
`
	h, err := cel.Load("p.yaml", []byte(source), cel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := policy.NewSet(policy.Options{}, policy.Binding{Hook: h})
	if err != nil {
		t.Fatal(err)
	}
	in := base()
	in.Task.Name = "odd"
	x, err := set.Explain(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	text := x.String()
	for _, want := range []string{
		"Deny: denied by p (policy-error), p (spent)",
		"p: Deny (enforce, cost ", "decides",
		"spent matched [deny] p.yaml:2 code spent",
		"budget.cost.usedPermille = 500",
		`task.labels["team"] = (redacted)`,
		"other skipped [deny] p.yaml:6 match does not include this call",
		"broken error [warn] p.yaml:11", "no such key",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing from:\n%s", want, text)
		}
	}
}
