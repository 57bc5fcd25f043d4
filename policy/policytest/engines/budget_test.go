package engines_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bursar-dev/bursar/policy/policytest"
	"github.com/bursar-dev/bursar/policy/policytest/engines"
)

const manifest = `apiVersion: bursar.dev/v1alpha1
kind: TaskBudget
metadata: {name: team-daily, namespace: agents}
spec:
  taskSelector: {matchLabels: {team: a}}
  period: {type: Daily}
  maxCostUSD: "100"
` + policies

const policies = `  policies:
  - name: no-opus
    when: task.model == "opus"
    effect: deny
    message: not here
`

const budgetCases = `policies: [budget.yaml]
cases:
- name: another model
  set: {task.model: haiku}
  want: {outcome: Allow}
- name: opus
  set: {task.model: opus}
  want: {outcome: Deny, codes: [no-opus]}
`

func TestPoliciesOfATaskBudgetAreTestedAsTheyStand(t *testing.T) {
	files := fstest.MapFS{"budget.yaml": {Data: []byte(manifest)}, "cases.yaml": {Data: []byte(budgetCases)}}
	report, err := policytest.Check(t.Context(), files, engines.Loaders())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := report.Write(&out, true); err != nil {
		t.Fatal(err)
	}
	if !report.Passed() {
		t.Error(out.String())
	}
}

func TestATaskBudgetWithAFaultIsNotTested(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"a bad expression":   {"task.model", "task.modle", "spec.policies[0].when"},
		"a bad zone":         {"{type: Daily}", "{type: Daily, timezone: Mars/Base}", "spec.period.timezone"},
		"an unknown field":   {"maxCostUSD", "maxCost", "maxCost"},
		"no policies at all": {policies, "", "spec.policies: the budget carries no policies to test"},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{
				"budget.yaml": {Data: []byte(strings.Replace(manifest, c.from, c.to, 1))},
				"cases.yaml":  {Data: []byte(budgetCases)},
			}
			report, err := policytest.Check(t.Context(), files, engines.Loaders())
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := report.Write(&out, true); err != nil || report.Passed() {
				t.Errorf("%v, the report says that nothing failed", err)
			}
			if text := out.String(); !strings.Contains(text, c.want) || !strings.Contains(text, "budget.yaml") {
				t.Errorf("%s\nwant %s of budget.yaml", text, c.want)
			}
		})
	}
}
