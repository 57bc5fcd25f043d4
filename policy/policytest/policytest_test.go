package policytest_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bursar-dev/bursar/policy/policytest"
	"github.com/bursar-dev/bursar/policy/policytest/engines"
)

const celPolicy = `name: p
rules:
- {name: opus, when: task.model == "opus", effect: deny, message: no opus}
- {name: many, when: task.attempt > 3, effect: warn, message: many attempts}
`

const regoPolicy = `package bursar.p

deny contains {"code": "opus", "msg": "no opus"} if input.task.model == "opus"

warn contains {"code": "many", "msg": "many attempts"} if input.task.attempt > 3
`

// report runs cases over the policy in both engines and renders the report.
func report(t *testing.T, cases string) (policytest.Report, string) {
	t.Helper()
	files := fstest.MapFS{
		"d/p.yaml":     {Data: []byte(celPolicy)},
		"d/p.rego":     {Data: []byte(regoPolicy)},
		"d/cases.yaml": {Data: []byte(cases)},
	}
	r, err := policytest.Check(context.Background(), files, engines.Loaders())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.Write(&out, true); err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

const head = "policies: [p.yaml, p.rego]\n"

func TestGoodCasesPass(t *testing.T) {
	r, text := report(t, head+`requireCoverage: true
base: {task.model: haiku}
cases:
- name: a cheap model
- name: opus
  set: {task.model: opus}
  want: {outcome: Deny, codes: [opus], messages: [no opus]}
- name: many attempts
  set: {task: {attempt: 4}}
  want: {outcome: Allow, warnings: [many]}
`)
	if !r.Passed() {
		t.Error(text)
	}
	for _, want := range []string{"ok   d/p.yaml: 3 cases, 2 of 2 rules covered", "ok   d/p.rego: 3 cases, 2 of 2 rules covered", "ok   many attempts", "6 passed, 0 failed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing from:\n%s", want, text)
		}
	}
}

func TestBadSuitesFail(t *testing.T) {
	tests := map[string]struct{ cases, want string }{
		"a wrong expectation":       {head + "cases:\n- {name: a}\n", "outcome: want Allow, have Deny"},
		"a code too many":           {head + "cases:\n- {name: a, want: {outcome: Deny, codes: [opus, x]}}\n", "codes: want [opus x], have [opus]"},
		"a code too few":            {head + "cases:\n- {name: a, want: {outcome: Deny}}\n", "codes: want [], have [opus]"},
		"a wrong message":           {head + "cases:\n- {name: a, want: {outcome: Deny, codes: [opus], messages: [other]}}\n", "messages: want"},
		"an unexpected warning":     {head + "cases:\n- {name: a, set: {task.model: x, task.attempt: 9}}\n", "warnings: want [], have [many]"},
		"a cap that is not there":   {head + "cases:\n- {name: a, want: {outcome: Deny, codes: [opus], caps: {maxTokens: 5}}}\n", "caps: want {maxTokens=5}, have {}"},
		"an unknown key":            {head + "cases:\n- {name: a, wants: {outcome: Deny}}\n", "d/cases.yaml:3:13: cases[0].wants: unknown key; known are name, set, want"},
		"an unknown key in want":    {head + "cases:\n- {name: a, want: {outcome: Deny, code: [opus]}}\n", "cases[0].want.code: unknown key"},
		"an unknown outcome":        {head + "cases:\n- {name: a, want: {outcome: deny}}\n", `cases[0].want.outcome: "deny" is not one of Deny, Hold, Allow`},
		"no outcome":                {head + "cases:\n- {name: a, want: {codes: [opus]}}\n", `cases[0].want.outcome: "" is not one of Deny, Hold, Allow`},
		"no cases":                  {head + "cases: []\n", "cases: there are no cases"},
		"no policies":               {"cases:\n- {name: a}\n", "policies: there are no policies"},
		"a name twice":              {head + "cases:\n- {name: a}\n- {name: a}\n", `cases[1].name: "a" is given twice`},
		"no name":                   {head + "cases:\n- {set: {}}\n", "cases[0]: has no name"},
		"a field that is not":       {head + "cases:\n- {name: a, set: {task.modell: x}}\n", `set: the document has no field "modell"; did you mean model?`},
		"a field of another type":   {head + "cases:\n- {name: a, set: {task.attempt: x}}\n", "set: task.attempt: want a whole number, have a string"},
		"a figure that is computed": {head + "cases:\n- {name: a, set: {budget.cost.usedPermille: 900}}\n", "set budget.cost.usedPermille: usedPermille is computed: set limit and used"},
		"a computed one in a map":   {head + "cases:\n- {name: a, set: {estimate: {totalTokens: 9}}}\n", "set estimate: totalTokens is computed: set inputTokens and outputTokens"},
		"the version":               {head + "cases:\n- {name: a, set: {version: v2}}\n", "set version: version is computed: leave it out"},
		"the instant as a number":   {head + "cases:\n- {name: a, set: {nowUnixMs: 5}}\n", "set nowUnixMs: nowUnixMs is computed: set now"},
		"the share of a period":     {head + "cases:\n- {name: a, set: {budget.period.elapsedPermille: 5}}\n", "elapsedPermille is computed: set now, or the period's startUnixMs and endUnixMs"},
		"what remains":              {head + "cases:\n- {name: a, set: {budget: {cost: {remaining: 5}}}}\n", "remaining is computed: set limit, used and held"},
		"what a meter is used by":   {head + "cases:\n- {name: a, set: {budget.meters: {gpu: {limit: 5}}, budget.meters.gpu.usedPermille: 5}}\n", "usedPermille is computed: set limit and used"},
		"a first budget of text":    {head + "base: {budgets: [x]}\ncases:\n- {name: a, set: {budget.name: y}}\n", "the first of budgets is not a map"},
		"an instant that is none":   {head + "cases:\n- {name: a, set: {now: yesterday}}\n", "set: now: want an instant, as in 2026-03-02T12:00:00Z"},
		"a budget that is no map":   {head + "cases:\n- {name: a, set: {budget: 5}}\n", "set budget: want a map"},
		"a budget where none is":    {head + "base: {budgets: []}\ncases:\n- {name: a, set: {budget.name: x}}\n", "set budget.name: there are no budgets"},
		"budgets of another kind":   {head + "cases:\n- {name: a, set: {budgets: [5]}}\n", "set budgets[0]: want a map"},
		"a path through a text":     {head + "cases:\n- {name: a, set: {task.name.x: 5}}\n", "set task.name.x: name is not a map"},
		"an input out of bounds":    {head + "cases:\n- {name: a, set: {task.attempt: -1}}\n", "input task.attempt: is -1, and may not be negative"},
		"a policy that is not":      {"policies: [q.yaml]\ncases:\n- {name: a}\n", "q.yaml"},
		"a policy of another kind":  {"policies: [p.lua]\ncases:\n- {name: a}\n", "d/p.lua: no engine reads files of this kind"},
		"a parameter too many":      {head + "params: {x: 1}\ncases:\n- {name: a}\n", "parameter x: is not declared"},
		"a rule without a case":     {head + "requireCoverage: true\ncases:\n- {name: a, want: {outcome: Deny, codes: [opus]}}\n", "rule many: no case matches it"},
		"a rule without a counter":  {head + "requireCoverage: true\ncases:\n- {name: a, want: {outcome: Deny, codes: [opus]}}\n", "rule opus: every case matches it"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, text := report(t, test.cases)
			if r.Passed() || !strings.Contains(text, test.want) || !strings.Contains(text, "FAIL") {
				t.Errorf("want a failure with %q, got:\n%s", test.want, text)
			}
		})
	}
}

