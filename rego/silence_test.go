package rego_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursar-dev/bursar/rego"
)

const (
	teamHead  = `input.task.labels.team: where the task has no label team, this rule would not apply at all: write object.get(input.task.labels, "team", ""), or test it in the body of the rule`
	teamBody  = `input.task.labels.team: where the task has no label team, this comparison has no answer and the rule would not apply at all: write not input.task.labels.team == "x", or object.get(input.task.labels, "team", "")`
	teamNamed = `input.task.labels.team: where the task has no label team, this `
	opus      = ` if input.task.model == "opus"`
)

// said makes a rule that denies with a message.
func said(msg, body string) string {
	return `deny contains {"code": "c", "msg": ` + msg + `} if { ` + body + ` }`
}

// A rule that says nothing where the input lacks what it reads is refused: a
// deny that is undefined allows.
func TestARuleThatWouldBeSilentIsRefused(t *testing.T) {
	model := `input.task.model == "opus"`
	for name, test := range map[string]struct{ rules, want string }{
		"a label in the message":             {said(`sprintf("team %s", [input.task.labels.team])`, model), "p.rego:2:56: " + teamHead},
		"a label in brackets":                {said(`input.task.labels["team"]`, model), "p.rego:2:36: " + teamHead},
		"a label as the whole member":        {`warn contains input.task.labels.team`, "p.rego:2:15: " + teamHead},
		"a label in a list of the head":      {`deny contains concat(" ", ["a", input.task.labels.team])` + opus, teamHead},
		"a label whose name has a slash":     {said(`input.task.labels["a/b"]`, model), `the task has no label a/b, this rule would not apply at all: write object.get(input.task.labels, "a/b", "")`},
		"an annotation":                      {said(`input.task.annotations.why`, model), `where the task has no annotation why, this rule would not apply at all: write object.get(input.task.annotations, "why", "")`},
		"the value of a cap":                 {`cap contains {"field": "maxCostMicros", "value": to_number(input.task.labels.max)} if true`, "where the task has no label max"},
		"the delay of a hold":                {`hold contains {"code": "c", "msg": "m", "retryAfterSeconds": to_number(input.facts.retry)}` + opus, "input.facts.retry: where the input has no fact retry, this rule would not apply at all: write object.get(input.facts,"},
		"the value of a label":               {`label contains {"key": "k", "value": input.task.labels.owner} if input.operation == "RecordUsage"`, "the task has no label owner"},
		"a figure of a meter":                {said(`sprintf("%d", [input.budget.meters.gpu.used])`, model), `input.budget.meters.gpu.used: where the budget has no meter gpu, this rule would not apply at all: write object.get(input.budget.meters, ["gpu", "used"], 0)`},
		"the first of no budgets":            {said(`input.budgets[0].name`, model), "input.budgets[0].name: where input.budgets has no member 0, this rule would not apply at all: test count(input.budgets) > 0"},
		"the first of no groups":             {said(`input.actor.groups[0]`, model), "where input.actor.groups has no member 0"},
		"a list in the body":                 {said(`m`, `some m in ["a", input.task.labels.team]`), teamHead},
		"a member of another set":            {"texts contains sprintf(\"team %s\", [input.task.labels.team])" + opus + "\n" + said(`m`, `some m in texts`), teamHead},
		"an object made in the body":         {`deny contains m if { m := {"code": "c", "msg": upper(input.task.labels.team)} }`, teamHead},
		"a helper of the head that differs":  {"why(t) := msg if { t.labels.team != \"x\"; msg := \"m\" }\n" + said(`why(input.task)`, model), "comparison has no answer"},
		"a guard behind not":                 {said(`input.task.labels.team`, `not input.task.labels.team`), teamHead},
		"a guard of another label":           {said(`input.task.labels.team`, `input.task.labels.owner == "x"`), teamHead},
		"a guard of another map":             {said(`input.task.labels.team`, `input.task.annotations.team == "x"`), teamHead},
		"a message made in the body":         {said(`msg`, model+`; msg := sprintf("team %s", [input.task.labels.team])`), "p.rego:2:101: " + teamHead},
		"a message made in two steps":        {said(`msg`, `t := upper(input.task.labels.team); msg := sprintf("team %s", [t])`), teamHead},
		"a map under another name":           {said(`l.team`, `l := input.task.labels`), teamHead},
		"a name in a variable":               {said(`input.task.labels[k]`, `k := "team"; `+model), teamHead},
		"names in a list":                    {said(`input.task.labels[k]`, `some k in ["team", "owner"]`), "the task has no such label"},
		"a map with a default":               {said(`object.get(input.task, "labels", {}).team`, model), teamHead},
		"a map with a default in a variable": {said(`l.team`, `l := object.get(input.task, "labels", {}); `+model), teamHead},
		"a map with a default that differs":  {deny(`l := object.get(input, ["task", "labels"], {}); l.team != "x"`), teamNamed + "comparison"},
		"a default map of another rule":      {"l := object.get(input.task, \"labels\", {})\n" + said(`l.team`, model), teamHead},
		"an import":                          {"import input.task.labels as l\n" + said(`l.team`, model), "p.rego:3:36: " + teamHead},
		"a rule":                             {"team := input.task.labels.team\n" + said(`team`, model), "p.rego:3:36: " + teamHead},
		"a rule with a condition":            {"team := t if t := input.task.labels.team\n" + said(`team`, model), teamHead},
		"a function":                         {"of(key) := input.task.labels[key]\n" + said(`of("team")`, model), "p.rego:3:36: " + teamHead},
		"a function of the map":              {"of(l) := lower(l.team)\n" + said(`of(input.task.labels)`, model), teamHead},
		"a test of the default":              {said(`input.task.labels.team`, `object.get(input.task.labels, "team", "") == ""`), teamHead},
		"a test that a default passes":       {said(`input.task.labels.team`, `object.get(input.task.labels, "team", "") != "x"`), teamHead},
		"a test within a comprehension":      {said(`input.task.labels.team`, `count([1 | input.task.labels.team]) == 0`), teamHead},
		"differs":                            {deny(`input.task.labels.team != "x"`), "p.rego:2:47: " + teamBody},
		"differs, turned round":              {deny(`"x" != input.task.labels.team`), teamNamed + "comparison"},
		"differs from a field":               {deny(`input.task.labels.team != input.task.namespace`), "write not input.task.labels.team == input.task.namespace"},
		"differs within a call":              {deny(`lower(input.task.labels.team) != "x"`), `write not lower(input.task.labels.team) == "x"`},
		"differs after a call":               {deny(`t := lower(input.task.labels.team); t != "x"`), teamNamed + "comparison"},
		"differs beside another condition":   {deny(model + `; input.task.labels.team != "x"`), teamBody},
		"two that differ":                    {deny(`input.task.labels.team != "x"; input.task.labels.team != "y"`), teamBody},
		"differs in a rule":                  {"foreign if input.task.labels.team != \"x\"\n" + deny("foreign"), "p.rego:2:12: " + teamBody},
		"differs in a rule, by default not":  {"default foreign := false\nforeign if input.task.labels.team != \"x\"\n" + deny("foreign"), teamBody},
		"differs in a function":              {"foreign(k) if input.task.labels[k] != \"x\"\n" + deny(`foreign("team")`), "the task has no label team"},
		"differs from all of a list":         {deny(`every t in ["x", "y"] { input.task.labels.team != t }`), teamNamed + "comparison"},
		"is false":                           {deny(`startswith(input.task.labels.team, "x") == false`), "write not in front of the condition instead of == false"},
		"differs in every turn":              {deny(`every k in ["team"] { input.task.labels[k] != "x" }`), "the task has no such label"},
		"differs as a value":                 {"foreign := input.task.labels.team != \"x\"\n" + deny("foreign"), "p.rego:2:12: " + teamBody},
		"differs in a variable":              {deny(`foreign := input.task.labels.team != "x"; foreign`), teamNamed + "comparison"},
		"differs under another name":         {"l := input.task.labels\n" + deny(`l.team != "x"`), teamNamed + `comparison has no answer and the rule would not apply at all: write not l.team == "x"`},
		"differs within an object":           {deny(`x := {"a": input.task.labels.team}; x.a != "x"`), teamNamed + "comparison"},
		"differs from a rule":                {"team := input.task.labels.team\n" + deny(`team != "x"`), `write not team == "x"`},
		"a message as the last operand":      {`deny contains m if sprintf("team %s", [input.task.labels.team], m)`, teamHead},
		"another name of the map":            {"l := input.task.labels\n" + said(`l.team`, model), "p.rego:3:36: " + teamHead},
		"a fact that differs":                {deny(`input.facts.region != "eu"`), "where the input has no fact region"},
		"a budget that differs":              {deny(`input.budgets[0].name != "x"`), "where input.budgets has no member 0"},
		"an owner that another rule forgets": {deny(model+`; not input.task.labels.team`) + "\n" + deny(`input.task.labels.team != "x"`), teamBody},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rego.Compile(map[string]string{"p.rego": "package bursar.p\n" + test.rules}, rego.Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// What its author looks at first, or reads with a default, stays as it is.
func TestARuleThatLooksFirstIsAccepted(t *testing.T) {
	team := `input.task.labels.team`
	lib := "import data.bursar.lib.labels\n"
	for name, rules := range map[string]string{
		"a default":                            said(`object.get(input.task.labels, "team", "none")`, `input.task.model == "opus"`),
		"a test of a map with a default":       said(`l.team`, `l := object.get(input.task, "labels", {}); l.team == "x"`),
		"a default of a map with a default":    said(`object.get(object.get(input.task, "labels", {}), "team", "none")`, `true`),
		"a map with a default of its own":      said(`sprintf("%d", [object.get(input.budget.meters, "gpu", {"used": 0}).used])`, `input.task.model == "opus"`),
		"a default of a path":                  said(`object.get(input.task, ["labels", "team"], "none")`, `input.task.model == "opus"`),
		"a plain mention":                      said(team, team),
		"an equality":                          said(team, team+` == "x"`),
		"a membership":                         said(team, team+` in {"x", "y"}`),
		"a comparison":                         said(team, `to_number(`+team+`) > 3`),
		"a call":                               said(team, `startswith(`+team+`, "x")`),
		"a variable":                           said(`sprintf("%s", [t])`, `t := `+team),
		"a variable and the label":             said(team, `t := `+team+`; t != "x"`),
		"a test of the name":                   said(team, `"team" in object.keys(input.task.labels)`),
		"a test of a default":                  said(team, `object.get(input.task.labels, "team", "") != ""`),
		"a test for one value":                 said(team, `object.get(input.task.labels, "team", "") == "x"`),
		"a test of the library":                lib + said(team, `labels.present("team")`),
		"an equality of the library":           lib + said(team, `labels.equals("team", "x")`),
		"a value of the library":               lib + said(`labels.value("team", "none")`, `true`),
		"a rule of its own":                    "has if " + team + "\n" + said(team, "has"),
		"a rule that is not by default":        "default has := false\nhas if " + team + "\n" + said(team, "has"),
		"a rule with a default":                "default team := \"none\"\nteam := " + team + "\n" + said("team", "true"),
		"a rule with else":                     "team := " + team + " if true\nelse := \"none\"\n" + said("team", "true"),
		"a rule with two answers":              "team := " + team + "\nteam := \"none\" if not " + team + "\n" + said("team", "true"),
		"every label":                          said(`sprintf("%s=%s", [k, v])`, `some k, v in input.task.labels`),
		"every label by its name":              said(`input.task.labels[k]`, `some k, _ in input.task.labels`),
		"any label":                            said(`input.task.labels[k]`, `input.task.labels[k] == "x"`),
		"any label that differs":               deny(`some k; input.task.labels[k] != "x"`),
		"a comprehension":                      said(`concat(",", [t | t := `+team+`])`, `true`),
		"a figure of each budget":              said(`sprintf("%d", [n])`, `some b in input.budgets; n := b.meters.gpu.used`),
		"a budget of those there are":          said(`b.name`, `some b in input.budgets; b.cost.used > 5`),
		"a budget that is counted":             said(`input.budgets[0].name`, `count(input.budgets) > 0`),
		"not equal":                            deny(`not ` + team + ` == "x"`),
		"differs after a test":                 deny(team + `; ` + team + ` != "x"`),
		"differs after a test of the name":     deny(`"team" in object.keys(input.task.labels); ` + team + ` != "x"`),
		"differs behind not":                   "foreign if " + team + " != \"x\"\n" + deny(`not foreign`),
		"not differs":                          deny(`not ` + team + ` != "x"`),
		"differs with a default":               deny(`object.get(input.task.labels, "team", "") != "x"`),
		"a default of its own":                 "t := object.get(input.task.labels, \"team\", \"\")\n" + deny(`t != "x"`),
		"another rule denies what is missing":  deny(`not `+team) + "\n" + deny(team+` != "x"`) + "\n" + said(team, `input.task.model == "opus"`),
		"another denies under less conditions": deny(`input.task.attempt > 3; not `+team) + "\n" + deny(`input.task.attempt > 3; `+team+` != "x"; input.task.model == "opus"`),
		"a set that is only counted":           "owners contains input.task.labels.owner\n" + deny(`count(owners) == 0`),
		"members of another set":               "texts contains sprintf(\"team %s\", [input.task.labels.team]) if input.task.labels.team\n" + said(`m`, `some m in texts`),
		"a cap where a deny covers":            deny(`not `+team) + "\n" + `cap contains {"field": "maxTokens", "value": count(input.task.labels.team)}`,
		"a field that is always there":         said(`input.task.model`, `input.task.namespace != "x"`),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := rego.Compile(map[string]string{"p.rego": "package bursar.p\n" + rules}, rego.Options{}); err != nil && !strings.Contains(err.Error(), "cannot be evaluated for") {
				t.Errorf("%s\n%v", rules, err)
			}
		})
	}
}

// What takes an author a line takes the check no longer, however often values
// stand within others.
func TestTheCheckOfSilenceIsBounded(t *testing.T) {
	var lists, keys, funcs strings.Builder
	for i := range 60 {
		fmt.Fprintf(&lists, "x%d := concat(\"\", [x%d, x%d])\n", i+1, i, i)
		fmt.Fprintf(&keys, "x%d := object.get(input.facts[x%d], input.facts[x%d], x%d)\ny%d := input.facts[y%d][y%d]\n", i+1, i, i, i, i+1, i, i)
	}
	for i := range 100 {
		fmt.Fprintf(&funcs, "deny contains input.task.labels.team if { not input.task.labels.a%d; input.task.attempt > %d }\n", i, i)
	}
	for name, rules := range map[string]string{
		"texts of texts": "deny contains x60 if {\nx0 := lower(input.task.labels.team)\n" + lists.String() + "}",
		"keys of keys":   "deny contains x60 if {\nx0 := input.task.model\ny0 := x0\n" + keys.String() + "y60 != x60\n}",
		"many rules":     funcs.String(),
	} {
		t.Run(name, func(t *testing.T) {
			// What matters is that it ends: each of these once doubled at each step.
			if _, err := rego.CompileUntried(map[string]string{"p.rego": "package bursar.p\n" + rules}, rego.Options{}); err == nil {
				t.Error("it was loaded")
			}
		})
	}
}
