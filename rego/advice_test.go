package rego_test

import (
	"testing"

	"github.com/bursar-dev/bursar/rego"
)

// What authors get wrong most often is answered with what to write instead.
func TestMistakesAreAnsweredWithWhatToWrite(t *testing.T) {
	params := "# METADATA\n# custom:\n#   params:\n#     zone: {type: string, default: UTC}\n#     strict: {type: bool, default: true}\n#     max: {type: int, default: 3}\n"
	ordered := "the answer is always the same; numbers stand without quotes"
	for rules, want := range map[string]string{
		deny(`task.model == "opus"`):                     "p.rego:2:47: var task is unsafe: write input.task",
		deny(`input.task.model == opus`):                 "p.rego:2:47: var opus is unsafe: nothing gives it a value; text stands in quotes",
		deny(`not labels.present("owner")`):              "p.rego:2:47: undefined function labels.present: write import data.bursar.lib.labels above the rules",
		deny(`not data.bursar.lib.label.present("x")`):   "p.rego:2:47: undefined function data.bursar.lib.label.present: bursar.lib has the packages labels models money time",
		deny(`input.task.attempt == "3"`):                "p.rego:2:47: a number never equals a string: numbers stand without quotes, text with them",
		deny(`input.task.attempt > "3"`):                 "p.rego:2:47: a number is compared with a string: " + ordered,
		deny(`"9" <= input.budget.cost.used`):            "p.rego:2:47: a string is compared with a number: " + ordered,
		deny(`input.estimate.known >= 1`):                "p.rego:2:47: a boolean is compared with a number: " + ordered,
		deny(`input.budget.cost.used > 12.5`):            "p.rego:2:47: a whole number is compared with a fraction: money is in millionths of a US dollar, shares are in thousandths",
		deny(`input.operation == "admit"`):               "p.rego:2:47: input.operation is never \"admit\": it is one of Admit, Renew, BuildPod, RecordUsage; did you mean Admit?",
		deny(`"Start" != input.operation`):               "p.rego:2:58: input.operation is never \"Start\": it is one of Admit, Renew, BuildPod, RecordUsage",
		deny(`input.operation in {"Admit", "Record"}`):   "p.rego:2:47: input.operation is never \"Record\": it is one of Admit, Renew, BuildPod, RecordUsage",
		"deny contains \"x\" if {\n\tinput.task.attempt": "p.rego:3:19: unexpected eof token: expected \\n or ; or }; input.task.attempt: is a { or a [ not closed?",
		`denny contains "x" if input.task.attempt > 3`:   "p.rego:2:1: denny is none of the sets deny, warn, hold, cap, label; did you mean deny?",
	} {
		_, err := rego.Compile(map[string]string{"p.rego": "package bursar.p\n" + rules}, rego.Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", rules, err, want)
		}
	}
	for rule, want := range map[string]string{
		deny(`input.task.attempt > data.params.zone`):   "p.rego:8:47: a number is compared with a string: " + ordered,
		deny(`data.params.strict < 3`):                  "p.rego:8:47: a boolean is compared with a number: " + ordered,
		deny(`input.task.attempt > data.params.max`):    "",
		deny(`input.task.labels.tier > "3"`):            "",
		deny(`input.task.attempt > data.params.missin`): "p.rego:8:68: data.params.missin: there is no such rule or parameter: parameters are declared above the package, # METADATA, # custom:, #   params:",
	} {
		_, err := rego.Compile(map[string]string{"p.rego": params + "package bursar.p\n" + rule}, rego.Options{})
		if got := text(err); got != want {
			t.Errorf("%s\ngot  %v\nwant %s", rule, got, want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
