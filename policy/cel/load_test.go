package cel_test

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

const sample = `# a comment
name: sample
params:
  ceiling: {type: int, default: 800}
  models: {type: strings, default: [opus, sonnet]}
variables:
- name: spent
  expression: budget.cost.usedPermille
- name: tight
  expression: variables.spent >= params.ceiling
rules:
- name: tight
  match: {models: ["op*"]}
  when: variables.tight
  effect: deny
  message: too much is spent
- name: busy
  when: |
    variables.tight &&
      task.attempt > 1
  effect: hold
  retryAfterSeconds: 60 * task.attempt
  messageExpression: '"spent " + string(variables.spent)'
- name: listed
  when: task.model in params.models
  effect: warn
  code: listed-model
  message: a listed model
- name: cap
  when: true
  effect: cap
  field: maxTokens
  value: 1000
- name: class
  when: "true"
  effect: label
  key: cost-class
  value: "variables.tight ? 'high' : 'low'"
`

func TestLoadedRulesTakeEffect(t *testing.T) {
	h, err := cel.Load("sample.yaml", []byte(sample), cel.Options{Params: map[string]any{"ceiling": 500}})
	if err != nil {
		t.Fatal(err)
	}
	in := base()
	in.Task.Attempt = 2
	limit := int64(1000)
	want := policy.Verdict{
		Outcome: policy.Deny,
		Reasons: []policy.Reason{
			{Policy: "sample", Code: "tight", Message: "too much is spent"},
			{Policy: "sample", Code: "busy", Message: "spent 500", Outcome: policy.Hold},
		},
		Warnings: []policy.Reason{{Policy: "sample", Code: "listed-model", Message: "a listed model", Outcome: policy.Allow}},
		Caps:     policy.Caps{MaxTokens: &limit},
		Labels:   map[string]string{"cost-class": "high"},
	}
	if diff := cmp.Diff(want, ask(t, in, h)); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
	in.Task.Model = "haiku"
	v := ask(t, in, h)
	if v.Outcome != policy.Hold || v.RetryAfter != 2*time.Minute || len(v.Warnings) != 0 {
		t.Errorf("another model: got %+v", v)
	}
}

