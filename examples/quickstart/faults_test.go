package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inFolder makes files in a new folder and goes there.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// manifest is a good TaskBudget. A test spoils one line of it.
const manifest = `# a comment
apiVersion: bursar.dev/v1alpha1
kind: TaskBudget
metadata:
  name: daily
  namespace: agents
spec:
  taskSelector: {}
  period:
    type: Daily
    timezone: UTC
  maxCostUSD: "10"
`

// line is a good run. A test spoils one field of it.
const line = `{"uid":"u1","name":"one","namespace":"agents","labels":{"team":"web"},"phase":"Succeeded",` +
	`"startTime":"2026-03-06T10:00:00Z","completionTime":"2026-03-06T11:00:00Z","results":{"cost-usd":"1"}}` + "\n"

const prices = `prices:
- model: m
  perMillionUSD:
    inputTokens: "1"
`

func TestAFaultInAFileIsToldWithItsPlace(t *testing.T) {
	for what, c := range map[string]struct {
		file     string // budgets.yaml, runs.jsonl or prices.yaml
		old, new string // what is spoilt; all of the file where old is empty
		want     string
	}{
		"an unknown field": {
			"budgets.yaml", "maxCostUSD:", "maxCost:",
			"budgets.yaml:12: spec.maxCost: unknown field",
		},
		"an unknown field deep inside": {
			"budgets.yaml", `maxCostUSD: "10"`, "limits:\n  - meter: tasks\n    maximum: 3",
			"budgets.yaml:14: spec.limits[0].maximum: unknown field",
		},
		"a field whose case is wrong": {
			"budgets.yaml", "maxCostUSD:", "maxcostusd:",
			"budgets.yaml:12: spec.maxcostusd: unknown field",
		},
		"a field that is there twice": {
			"budgets.yaml", "  taskSelector: {}", "  taskSelector: {}\n  taskSelector: {}",
			`budgets.yaml:9: key "taskSelector" already set in map`,
		},
		"a text for a number": {
			"budgets.yaml", `maxCostUSD: "10"`, "maxInputTokens: many",
			"budgets.yaml:12: spec.maxInputTokens: want a whole number, not string",
		},
		"a list for an object": {
			"budgets.yaml", "taskSelector: {}", "taskSelector: []",
			"budgets.yaml:8: spec.taskSelector: want an object, not array",
		},
		"a number for a text in a list": {
			"budgets.yaml", "  maxCostUSD:", "  groupBy:\n  - team\n  - 7\n  maxCostUSD:",
			"budgets.yaml:14: spec.groupBy[1]: want a string, not number",
		},
		"a quantity that is none": {
			"budgets.yaml", `"10"`, "ten",
			`budgets.yaml:12: spec.maxCostUSD: "ten" is no quantity: write a plain decimal, such as 45 or 0.25`,
		},
		"a time that is none": {
			"budgets.yaml", "type: Daily", "type: Lifetime\n    endsAt: tomorrow",
			`budgets.yaml:11: spec.period.endsAt: "tomorrow" is no time: write it in full`,
		},
		"a period that does not exist": {
			"budgets.yaml", "Daily", "Fortnightly",
			`budgets.yaml:10: spec.period.type: Invalid value: "Fortnightly": no such kind of period`,
		},
		"a zone that does not exist": {
			"budgets.yaml", "timezone: UTC", "timezone: Mars/Olympus",
			`budgets.yaml:11: spec.period.timezone: Invalid value: "Mars/Olympus": no zone of the tz database`,
		},
		"a selector that is none": {
			"budgets.yaml", "taskSelector: {}", "taskSelector:\n    matchExpressions:\n    - {key: team, operator: Is}",
			`budgets.yaml:10: spec.taskSelector.matchExpressions[0].operator: Invalid value: "Is"`,
		},
		"a negative limit": {
			"budgets.yaml", `"10"`, `"-10"`,
			`budgets.yaml:12: spec.maxCostUSD: Invalid value: "-10"`,
		},
		"a negative limit on tokens": {
			"budgets.yaml", `maxCostUSD: "10"`, "maxInputTokens: -1",
			"budgets.yaml:12: spec.maxInputTokens: Invalid value: -1: must not be negative",
		},
		"no limit": {
			"budgets.yaml", "  maxCostUSD: \"10\"\n", "",
			"budgets.yaml:7: spec: Required value: at least one of maxCostUSD",
		},
		"no selector": {
			"budgets.yaml", "  taskSelector: {}\n", "",
			"budgets.yaml:7: spec.taskSelector: Required value",
		},
		"another kind": {
			"budgets.yaml", "kind: TaskBudget", "kind: ConfigMap",
			`budgets.yaml:3: kind: ConfigMap is not read here, only TaskBudget`,
		},
		"a list": {
			"budgets.yaml", "kind: TaskBudget", "kind: List",
			"budgets.yaml:3: kind: a List is not read: write each TaskBudget as a document of its own, after a line ---",
		},
		"a name that no object can have": {
			"budgets.yaml", "  name: daily\n", "  name: Daily_1\n",
			"budgets.yaml:5: metadata.name: a lowercase RFC 1123 subdomain must consist of",
		},
		"money with its sign": {
			"budgets.yaml", `"10"`, "$1",
			`budgets.yaml:12: spec.maxCostUSD: "$1" is no quantity: write a plain decimal, such as 45 or 0.25`,
		},
		"a time that is a date": {
			"budgets.yaml", "timezone: UTC", "startsAt: 2026-01-01",
			`budgets.yaml:11: spec.period.startsAt: "2026-01-01" is no time: write it in full, such as 2026-01-31T09:00:00Z`,
		},
		"no API version": {
			"budgets.yaml", "apiVersion: bursar.dev/v1alpha1\n", "",
			"budgets.yaml:2: apiVersion: required",
		},
		"no name": {
			"budgets.yaml", "  name: daily\n", "",
			"budgets.yaml:4: metadata.name: Required value: decisions name the budget",
		},
		"no namespace": {
			"budgets.yaml", "  namespace: agents\n", "",
			"budgets.yaml:4: metadata.namespace: Required value: a budget is for the tasks of its namespace",
		},
		"a document beside its separator": {
			"budgets.yaml", "", manifest + "--- {apiVersion: bursar.dev/v1alpha1, kind: TaskBudget}\n",
			"budgets.yaml:13: write the document on the lines after ---, not beside it",
		},
		"a name that is there twice": {
			"budgets.yaml", "", manifest + "---\n# again\n" + manifest,
			"budgets.yaml:19: metadata.name: TaskBudget agents/daily is there already, at budgets.yaml:5",
		},
		"a fault in the second document": {
			"budgets.yaml", "", manifest + "--- # the second\n" + strings.Replace(manifest, "Daily", "7", 1),
			"budgets.yaml:23: spec.period.type: want a string, not number",
		},
		"YAML that is none": {
			"budgets.yaml", "taskSelector: {}", "taskSelector: {",
			"budgets.yaml:9: did not find expected ',' or '}'",
		},
		"a tab where blanks belong": {
			"budgets.yaml", "  taskSelector: {}", "\ttaskSelector: {}",
			"budgets.yaml:8: found character that cannot start any token",
		},
		"an alias without an anchor": {
			"budgets.yaml", "taskSelector: {}", "taskSelector: *all",
			"budgets.yaml:1: unknown anchor 'all' referenced",
		},
		"a fault behind an alias": {
			"budgets.yaml", "taskSelector: {}", "taskSelector: &a {matchLabels: {a: 1}}",
			"budgets.yaml:8: spec.taskSelector.matchLabels.a: want a string, not number",
		},
		"a label whose key has dots": {
			"budgets.yaml", "taskSelector: {}", "taskSelector:\n    matchLabels:\n      example.com/a: 1",
			"budgets.yaml:10: spec.taskSelector.matchLabels.example.com/a: want a string, not number",
		},
		"a document that is a text": {
			"budgets.yaml", "", "\nhello\n",
			"budgets.yaml:2: want an object, not string",
		},
		"only comments": {
			"budgets.yaml", "", "# nothing\n---\n",
			"budgets.yaml: no TaskBudget is in it",
		},
		"an empty file of budgets": {
			"budgets.yaml", "", " \n",
			"budgets.yaml: the file is empty",
		},
		"an empty file of runs": {
			"runs.jsonl", "", "",
			"runs.jsonl: the file is empty",
		},
		"a line that is no JSON": {
			"runs.jsonl", "", line + "\n{\"uid\": u2}\n",
			"runs.jsonl:3: column 9: invalid character 'u' looking for beginning of value",
		},
		"a line that ends early": {
			"runs.jsonl", "", line[:40],
			"runs.jsonl:1: column 40: unexpected end of JSON input",
		},
		"two runs in a line": {
			"runs.jsonl", "", strings.TrimSpace(line) + line,
			"runs.jsonl:1: column 193: invalid character '{' after top-level value",
		},
		"an unknown field of a run": {
			"runs.jsonl", `"phase"`, `"cost":1,"phase"`,
			"runs.jsonl:1: cost: unknown field",
		},
		"a field of a run that is there twice": {
			"runs.jsonl", `"phase"`, `"name":"two","phase"`,
			"runs.jsonl:1: name: duplicate field",
		},
		"a result that is a number": {
			"runs.jsonl", `"cost-usd":"1"`, `"cost-usd":1`,
			"runs.jsonl:1: results.cost-usd: want a string, not number",
		},
		"a start that is no time": {
			"runs.jsonl", "2026-03-06T10:00:00Z", "10:00",
			`runs.jsonl:1: startTime: "10:00" is no time`,
		},
		"a run without a UID": {
			"runs.jsonl", `"uid":"u1",`, "",
			"runs.jsonl:1: uid: required",
		},
		"a run without a namespace": {
			"runs.jsonl", `"namespace":"agents",`, "",
			"runs.jsonl:1: namespace: required",
		},
		"a run without a start": {
			"runs.jsonl", `"startTime":"2026-03-06T10:00:00Z",`, "",
			"runs.jsonl:1: startTime: required",
		},
		"a run without an end": {
			"runs.jsonl", `"completionTime":"2026-03-06T11:00:00Z",`, "",
			"runs.jsonl:1: completionTime: required",
		},
		"a run that completes before it starts": {
			"runs.jsonl", "T11:00:00Z", "T09:00:00Z",
			"runs.jsonl:1: completionTime: 2026-03-06T09:00:00Z is before startTime 2026-03-06T10:00:00Z",
		},
		"a run that lasts for centuries": {
			"runs.jsonl", `"completionTime":"2026-`, `"completionTime":"2326-`,
			"runs.jsonl:1: completionTime: 2326-03-06T11:00:00Z is more than 100 years after startTime 2026-03-06T10:00:00Z",
		},
		"a start that no period covers": {
			"runs.jsonl", `"startTime":"2026-`, `"startTime":"0000-`,
			"runs.jsonl:1: startTime: the year 0 is outside 1 to 9998",
		},
		"a text that is not in UTF-8": {
			"runs.jsonl", `"name":"`, "\"name\":\"\xff",
			"runs.jsonl:1: column 21: the text is not in UTF-8",
		},
		"a manifest that is not in UTF-8": {
			"budgets.yaml", "daily", "d\xffily",
			"budgets.yaml:5: column 10: the text is not in UTF-8",
		},
		"a run that is not over": {
			"runs.jsonl", "Succeeded", "Running",
			`runs.jsonl:1: phase: "Running" is not Succeeded or Failed`,
		},
		"a UID that is there twice": {
			"runs.jsonl", "", line + line,
			`runs.jsonl:2: uid: "u1" is the run of line 1`,
		},
		"a price that is no amount": {
			"prices.yaml", `"1"`, "[1]",
			"prices.yaml:",
		},
		"a price that is negative": {
			"prices.yaml", `"1"`, `"-1"`,
			"prices.yaml:4: prices[0].perMillionUSD.inputTokens: ",
		},
		"a model that has two prices": {
			"prices.yaml", "", prices + strings.TrimPrefix(prices, "prices:\n"),
			`prices.yaml:5: prices[1].model: "m" has a price already, in prices[0]`,
		},
		"a price list without prices": {
			"prices.yaml", "", "prices: []\n",
			"prices.yaml:1: prices: required, a list of at least one price",
		},
		"a price list in two documents": {
			"prices.yaml", "", prices + "---\n" + prices,
			"prices.yaml: want one document with a list of prices",
		},
		"a price list that is no YAML": {
			"prices.yaml", "model: m", "model: m: n",
			"prices.yaml:2: mapping values are not allowed in this context",
		},
	} {
		t.Run(what, func(t *testing.T) {
			files := map[string]string{"budgets.yaml": manifest, "runs.jsonl": line, "prices.yaml": prices}
			good := files[c.file]
			if files[c.file] = strings.Replace(good, c.old, c.new, 1); c.old == "" {
				files[c.file] = c.new
			}
			if files[c.file] == good {
				t.Fatalf("nothing is spoilt: %q is not in the good file", c.old)
			}
			inFolder(t, files)
			fails(t, c.want, "-budgets", "budgets.yaml", "-runs", "runs.jsonl", "-prices", "prices.yaml")
		})
	}
}

// fails plays and expects one line on stderr that begins with what is wanted,
// and nothing on stdout.
func fails(t *testing.T, want string, args ...string) {
	t.Helper()
	code, stdout, stderr := play(t, args...)
	first, rest, _ := strings.Cut(stderr, "\n")
	if len(first) > len(want) {
		first = first[:len(want)]
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("stderr (-want +got):\n%s\nall of it: %s", diff, stderr)
	}
	if code != 1 || stdout != "" || rest != "" {
		t.Errorf("exit status %d, want 1; stdout %q, want none; more on stderr %q", code, stdout, rest)
	}
}
