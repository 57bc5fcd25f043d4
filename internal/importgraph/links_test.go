package importgraph_test

import (
	"slices"
	"strings"
	"testing"
)

// A ban keeps a dependency, at any depth, out of some areas.
type ban struct {
	from   []string
	prefix string
	why    string
	// linkedBy is an area that links the prefix rightly. Once it is in the tree it must, or the prefix is one that
	// nothing has any more (a module that moved, say) and the ban holds nothing off.
	linkedBy string
}

var (
	light    = []string{"period", "usage", "usage/ledgertest", "budget", "budget/v1alpha1", "podspec", "policy", "policy/policytest"}
	adapters = []string{"budget/controller", "budget/install", "budget/webhook", "podspec/live"}
)

var bans = []ban{
	{
		from: slices.Concat(light, adapters, []string{"rego"}), prefix: "github.com/google/cel-go", linkedBy: "policy/cel",
		why: "who asks for a decision links no expression engine: hosts inject their hooks",
	},
	{
		from: slices.Concat(light, adapters, []string{"policy/cel"}), prefix: "github.com/open-policy-agent/opa", linkedBy: "rego",
		why: "OPA adds some 15 MB to a binary: only those who write Rego pay for it",
	},
	{
		from: slices.Concat(light, []string{"policy/cel", "rego"}), prefix: "sigs.k8s.io/controller-runtime", linkedBy: "podspec/live",
		why: "a decision needs no client: unit testers and spawners call it with literals",
	},
	{
		from: slices.Concat(light, []string{"policy/cel", "rego"}), prefix: "k8s.io/client-go", linkedBy: "podspec/live",
		why: "a decision needs no client: unit testers and spawners call it with literals",
	},
	{
		from: slices.Concat(light, []string{"policy/cel"}), prefix: "google.golang.org/grpc",
		why: "a decision makes no remote call",
	},
	{
		from: slices.Concat(light, []string{"policy/cel", "rego"}), prefix: "k8s.io/apiextensions-apiserver", linkedBy: "budget/install",
		why: "the CRDs are embedded as text: only who installs them needs their Go types",
	},
	{
		from: slices.Concat(light, adapters, []string{"policy/cel", "rego"}), prefix: "k8s.io/kubernetes",
		why: "it is no library: its importers need thirty replace lines",
	},
	{
		from: []string{"period", "policy"}, prefix: "k8s.io", linkedBy: "podspec",
		why: "windows and hook contracts are plain Go",
	},
	{
		from: []string{"usage", "period", "podspec", "podspec/live", "policy"}, prefix: module + "/budget", linkedBy: "budget/controller",
		why: "the decision imports amounts, windows and contracts, never the other way round",
	},
	{
		from: []string{"podspec", "podspec/live"}, prefix: module + "/usage", linkedBy: "budget",
		why: "sizes on pods and money spent are two subjects",
	},
}

func TestNoAreaLinksWhatItsBanForbids(t *testing.T) {
	tree := loadTree(t)
	for _, b := range bans {
		for _, dir := range b.from {
			for _, p := range tree.in(dir) {
				if found := p.links(b.prefix); len(found) > 0 {
					t.Errorf("%s links %s: %s", relative(p.ImportPath), strings.Join(found, ", "), b.why)
				}
			}
		}
	}
}

func TestEveryBanNamesWhatSomebodyLinks(t *testing.T) {
	tree := loadTree(t)
	for _, b := range bans {
		if b.linkedBy == "" || len(tree.in(b.linkedBy)) == 0 {
			continue
		}
		linked := slices.ContainsFunc(tree.in(b.linkedBy), func(p goPackage) bool { return len(p.links(b.prefix)) > 0 })
		if !linked {
			t.Errorf("%s does not link %s: is that still its name?", b.linkedBy, b.prefix)
		}
	}
}

func TestEveryBanIsAboutAreas(t *testing.T) {
	known := map[string]bool{}
	for _, a := range areas {
		known[a.dir] = true
	}
	for _, b := range bans {
		for _, dir := range append(slices.Clone(b.from), b.linkedBy) {
			if dir != "" && !known[dir] {
				t.Errorf("the ban of %s names %q, which is no area", b.prefix, dir)
			}
		}
	}
}

// Packages that are promised to need nothing but the standard library and each other.
func TestPeriodAndPolicyNeedTheStandardLibraryOnly(t *testing.T) {
	tree := loadTree(t)
	for _, dir := range []string{"period", "policy"} {
		for _, p := range tree.in(dir) {
			for _, dep := range p.Deps {
				if !tree.packages[dep].Standard && areaOf(relative(dep)) != dir {
					t.Errorf("%s links %s, which is not of the standard library", relative(p.ImportPath), dep)
				}
			}
		}
	}
}
