package cel_test

import (
	"testing"

	"github.com/bursar-dev/bursar/policy/cel"
)

// What authors get wrong most often is answered with what to write instead.
func TestMistakesAreAnsweredWithWhatToWrite(t *testing.T) {
	number := `: write a number without quotes; for quantities usd("12.50"), cpu("500m"), bytes("4Gi")`
	for when, want := range map[string]string{
		`task.modle == "opus"`:             "1:5: rules[0].when: rule r: undefined field 'modle'; did you mean model?",
		`budget.cost.usedpermille > 800`:   "1:12: rules[0].when: rule r: undefined field 'usedpermille'; did you mean usedPermille?",
		`input.task.model == "opus"`:       "1:1: rules[0].when: rule r: undeclared reference to 'input': in CEL the document has no root; write task.model, not input.task.model",
		`now() > now`:                      "1:4: rules[0].when: rule r: undeclared reference to 'now': now is a value, not a function; write it without ()",
		`task.model.startswith("opus")`:    "1:22: rules[0].when: rule r: undeclared reference to 'startswith'; did you mean startsWith?",
		`task.model.glob("opus")`:          "1:16: rules[0].when: rule r: undeclared reference to 'glob': there is no such function",
		`task.model == opus`:               `1:15: rules[0].when: rule r: undeclared reference to 'opus': text stands in quotes, as in "opus"; the document has actor, budget, budgets, estimate, facts, now, nowUnixMs, operation, pod, task, usage, version`,
		`task.attempt == "3"`:              "1:14: rules[0].when: rule r: == cannot be applied to (int, string)" + number,
		`budget.cost.used > "12.50"`:       "1:18: rules[0].when: rule r: > cannot be applied to (int, string)" + number,
		`task.model + 1 == "a"`:            "1:12: rules[0].when: rule r: + cannot be applied to (string, int): write string(n) for a number, money(n) for an amount of money",
		`task.attempt > params.max`:        "1:22: rules[0].when: rule r: undefined field 'max': the policy declares no such parameter",
		`variables.share > 5`:              "1:10: rules[0].when: rule r: undefined field 'share': no variable of that name comes before",
		`budget.cost.used > 12.5`:          `1:20: rules[0].when: rule r: 12.5 is a fraction: all numbers of the document are whole, money is in millionths of a US dollar; write usd("12.50")`,
		`task.attempt > 3 and task.x`:      "1:18: rules[0].when: rule r: Syntax error: mismatched input 'and' expecting <EOF>: and, or, not are written &&, ||, !",
		`pod.memoryBytes > 2Gi`:            `1:20: rules[0].when: rule r: Syntax error: extraneous input 'Gi' expecting <EOF>: quantities are written bytes("2Gi"), cpu("500m"), usd("12.50")`,
		`"a" in task.labels ? true : "b"`:  "1:20: rules[0].when: rule r: both sides of ? : must be of one type, have (bool, bool, string)",
		`operation == "admit"`:             `1:14: rules[0].when: rule r: operation is never "admit": it is one of Admit, Renew, BuildPod, RecordUsage; did you mean Admit?`,
		`"Start" != operation`:             `1:1: rules[0].when: rule r: operation is never "Start": it is one of Admit, Renew, BuildPod, RecordUsage`,
		`operation in ["Admit", "Record"]`: `1:24: rules[0].when: rule r: operation is never "Record": it is one of Admit, Renew, BuildPod, RecordUsage`,
		`version == "v2"`:                  `1:12: rules[0].when: rule r: version is never "v2": it is one of v1`,
		`task.attempt > 1 (`:               "1:18: rules[0].when: rule r: Syntax error: extraneous input '(' expecting <EOF>",
	} {
		if _, err := cel.Compile(deny(when), cel.Options{}); err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", when, err, want)
		}
	}
}
