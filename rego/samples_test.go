package rego_test

import (
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/rego"
)

// The samples that authors find as JSON are those that a policy is tried on.
func TestTheSampleFilesAreTheSamples(t *testing.T) {
	files, err := fs.Glob(rego.Assets(), "samples/*.json")
	if err != nil || len(files) != len(policy.Samples()) {
		t.Fatal(files, err)
	}
	for _, s := range policy.Samples() {
		want, err := json.MarshalIndent(s.Input, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want)+"\n", string(read(t, path.Join("samples", s.Name+".json")))); diff != "" {
			t.Errorf("run go generate ./rego: %s (-want +have):\n%s", s.Name, diff)
		}
	}
}

// A policy that would fail on a plain task is refused when it is loaded, with
// the place of the expression that fails.
func TestAPolicyThatFailsOnASampleIsRefused(t *testing.T) {
	usual, bare := "a usual task that wants to start: ", "a task without labels, model and estimate, that no budget matches: "
	tests := map[string]struct{ rules, want string }{
		"a division":                     {deny("input.budget.cost.remaining / input.estimate.costMicros > 3"), "p.rego:2:47: policy p cannot be evaluated for " + bare + "div: divide by zero"},
		"text that is no number":         {deny(`to_number(input.task.priority) > 3`), "p.rego:2:47: policy p cannot be evaluated for " + usual + `to_number: strconv.ParseFloat: parsing "normal": invalid syntax`},
		"a zone of no map":               {deny(`time.clock([input.nowUnixMs * 1000000, "Mars/Base"])[0] > 9`), "p.rego:2:47: policy p cannot be evaluated for " + usual + "time.clock: unknown time zone Mars/Base"},
		"a number in deny":               {"deny contains input.task.attempt", `p.rego:2:1: policy p cannot be evaluated for ` + usual + `deny: a member is a number: want a string or {"code": …, "msg": …}`},
		"a key of another language":      {`deny contains {"code": "a", "message": "b"} if input.task.attempt >= 0`, "p.rego:2:1: policy p cannot be evaluated for " + usual + "deny: message: unknown key, want code and msg"},
		"a code that is none":            {`warn contains {"code": "Not A Code", "msg": "b"}`, `p.rego:2:1: policy p cannot be evaluated for ` + usual + `warn: code: "Not A Code": want 1 to 63 of a-z, 0-9 and -`},
		"a cap below 0":                  {`cap contains {"field": "maxCostMicros", "value": input.budget.cost.remaining - 1000}`, "p.rego:2:1: policy p cannot be evaluated for a running task in a budget whose limits are 0: cap: cap maxCostMicros: -1000 is negative"},
		"a fraction":                     {`cap contains {"field": "maxCostMicros", "value": input.budget.cost.remaining / 3}`, "p.rego:2:1: policy p cannot be evaluated for " + usual + "cap: value: 1.6666666666666666667e+07 is not a whole number of 64 bits: use floor"},
		"a rule of one operation":        {deny(`input.operation == "RecordUsage"; to_number(input.task.model) > 3`), "p.rego:2:81: policy p cannot be evaluated for the usage of a usual task: " + `to_number: strconv.ParseFloat: parsing "opus": invalid syntax`},
		"more steps than a policy takes": {deny("some a in numbers.range(1, 900); some b in numbers.range(1, 900); a + b == 0"), "p.rego:2:1: policy p cannot be evaluated for " + usual + "more than 50000 steps"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rego.Compile(map[string]string{"p.rego": "package bursar.p\n" + test.rules}, rego.Options{})
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// A host that allows more steps than a trial takes is not refused for them.
func TestATrialIsBounded(t *testing.T) {
	dear := map[string]string{"p.rego": "package bursar.p\n" + deny(`some a in numbers.range(1, 2000); some b in numbers.range(1, 2000); a + b == 0`)}
	if _, err := rego.Compile(dear, rego.Options{Steps: 1 << 40}); err != nil && !strings.Contains(err.Error(), "bytes of text") {
		t.Error(err)
	}
}
