package importgraph_test

import (
	"path"
	"strings"
	"testing"
)

const module = "github.com/bursar-dev/bursar"

// An area is a package with everything below it, up to the next area.
type area struct {
	dir string
	// pure areas import no client, read no clock, no file and no environment, and start no goroutine.
	pure bool
}

var areas = []area{
	{dir: "period", pure: true},
	{dir: "usage", pure: true},
	{dir: "usage/ledgertest"},
	{dir: "budget", pure: true},
	{dir: "budget/v1alpha1", pure: true},
	{dir: "budget/controller"},
	{dir: "budget/install"},
	{dir: "budget/webhook"},
	{dir: "podspec", pure: true},
	{dir: "podspec/live"},
	{dir: "policy", pure: true},
	{dir: "policy/cel"},
	{dir: "policy/policytest"},
	{dir: "policy/policytest/engines"}, // wires both engines for the command
	{dir: "policy/policytest/cmd/policytest"},
	{dir: "rego"},
}

// free is what importers never see: these folders may link anything.
var free = []string{"internal", "examples"}

// areaOf gives the area that the package in dir (slashes, relative to the module) belongs to, "" for none.
func areaOf(dir string) string {
	best := ""
	for _, a := range areas {
		if within(dir, a.dir) && len(a.dir) > len(best) {
			best = a.dir
		}
	}
	return best
}

func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

func relative(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
}

func TestEveryAreaIsInTheTree(t *testing.T) {
	tree := loadTree(t)
	for _, a := range areas {
		if _, found := tree.packages[path.Join(module, a.dir)]; !found {
			t.Errorf("%s has no package: the rules about it hold for nothing", a.dir)
		}
	}
}

func TestEveryPackageBelongsToAnArea(t *testing.T) {
	tree := loadTree(t)
	for _, p := range tree.own {
		dir := relative(p.ImportPath)
		if dir == "" || areaOf(dir) != "" {
			continue
		}
		if top, _, _ := strings.Cut(dir, "/"); top != free[0] && top != free[1] {
			t.Errorf("%s belongs to no area: add a row that says what it may link", dir)
		}
	}
}

func TestAreaOfTakesTheNearest(t *testing.T) {
	for dir, want := range map[string]string{
		"budget":               "budget",
		"budget/inner":         "budget",
		"budget/v1alpha1":      "budget/v1alpha1",
		"budget/v1alpha1/crds": "budget/v1alpha1",
		"budgets":              "",
		"policy/cel/inner":     "policy/cel",
	} {
		if got := areaOf(dir); got != want {
			t.Errorf("areaOf(%q) = %q, want %q", dir, got, want)
		}
	}
}
