package policy_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The contract links the standard library alone: whoever imports it, or budget,
// links no engine.
func TestTheContractLinksTheStandardLibraryAlone(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(string(out)); len(got) != 1 {
		t.Errorf("links %v", got)
	}
}
