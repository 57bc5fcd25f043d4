package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAllFaultsOfAFileAreTold(t *testing.T) {
	inFolder(t, map[string]string{
		"budgets.yaml": strings.NewReplacer("maxCostUSD", "maxCost", "timezone", "zone").Replace(manifest),
		"runs.jsonl":   line + "{}\n",
	})
	_, _, stderr := play(t, "-budgets", "budgets.yaml", "-runs", "runs.jsonl")
	want := "budgets.yaml:12: spec.maxCost: unknown field\nbudgets.yaml:11: spec.period.zone: unknown field\n"
	if diff := cmp.Diff(want, stderr); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
	inFolder(t, map[string]string{"budgets.yaml": headOf(manifest), "runs.jsonl": line + "{}\n"})
	_, _, stderr = play(t, "-budgets", "budgets.yaml", "-runs", "runs.jsonl")
	if got := strings.Count(stderr, "budgets.yaml:2: spec"); got != 3 {
		t.Errorf("%d faults in a budget without a spec, want 3:\n%s", got, stderr)
	}
	_, _, stderr = play(t, "-runs", "runs.jsonl")
	if got := strings.Count(stderr, "runs.jsonl:2: "); got != 5 {
		t.Errorf("%d faults in a run without anything, want 5:\n%s", got, stderr)
	}
}

// What can't be read or is unknown hides nothing but what may follow from it: that a limit is missing, where the only one
// can't be read.
func TestAFaultHidesNoOther(t *testing.T) {
	spoilt := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(manifest) }
	for what, c := range map[string]struct {
		manifest string
		want     []string
	}{
		"a value that can't be read": {
			spoilt("UTC", "Mars/Olympus", `"10"`, "ten dollars\n  limits: [{meter: tasks, max: -3}]"),
			[]string{`12: spec.maxCostUSD: "ten dollars" is no`, "11: spec.period.timezone: ", "13: spec.limits[0].max: "},
		},
		"the only limit": {
			spoilt("UTC", "Mars/Olympus", `"10"`, "ten"),
			[]string{"12: spec.maxCostUSD: ", "11: spec.period.timezone: "},
		},
		"a value that can't be read and an unknown field": {
			spoilt("timezone", "zone", `"10"`, "ten"),
			[]string{"12: spec.maxCostUSD: ", "11: spec.period.zone: unknown field"},
		},
		"an unknown field": {
			spoilt("taskSelector: {}", "tasks: {}", `"10"`, `"-10"`),
			[]string{"8: spec.tasks: unknown field", "7: spec.taskSelector: Required", "12: spec.maxCostUSD: "},
		},
		"values in lists": {
			spoilt(`"10"`, "1\n  groupBy: [team, 7, 'a b']\n  thresholds: [101, x]\n  limits: [{meter: tasks, max: x}, {meter: costUSD, max: 1}]"),
			[]string{
				"13: spec.groupBy[1]: ", "15: spec.limits[0].max: ", "14: spec.thresholds[1]: ",
				"15: spec.limits[1].meter: ", "13: spec.groupBy[2]: ", "14: spec.thresholds[0]: ",
			},
		},
		"the wrong shape": {
			spoilt("taskSelector: {}", "taskSelector: [a]", "UTC", "Mars/Olympus"),
			[]string{"8: spec.taskSelector[0]: want an object, not array", "11: spec.period.timezone: "},
		},
		"a name that is a number": {
			spoilt("name: daily", "name: 7", "apiVersion: bursar.dev/v1alpha1", "apiVersion: 1", "UTC", "Mars/Olympus"),
			[]string{"2: apiVersion: want", "5: metadata.name: want", "11: spec.period.timezone: "},
		},
		"no object at all": {"hello\n", []string{"1: want an object, not string"}},
	} {
		t.Run(what, func(t *testing.T) {
			inFolder(t, map[string]string{"budgets.yaml": c.manifest, "runs.jsonl": line})
			_, _, stderr := play(t, "-budgets", "budgets.yaml", "-runs", "runs.jsonl")
			toldInOrder(t, stderr, "budgets.yaml:", c.want)
		})
	}
}

func TestAFaultHidesNoOtherOfARun(t *testing.T) {
	spoilt := strings.NewReplacer("2026-03-06T10:00:00Z", "10:00", "Succeeded", "Running", `"name":"one"`, `"nome":"one"`).Replace(line)
	inFolder(t, map[string]string{"budgets.yaml": manifest, "runs.jsonl": line + spoilt})
	_, _, stderr := play(t, "-budgets", "budgets.yaml", "-runs", "runs.jsonl")
	toldInOrder(t, stderr, "runs.jsonl:2: ", []string{"startTime: ", "nome: unknown field", "phase: ", `uid: "u1" is the run of line 1`})
}