func TestAFolderWithoutCasesIsAnError(t *testing.T) {
	if _, err := policytest.Check(t.Context(), fstest.MapFS{"p.rego": {Data: []byte(regoPolicy)}}, engines.Loaders()); !errors.Is(err, policytest.ErrNoSuites) {
		t.Errorf("got %v", err)
	}
	if (policytest.Report{}).Passed() {
		t.Error("an empty report passed")
	}
}

func TestAFolderOfModulesIsOnePolicy(t *testing.T) {
	files := fstest.MapFS{
		"p.rego/a.rego":      {Data: []byte(regoPolicy)},
		"p.rego/a_test.rego": {Data: []byte("not even Rego")},
		"x.cases.yaml":       {Data: []byte("policies: [p.rego]\ncases:\n- {name: a, set: {task.model: x}}\n")},
	}
	r, err := policytest.Check(t.Context(), files, engines.Loaders())
	if err != nil || !r.Passed() {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestApply(t *testing.T) {
	in, err := policytest.Apply(
		map[string]any{"task.labels": map[string]any{"a.b/c": "d"}, "budget.inputTokens.limit": 5, "budget.meters": map[string]any{"gpu": map[string]any{"limit": 2, "used": 1}}},
		map[string]any{"task.labels.team": nil, "now": "2026-03-02T06:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := in.Task.Labels["team"]; ok || in.Task.Labels["a.b/c"] != "d" {
		t.Errorf("labels: got %v", in.Task.Labels)
	}
	if m := in.Budget.InputTokens; m.Unlimited || m.Limit != 5 || m.Remaining != 0 {
		t.Errorf("measure: got %+v", m)
	}
	if m := in.Budget.Meters["gpu"]; m.UsedPermille != 500 {
		t.Errorf("meter: got %+v", m)
	}
	if in.Budget.Period.ElapsedPermille != 250 {
		t.Errorf("period: got %+v", in.Budget.Period)
	}
}

// TestNamesMayBeThoseOfFields: a label or a fact is not computed, whatever it is
// called.
func TestNamesMayBeThoseOfFields(t *testing.T) {
	in, err := policytest.Apply(
		map[string]any{
			"task.labels":   map[string]any{"version": "2", "remaining": "x"},
			"budget.meters": map[string]any{"version": map[string]any{"limit": 4, "used": 1}},
		},
		map[string]any{"task.annotations.nowUnixMs": "y", "facts.totalTokens": "z", "budget.meters.remaining.limit": 3})
	if err != nil {
		t.Fatal(err)
	}
	if in.Task.Labels["version"] != "2" || in.Task.Labels["remaining"] != "x" || in.Task.Annotations["nowUnixMs"] != "y" || in.Facts["totalTokens"] != "z" {
		t.Errorf("got %v, %v, %v", in.Task.Labels, in.Task.Annotations, in.Facts)
	}
	if m := in.Budget.Meters; m["version"].UsedPermille != 250 || m["remaining"].Limit != 3 {
		t.Errorf("got %v", m)
	}
}
