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
