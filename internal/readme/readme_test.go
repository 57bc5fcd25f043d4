package readme_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

const root = "../.."

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks gives the blocks of code in a language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(readme(t), -1) {
		found = append(found, m[1])
	}
	if len(found) == 0 {
		t.Fatalf("no block of %s", language)
	}
	return found
}

// plain takes blanks and the comment away from a line of Go.
func plain(line string) string {
	line, _, _ = strings.Cut(line, " //")
	if strings.HasPrefix(strings.TrimSpace(line), "//") {
		return ""
	}
	return strings.Join(strings.Fields(line), " ")
}

// TestEveryLineOfGoIsCompiledSomewhere: the README shows what an Example, a test
// of the examples or a program of theirs says.
func TestEveryLineOfGoIsCompiledSomewhere(t *testing.T) {
	compiled := map[string]bool{}
	for _, pattern := range []string{"*/example_test.go", "*/*/example_test.go", "examples/*/*.go", "examples/*/*/*.go", "internal/readme/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				compiled[plain(line)] = true
			}
		}
	}
	for _, block := range blocks(t, "go") {
		for line := range strings.Lines(block) {
			if line = plain(line); line != "" && !compiled[line] {
				t.Errorf("nothing that is compiled has the line %s", line)
			}
		}
	}
}

// TestTheBudgetsCompile: what it shows of YAML is a budget without a fault.
func TestTheBudgetsCompile(t *testing.T) {
	for _, block := range blocks(t, "yaml") {
		var tb budgetv1alpha1.TaskBudget
		if err := yaml.UnmarshalStrict([]byte(block), &tb); err != nil {
			t.Fatal(err)
		}
		if _, faults := budget.Compile(&tb); len(faults) > 0 {
			t.Error(faults.ToAggregate())
		}
	}
}

// TestWhatItNamesIsThere: every path and every make target.
func TestWhatItNamesIsThere(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	text := readme(t)
	for _, m := range regexp.MustCompile("(?m)(?:`|^)make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
		if !strings.Contains(string(makefile), "\n"+m[1]+":") {
			t.Errorf("no target %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile("`((?:budget|usage|period|podspec|policy|rego|examples|internal)(?:/[A-Za-z0-9_./-]+)?)`").FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Error(err)
		}
	}
}
