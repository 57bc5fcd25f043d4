package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const folder = "../../budget/v1alpha1/crds"

// What is committed is finished, and finishing it again changes nothing.
func TestFinishedFilesStay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		again, err := finish(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), string(again)); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

func TestFinishRefuses(t *testing.T) {
	for sentence, test := range map[string]struct{ text, want string }{
		"what is no CRD":           {"kind: ConfigMap", "no CRD: it has no spec.versions"},
		"what is no YAML":          {"{", ""},
		"a budget without a limit": {"spec: {names: {kind: TaskBudget}, versions: [{name: v1}]}", "it has no property maxCostUSD"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := finish([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	if err := run(nil); err == nil {
		t.Error("no files are no error")
	}
	if err := run([]string{filepath.Join(t.TempDir(), "none.yaml")}); err == nil {
		t.Error("a file that is not there is no error")
	}
}
