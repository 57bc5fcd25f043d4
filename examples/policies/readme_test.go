package policies_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bursar-dev/bursar/policy/policytest"
	"github.com/bursar-dev/bursar/policy/policytest/engines"
)

// The guide's first rule, in both languages, passes the guide's cases, and the
// report is the one that the guide shows.
func TestTheGuideTellsTheTruth(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(start string) string {
		m := regexp.MustCompile("(?s)```[a-z]+\n(" + regexp.QuoteMeta(start) + ".*?)```").FindSubmatch(text)
		if m == nil {
			t.Fatalf("no block starts with %q", start)
		}
		return string(m[1])
	}
	files := fstest.MapFS{
		"policy.yaml": {Data: []byte(block("name: mine\n"))},
		"policy.rego": {Data: []byte(block("package bursar.mine\n"))},
		"cases.yaml":  {Data: []byte(block("policies: [policy.yaml"))},
	}
	report, err := policytest.Check(t.Context(), files, engines.Loaders())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := report.Write(&out, true); err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(block("$ go run github.com/bursar-dev/bursar/policy/policytest/cmd/policytest -v"), "\n")
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
