package cel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

// A policy that would fail on a plain task is refused when it is loaded, with
// the place in the file of the expression that fails.
func TestAPolicyThatFailsOnASampleIsRefused(t *testing.T) {
	usual, bare := "a usual task that wants to start: ", "a task without labels, model and estimate, that no budget matches: "
	spent := "a running task in a budget whose limits are 0: "
	hint := ` (test with "key" in map, or read map[?"key"].orValue(""))`
	tests := map[string]struct{ rules, want string }{
		"a label that tasks may lack": {`- {name: r, when: 'task.labels["team"] == "a"', effect: deny, message: m}`,
			"p.yaml:2:31: rules[0].when: rule r: cannot be evaluated for " + bare + "no such key: team" + hint},
		"a label in a message": {`- {name: r, when: true, effect: warn, messageExpression: 'task.labels["owner"]'}`,
			"p.yaml:2:70: rules[0].messageExpression: rule r: cannot be evaluated for " + usual + "no such key: owner" + hint},
		"a label in a variable": {"- {name: r, when: variables.o == 'x', effect: deny, message: m}\nvariables:\n- {name: o, expression: 'task.labels.owner'}",
			"p.yaml:4:37: variables[0].expression: rule r: cannot be evaluated for " + usual + "no such key: owner" + hint},
		"a share of a limit of 0": {`- {name: r, when: 'permille(budget.cost.used, budget.cost.limit) > 800', effect: deny, message: m}`,
			"p.yaml:2:28: rules[0].when: rule r: cannot be evaluated for " + spent + "permille(50000000, 0): the whole must be above 0"},
		"a division": {`- {name: r, when: budget.cost.remaining / estimate.costMicros > 3, effect: deny, message: m}`,
			"p.yaml:2:41: rules[0].when: rule r: cannot be evaluated for " + bare + "division by zero"},
		"the first of no budgets": {`- {name: r, when: 'budgets[0].name == "x"', effect: deny, message: m}`,
			"p.yaml:2:30: rules[0].when: rule r: cannot be evaluated for " + bare + "index out of bounds: 0 (test with size(list) > 0 first)"},
		"the second of no groups": {`- {name: r, when: 'actor.groups[1] == "x"', effect: deny, message: m}`,
			"p.yaml:2:32: rules[0].when: rule r: cannot be evaluated for " + bare + "index out of bounds: 1 (test with size(list) > 1 first)"},
		"a number that is none": {`- {name: r, when: int(task.priority) > 3, effect: deny, message: m}`,
			"p.yaml:2:22: rules[0].when: rule r: cannot be evaluated for " + usual + "type conversion error from 'string' to 'int'"},
		"a cap below 0": {`- {name: r, when: true, effect: cap, field: maxCostMicros, value: budget.cost.remaining - 1000}`,
			"p.yaml:2:67: rules[0].value: rule r: cannot be evaluated for " + spent + "cap maxCostMicros: -1000 is negative"},
		"a retry that is too late": {`- {name: r, when: true, effect: hold, message: m, retryAfterSeconds: budget.cost.remaining}`,
			"p.yaml:2:70: rules[0].retryAfterSeconds: rule r: cannot be evaluated for " + usual + "retryAfterSeconds: 50000000 is not between 0 and 31622400"},
		"a label that is not valid": {`- {name: r, when: true, effect: label, key: k, value: '"a b"'}`,
			`p.yaml:2:55: rules[0].value: rule r: cannot be evaluated for ` + usual + `label k: "a b" is not a valid label value`},
		"a zone of no map": {`- {name: r, when: now.getHours("Mars/Base") > 9, effect: deny, message: m}`,
			"p.yaml:2:31: rules[0].when: rule r: cannot be evaluated for " + usual + "unknown time zone Mars/Base"},
		"two rules, each with its own fault": {`- {name: r, when: 1 / task.attempt > 3, effect: deny, message: m}` + "\n" + `- {name: s, when: 1 % task.attempt > 3, effect: deny, message: m}`,
			"p.yaml:2:21: rules[0].when: rule r: cannot be evaluated for " + bare + "division by zero\n" +
				"p.yaml:3:21: rules[1].when: rule s: cannot be evaluated for " + bare + "modulus by zero"},
		"an operation that the samples ask once": {`- {name: r, match: {operations: [RecordUsage]}, when: usage.costMicros / estimate.costMicros > 2, effect: warn, message: m}`,
			"p.yaml:2:72: rules[0].when: rule r: cannot be evaluated for " + bare + "division by zero"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := cel.Load("p.yaml", []byte("rules:\n"+test.rules+"\n"), cel.Options{})
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestAPolicyThatLooksFirstIsAccepted(t *testing.T) {
	many := make([]string, 500)
	for i := range many {
		many[i] = fmt.Sprintf(`- {name: r%d, when: 'actor.groups.exists(g, dyn(g) == task.model)', effect: deny, message: m}`, i)
	}
	for name, rules := range map[string]string{
		"a label that match asks for":        `- {name: r, match: {labels: {team: a}}, when: 'task.labels["team"] == "b"', effect: deny, message: m}`,
		"a label that is tested":             `- {name: r, when: '"team" in task.labels && task.labels["team"] == "b"', effect: deny, message: m}`,
		"a budget that is counted":           `- {name: r, when: 'size(budgets) > 0 && budgets[0].name == "x"', effect: deny, message: m}`,
		"a label with a default":             `- {name: r, when: 'task.labels[?"team"].orValue("") == "b"', effect: deny, message: m}`,
		"a division behind a test":           `- {name: r, when: estimate.costMicros > 0 && budget.cost.remaining / estimate.costMicros > 3, effect: deny, message: m}`,
		"a model that match asks for":        `- {name: r, match: {models: ["gpt-*"]}, when: 'task.model.split("-")[1] == "9"', effect: deny, message: m}`,
		"five hundred rules with accounting": strings.Join(many, "\n"),
	} {
		if _, err := cel.Load("p.yaml", []byte("rules:\n"+rules+"\n"), cel.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A match that no input can agree with is never evaluated.
func TestAMatchThatNothingAgreesWithIsNotTried(t *testing.T) {
	p := deny(`task.labels["owner"] == "x"`)
	p.Rules[0].Match.Models = []string{strings.Repeat("x", policy.MaxString+1)}
	if _, err := cel.Compile(p, cel.Options{}); err != nil {
		t.Error(err)
	}
}
