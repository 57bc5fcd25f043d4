package engines_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/internal/policyfixture"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/policytest/engines"
)

// load reads one policy: CEL if the text starts with "rules:", else Rego.
func load(text string, params map[string]any) (policy.Hook, error) {
	file := "p.rego"
	if strings.HasPrefix(text, "rules:") || strings.HasPrefix(text, "params:") {
		file = "p.yaml"
	}
	return engines.Loaders()[file[1:]](fstest.MapFS{file: {Data: []byte(text)}}, file, params)
}

// Faults that embedders of policy engines had in the field, and what is
// answered here when the policy is loaded. The number is the row of the list
// of such faults in the issue that asked for these hooks.
func TestFaultsOfTheFieldAreRefusedAtLoad(t *testing.T) {
	rego := "package bursar.p\n"
	cel := func(when string) string {
		return "rules:\n- {name: r, effect: deny, message: m, when: '" + when + "'}\n"
	}
	tests := map[string]struct {
		text   string
		params map[string]any
		want   string
	}{
		"1 a misspelt decision in Rego":       {text: rego + `decisoon := {"deny": true}`, want: "no package defines any of the sets"},
		"1 a decision with a misspelt key":    {text: cel(`{"dney": true}`), want: "must be bool, is map(string, bool)"},
		"2 a boolean deny":                    {text: rego + "deny := true", want: "deny must be a set"},
		"2 a number in deny":                  {text: rego + "deny contains 7", want: "deny: a member is a number"},
		"3 text where a bool belongs":         {text: cel(`"Submit order"`), want: "must be bool, is string"},
		"3 a type that is known only later":   {text: cel("dyn(true)"), want: "must be bool, is dyn"},
		"4 a built-in that fails":             {text: rego + `deny contains "x" if to_number("12 USD") > 5`, want: "to_number"},
		"4 a division by zero":                {text: rego + `deny contains "x" if 1 / input.task.attempt > 5`, want: "divide by zero"},
		"7 a parameter of another type, CEL":  {text: "params: {maxUsd: {type: int, default: 1}}\n" + cel("task.attempt > params.maxUsd"), params: map[string]any{"maxUsd": "abc"}, want: `parameter maxUsd: want int, have the text "abc"`},
		"7 a parameter of another type, Rego": {text: "# METADATA\n# custom:\n#   params:\n#     maxUsd: {type: int, default: 1}\n" + rego + `deny contains "x" if input.task.attempt > data.params.maxUsd`, params: map[string]any{"maxUsd": "abc"}, want: `parameter maxUsd: want int, have the text "abc"`},
		"14 a quantity that is a number":      {text: cel("cpu(2) > 1"), want: "cpu cannot be applied to (int)"},
		"14 a quantity that is none":          {text: cel(`cpu("500x") > 1`), want: `cpu("500x")`},
		"18 an order across kinds, Rego":      {text: rego + `deny contains "x" if "1" > input.task.attempt`, want: "a string is compared with a number"},
		"18 an order across kinds, CEL":       {text: cel(`"1" > task.attempt`), want: "> cannot be applied to (string, int)"},
		"19 a label that tasks may lack":      {text: cel(`task.labels["x"] == "y"`), want: `no such key: x (test with "key" in map`},
		"21 loops in loops":                   {text: cel("[1].all(a, [1].all(b, [1].all(c, a + b + c > 0)))"), want: "nesting"},
		"23 an empty list of rules":           {text: "rules: []\n", want: "there are no rules"},
		"28 the environment":                  {text: rego + `deny contains "x" if opa.runtime().env.HOME`, want: "undefined function opa.runtime"},
		"28 the network":                      {text: rego + `deny contains "x" if http.send({"url": "x"}).status_code == 200`, want: "undefined function http.send"},
		"28 names of the network":             {text: rego + `deny contains "x" if net.lookup_ip_addr("x")`, want: "undefined function net.lookup_ip_addr"},
		"28 the clock":                        {text: rego + `deny contains "x" if time.now_ns() > 5`, want: "undefined function time.now_ns"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			hook, err := load(test.text, test.params)
			if err == nil || !strings.Contains(err.Error(), test.want) || hook != nil {
				t.Errorf("got %v and %v, want an error with %q", hook, err, test.want)
			}
		})
	}
}

// Rows 15, 23, 30 and 31: both engines give the verdict that Go gives, on the
// same input, and leave it as it was.
func TestFaultsOfTheFieldAreAnsweredAlike(t *testing.T) {
	rego := "package bursar.p\n"
	tests := map[string]struct {
		cel, rego string
		want      policy.Outcome
	}{
		"15 a number beyond what floats hold":  {`budget.cost.used == 9007199254740993`, `input.budget.cost.used == 9007199254740993`, policy.Deny},
		"15 its neighbour":                     {`budget.cost.used == 9007199254740992`, `input.budget.cost.used == 9007199254740992`, policy.Allow},
		"19 a label that is looked for first":  {`"x" in task.labels`, `input.task.labels.x`, policy.Allow},
		"31 lists and maps of the whole input": {`budgets.all(b, b.name != "") && size(task.labels) == 1`, `every b in input.budgets { b.name != "" }; count(input.task.labels) == 1`, policy.Deny},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := policyfixture.Draft()
			in.Budgets[0].Cost = policy.Limited(1<<60, 9007199254740993, 0)
			in = in.Complete()
			before := in.Clone()
			for _, text := range []string{
				"rules:\n- {name: r, effect: deny, message: m, when: '" + test.cel + "'}\n",
				rego + `deny contains {"code": "r", "msg": "m"} if { ` + test.rego + ` }`,
			} {
				hook, err := load(text, nil)
				if err != nil {
					t.Fatal(err)
				}
				if v, err := hook.Evaluate(t.Context(), &in); err != nil || v.Outcome != test.want {
					t.Errorf("%s\ngot %s, %v", text, v.Outcome, err)
				}
				if diff := cmp.Diff(*before, in); diff != "" {
					t.Errorf("the input changed (-before +after):\n%s", diff)
				}
			}
		})
	}
}

// Rows 7, 27 and 34: what does not load keeps the last good set in force.
func TestAFaultOfTheFieldKeepsTheLastGoodSet(t *testing.T) {
	var holder policy.Holder
	reload := func(text string) error {
		return holder.Reload(policyfixture.Noon(), func() (*policy.Set, error) {
			hook, err := load(text, nil)
			if err != nil {
				return nil, err
			}
			return policy.NewSet(policy.Options{Timeout: time.Minute}, policy.Binding{Hook: hook})
		})
	}
	if err := reload(`package bursar.p` + "\n" + `deny contains {"code": "old", "msg": "m"} if input.task.model == "opus"`); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"package bursar.p\ndeny := true", "rules: []\n", "rules:\n- {name: r, effect: deny, message: m, when: 'task.labels[\"x\"] == \"\"'}\n"} {
		if _, ok := errors.AsType[policy.LoadErrors](reload(bad)); !ok {
			t.Errorf("%s was loaded", bad)
		}
	}
	in := policyfixture.Base()
	v, err := holder.Evaluate(t.Context(), &in)
	if err != nil || v.Outcome != policy.Deny || v.Reasons[0].Code != "old" || !holder.Status().Stale || holder.Status().Failures != 3 {
		t.Errorf("got %+v, %v, %+v", v, err, holder.Status())
	}
}
