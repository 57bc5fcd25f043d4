package policies_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy/cel"
	"github.com/bursar-dev/bursar/policy/policytest"
	"github.com/bursar-dev/bursar/policy/policytest/engines"
)

// block gives the guide's block of code that starts so.
func block(t *testing.T, start string) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```[a-z]+\n(" + regexp.QuoteMeta(start) + ".*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatalf("no block starts with %q", start)
	}
	return string(m[1])
}

// The guide's budget compiles, and its rule is the one of the guide's file.
func TestTheBudgetOfTheGuideCompiles(t *testing.T) {
	var tb budgetv1alpha1.TaskBudget
	if err := yaml.UnmarshalStrict([]byte(block(t, "apiVersion: bursar.dev/v1alpha1\n")), &tb); err != nil {
		t.Fatal(err)
	}
	if _, faults := budget.Compile(&tb, budget.WithPolicies(cel.CompileRules)); len(faults) > 0 {
		t.Error(faults.ToAggregate())
	}
	var file struct {
		Name  string                      `json:"name"`
		Rules []budgetv1alpha1.PolicyRule `json:"rules"`
	}
	if err := yaml.UnmarshalStrict([]byte(block(t, "name: mine\n")), &file); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file.Rules, tb.Spec.Policies); diff != "" {
		t.Error(diff)
	}
}

// The guide's first rule, in both languages, passes the guide's cases, and the
// report is the one that the guide shows.
func TestTheGuideTellsTheTruth(t *testing.T) {
	files := fstest.MapFS{
		"policy.yaml": {Data: []byte(block(t, "name: mine\n"))},
		"policy.rego": {Data: []byte(block(t, "package bursar.mine\n"))},
		"cases.yaml":  {Data: []byte(block(t, "policies: [policy.yaml"))},
	}
	report, err := policytest.Check(t.Context(), files, engines.Loaders())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := report.Write(&out, true); err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(block(t, "$ go run github.com/bursar-dev/bursar/policy/policytest/cmd/policytest -v"), "\n")
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
