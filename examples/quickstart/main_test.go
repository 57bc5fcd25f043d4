package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden file again")

// play runs the program as a shell would, with an environment that sizes no pod.
func play(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	for _, name := range worker().Variables() {
		t.Setenv(name, "")
	}
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

// succeed plays and expects no complaint.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := play(t, args...)
	if code != 0 || stderr != "" {
		t.Fatalf("run(%q) = %d, stderr:\n%s", args, code, stderr)
	}
	return stdout
}

func TestTheDemoPrintsTheGoldenText(t *testing.T) {
	const golden = "testdata/demo.golden"
	got := succeed(t)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the demo prints something else (-want +got; -update accepts it):\n%s", diff)
	}
}

func TestTheDemoFitsOnAScreen(t *testing.T) {
	for i, line := range strings.Split(succeed(t), "\n") {
		if n := utf8.RuneCountInString(line); n > columns {
			t.Errorf("line %d has %d columns: %s", i+1, n, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("line %d ends with a blank: %q", i+1, line)
		}
	}
}

func TestTheDemoTellsTheSameWhateverTheOrderOfLines(t *testing.T) {
	text, err := os.ReadFile("testdata/runs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	inFolder(t, map[string]string{"reversed.jsonl": strings.Join(lines, "\n")})
	if diff := cmp.Diff(succeed(t), succeed(t, "-runs", "reversed.jsonl", "-prices", "demo:prices.yaml")); diff != "" {
		t.Errorf("the order of the lines matters:\n%s", diff)
	}
}

func TestThePodIsAManifestWithoutStatus(t *testing.T) {
	_, manifest, _ := strings.Cut(succeed(t), "ITS POD")
	for _, unwanted := range []string{"status", "null", "creationTimestamp"} {
		if strings.Contains(manifest, unwanted) {
			t.Errorf("the pod says %s:\n%s", unwanted, manifest)
		}
	}
	t.Setenv("RUNTIME_AGENT_WORKER_CPU", "2")
	var out, complaint bytes.Buffer
	if code := run(nil, &out, &complaint); code != 0 || !strings.Contains(out.String(), `cpu: "2"`) {
		t.Errorf("run = %d, the environment does not size the pod: %s", code, complaint.String())
	}
}

func TestTheRunToExplainIsChosen(t *testing.T) {
	const uid = "00000000-0000-4000-8000-000000100154"
	for what, c := range map[string]struct{ wanted, want string }{
		"by its name, and it never waited": {"run-154", `Task "agents/run-154" (uid "` + uid + `") at 2026-03-06T18:23:15Z:`},
		"by its UID":                       {uid, `Task "agents/run-154"`},
		"by its name, and it waited":       {"run-047", "TaskBudget agents/prod-not-web-daily-kolkata refuses"},
	} {
		t.Run(what, func(t *testing.T) {
			_, explained, _ := strings.Cut(succeed(t, "-explain", c.wanted), "ONE DECISION")
			if !strings.Contains(explained, c.want) {
				t.Errorf("want %q in:\n%s", c.want, explained)
			}
		})
	}
}

func TestEverythingIsToldAsJSON(t *testing.T) {
	var told struct {
		Runs      int
		HeldBack  []heldBack
		Warned    map[string]int
		Budgets   []budgetReport
		Explained struct {
			Allowed bool
			Budgets []struct{ Name string }
		}
		Pod struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(succeed(t, "-json")), &told); err != nil {
		t.Fatal(err)
	}
	got := []any{told.Runs, len(told.HeldBack) > 0, told.Warned["all-daily-utc"] > 0, len(told.Budgets),
		told.Explained.Allowed, len(told.Explained.Budgets), told.Pod.Kind}
	if diff := cmp.Diff([]any{240, true, true, 4, false, 4, "Pod"}, got); diff != "" {
		t.Errorf("-json (-want +got):\n%s", diff)
	}
}