func TestAFaultHidesNoOtherOfAPriceList(t *testing.T) {
	spoilt := prices + "- model: 7\n  perMillionUSD: {inputTokens: \"-1\"}\n- model: m2\n  perMillionUSD: {outputTokens: lots}\n"
	inFolder(t, map[string]string{"budgets.yaml": manifest, "runs.jsonl": line, "prices.yaml": spoilt})
	_, _, stderr := play(t, "-budgets", "budgets.yaml", "-runs", "runs.jsonl", "-prices", "prices.yaml")
	toldInOrder(t, stderr, "prices.yaml:", []string{"5: prices[1].model: want", "6: prices[1].perMillionUSD.inputTokens: ", "8: prices[2].perMillionUSD.outputTokens: "})
}

// toldInOrder compares the lines of a text with how they are to begin.
func toldInOrder(t *testing.T, text, before string, want []string) {
	t.Helper()
	var got []string
	for i, told := range strings.Split(strings.TrimSpace(text), "\n") {
		if i < len(want) && strings.HasPrefix(told, before+want[i]) {
			told = before + want[i]
		}
		got = append(got, strings.TrimPrefix(told, before))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// headOf is a manifest without its spec.
func headOf(manifest string) string {
	head, _, _ := strings.Cut(manifest, "spec:")
	return head
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	inFolder(t, map[string]string{"good/a.yaml": manifest, "good/notes.txt": "no", "empty/notes.txt": "no", "runs.jsonl": line,
		"far.jsonl": strings.ReplaceAll(line, `Time":"2026-03-06T11`, `Time":"9999-03-06T11`)})
	for what, c := range map[string]struct {
		args []string
		want string
	}{
		"a file of budgets that is missing":   {[]string{"-budgets", "gone.yaml"}, "gone.yaml: no such file or directory"},
		"one of several files":                {[]string{"-budgets", "good,gone.yaml"}, "gone.yaml: no such file or directory"},
		"a file of runs that is missing":      {[]string{"-runs", "gone.jsonl"}, "gone.jsonl: no such file or directory"},
		"a price list that is missing":        {[]string{"-prices", "gone.yaml"}, "gone.yaml: no such file or directory"},
		"a file that the demo has not":        {[]string{"-runs", "demo:gone"}, "demo:gone: file does not exist"},
		"a folder without manifests":          {[]string{"-budgets", "empty"}, "empty: no .yaml, .yml or .json file is in this folder"},
		"a budget that two files have":        {[]string{"-budgets", "good", "-budgets", "good/a.yaml"}, "good/a.yaml:5: metadata.name: TaskBudget agents/daily is there already, at good/a.yaml:5"},
		"a time that no period covers":        {[]string{"-budgets", "good", "-runs", "far.jsonl"}, "far.jsonl:1: completionTime: the year 9999 is outside 1 to 9998"},
		"a run to explain that is not there":  {[]string{"-explain", "run-999"}, `-explain: no run has the UID or the name "run-999"`},
		"a run to explain that nearly exists": {[]string{"-budgets", "good", "-runs", "runs.jsonl", "-explain", "On"}, "-explain: no run"},
	} {
		t.Run(what, func(t *testing.T) { fails(t, c.want, c.args...) })
	}
}

func TestABadSizeInTheEnvironmentIsNamed(t *testing.T) {
	t.Setenv("RUNTIME_AGENT_WORKER_CPU", "0,5")
	var out, complaint strings.Builder
	code := run(nil, &out, &complaint)
	if code != 1 || out.Len() > 0 || !strings.HasPrefix(complaint.String(), "RUNTIME_AGENT_WORKER_CPU") {
		t.Errorf("run = %d, stdout %q, stderr %q", code, out.String(), complaint.String())
	}
}

func TestTheCommandLineIsChecked(t *testing.T) {
	for what, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"an unknown flag":   {[]string{"-budget", "x"}, 2, "flag provided but not defined: -budget"},
		"a stray file name": {[]string{"runs.jsonl"}, 2, `"runs.jsonl": files are named with flags`},
		"help":              {[]string{"-h"}, 0, "Usage of quickstart:"},
	} {
		t.Run(what, func(t *testing.T) {
			code, stdout, stderr := play(t, c.args...)
			if code != c.code || stdout != "" || !strings.HasPrefix(stderr, c.want) {
				t.Errorf("run = %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

// TestAFileMayBeginWithAMark, as some editors make it.
func TestAFileMayBeginWithAMark(t *testing.T) {
	const mark = "\uFEFF"
	inFolder(t, map[string]string{"budgets.yaml": mark + manifest, "runs.jsonl": mark + line, "prices.yaml": mark + prices})
	if out := succeed(t, "-budgets", "budgets.yaml", "-runs", "runs.jsonl", "-prices", "prices.yaml"); !strings.HasPrefix(out, "1 run of agents") {
		t.Error(out)
	}
}