func TestLoadRefuses(t *testing.T) {
	head := "name: p\nrules:\n- name: r\n"
	tests := map[string]struct{ source, want string }{
		"an empty file":          {"", "f.yaml: the file is empty"},
		"an empty list of rules": {"rules: []\n", "f.yaml:1:8: rules: there are no rules"},
		"no rules at all":        {"name: p\n", "f.yaml: rules: there are no rules"},
		"an unknown key":         {head + "  when: \"true\"\n  efect: deny\n", "f.yaml:5:3: rules[0].efect: unknown key; known are name, description, match, when, effect, code, message, messageExpression, retryAfterSeconds, field, key, value"},
		"an unknown effect":      {head + "  when: true\n  effect: dney\n", `f.yaml:5:11: rules[0].effect: rule r: "dney" is not one of deny, hold, warn, cap, label`},
		"a key twice":            {head + "  when: true\n  when: false\n  effect: deny\n", "f.yaml:5:3: rules[0].when: is given twice"},
		"an alias":               {"rules: [&a {name: r}, *a]\n", "f.yaml:1:23: rules[1]: aliases are not supported"},
		"two documents":          {"rules: []\n---\nrules: []\n", "f.yaml: holds more than one document"},
		"broken notation":        {"rules: [\n", "f.yaml:1: did not find expected node content"},
		"a list where text belongs": {head + "  when: [1]\n  effect: deny\n  message: m\n",
			"f.yaml:4:9: rules[0].when: want a single value, have a list"},
		"no message":    {head + "  when: true\n  effect: deny\n", "f.yaml:3:3: rules[0].message: rule r: exactly one of message and messageExpression is required"},
		"both messages": {head + "  when: true\n  effect: deny\n  message: m\n  messageExpression: \"'m'\"\n", "f.yaml:6:12: rules[0].message: rule r: exactly one of message and messageExpression is required"},
		"a field of another effect": {head + "  when: true\n  effect: deny\n  message: m\n  value: 5\n",
			"f.yaml:7:10: rules[0].value: rule r: does not belong to the effect deny"},
		"a cap without value": {head + "  when: true\n  effect: cap\n  field: maxTokens\n", "f.yaml:3:3: rules[0].value: rule r: is required for the effect cap"},
		"a cap of nothing known": {head + "  when: true\n  effect: cap\n  field: tokens\n  value: 5\n",
			`f.yaml:6:10: rules[0].field: rule r: "tokens" is not one of maxTokens, maxCostMicros, cpuMilli, memoryBytes, deadlineSeconds`},
		"a cap of text":            {head + "  when: true\n  effect: cap\n  field: maxTokens\n  value: \"'5'\"\n", "f.yaml:7:11: rules[0].value: rule r: must be int, is string"},
		"a bad code":               {head + "  when: true\n  effect: deny\n  code: Not A Code\n  message: m\n", `f.yaml:6:9: rules[0].code: rule r: "Not A Code": want 1 to 63 of a-z, 0-9 and -`},
		"a bad rule name":          {"rules:\n- name: R 1\n  when: true\n  effect: deny\n  message: m\n", `f.yaml:2:9: rules[0].name: "R 1": want 1 to 63 of a-z, 0-9 and -`},
		"a star within":            {head + "  match: {models: [\"*-mini\"]}\n  when: true\n  effect: deny\n  message: m\n", `f.yaml:4:19: rules[0].match.models: rule r: "*-mini": * may only be the last character`},
		"an unknown operation":     {head + "  match: {operations: [admit]}\n  when: true\n  effect: deny\n  message: m\n", `f.yaml:4:23: rules[0].match.operations: rule r: "admit" is not an operation: want Admit, Renew, BuildPod or RecordUsage`},
		"a parameter of text":      {"params: {max: {type: int, default: abc}}\nrules:\n- {name: r, when: true, effect: deny, message: m}\n", `f.yaml:1:9: params: parameter max: want int, have the text "abc"`},
		"a fraction":               {"params: {max: {type: int, default: 1.5}}\nrules: []\n", "f.yaml:1:36: params.max.default: 1.5: fractions are not supported"},
		"a plain expression":       {head + "  when: task.modle == \"x\"\n  effect: deny\n  message: m\n", `f.yaml:4:13: rules[0].when: rule r: undefined field 'modle'; did you mean model?`},
		"a quoted expression":      {head + "  when: 'task.modle == \"x\"'\n  effect: deny\n  message: m\n", `f.yaml:4:14: rules[0].when: rule r: undefined field 'modle'; did you mean model?`},
		"an expression of lines":   {head + "  when: |\n    true &&\n    task.modle == \"x\"\n  effect: deny\n  message: m\n", `f.yaml:6:9: rules[0].when: rule r: undefined field 'modle'; did you mean model?`},
		"a variable read too soon": {"variables:\n- {name: a, expression: variables.b}\n- {name: b, expression: \"true\"}\nrules:\n- {name: r, when: true, effect: deny, message: m}\n", `f.yaml:2:34: variables[0].expression: undefined field 'b': no variable of that name comes before`},
		"a variable of no type":    {"variables:\n- {name: a, expression: dyn(1)}\nrules:\n- {name: r, when: true, effect: deny, message: m}\n", "f.yaml:2:25: variables[0].expression: the type of a variable must be known, is dyn"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := cel.Load("f.yaml", []byte(test.source), cel.Options{})
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestEveryFaultIsReported(t *testing.T) {
	_, err := cel.Compile(cel.Policy{Name: "p", Rules: []policy.Rule{
		{Name: "a", When: "tsk", Effect: policy.EffectDeny, Message: "m"},
		{Name: "a", When: "1", Effect: "dney"},
	}}, cel.Options{})
	want := policy.LoadErrors{
		{Path: "rules[0].when", Rule: "a", Line: 1, Column: 1, Text: "undeclared reference to 'tsk'; did you mean task?"},
		{Path: "rules[1].name", Rule: "a", Text: "is given twice"},
		{Path: "rules[1].effect", Rule: "a", Text: `"dney" is not one of deny, hold, warn, cap, label`},
		{Path: "rules[1].when", Rule: "a", Line: 1, Column: 1, Text: "must be bool, is int"},
	}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestLoadFS(t *testing.T) {
	rule := "rules:\n- {name: r, when: true, effect: deny, message: m}\n"
	files := fstest.MapFS{
		"a.yaml":     {Data: []byte("name: first\nparams: {n: {type: int}}\n" + rule)},
		"b.yml":      {Data: []byte(rule)},
		"cases.yaml": {Data: []byte("not a policy")},
		"notes.md":   {Data: []byte("not a policy")},
	}
	hooks, err := cel.LoadFS(files, cel.FolderOptions{Params: map[string]map[string]any{"first": {"n": 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(hooks) != 2 || hooks[0].Name() != "first" || hooks[1].Name() != "b" {
		t.Errorf("got %v", hooks)
	}
	if _, err := cel.LoadFS(files, cel.FolderOptions{Params: map[string]map[string]any{"first": {"n": 1}, "none": {}}}); err == nil {
		t.Error("parameters for a policy that is not there were accepted")
	}
	if _, err := cel.LoadFS(fstest.MapFS{}, cel.FolderOptions{}); err == nil {
		t.Error("an empty folder was accepted")
	}
}

func TestTheRevisionHeedsTextAndParameters(t *testing.T) {
	revision := func(source string, ceiling int) string {
		h, err := cel.Load("p.yaml", []byte(source), cel.Options{Params: map[string]any{"ceiling": ceiling}})
		if err != nil {
			t.Fatal(err)
		}
		return h.Revision()
	}
	first := revision(sample, 1)
	if first != revision(sample+"# more\n", 1) {
		t.Error("a comment changed the revision")
	}
	if first == revision(sample, 2) {
		t.Error("a parameter did not change the revision")
	}
}
