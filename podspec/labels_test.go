package podspec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/bursar-dev/bursar/podspec"
)

func TestLabelsAreFoundAgain(t *testing.T) {
	identity := podspec.Identity{Workload: "meeting-42"}
	got, _, err := podspec.Apply(pod(container("a", "")), podspec.Plan{Size: oneCore(), Identity: identity})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"bursar.dev/managed": "true", "bursar.dev/workload-id": "meeting-42"}
	if diff := cmp.Diff(want, got.Labels); diff != "" {
		t.Error(diff)
	}
	selector, err := identity.Selector()
	if err != nil || !selector.Matches(labels.Set(got.Labels)) || selector.String() != "bursar.dev/managed=true,bursar.dev/workload-id=meeting-42" {
		t.Errorf("selector %v, error %v", selector, err)
	}
	if !podspec.Managed().Matches(labels.Set(got.Labels)) || podspec.Managed().Matches(labels.Set{}) {
		t.Error("Managed does not select the pods of a spawner")
	}
}

func TestLabelsNeverReplaceAValue(t *testing.T) {
	p := pod(container("a", ""))
	p.Labels = map[string]string{podspec.LabelWorkload: "other", "keep": "me"}
	got, report, err := podspec.Apply(p, podspec.Plan{Size: oneCore(), Identity: podspec.Identity{Workload: "mine"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{podspec.LabelManaged: "true", podspec.LabelWorkload: "other", "keep": "me"}
	if diff := cmp.Diff(want, got.Labels); diff != "" {
		t.Error(diff)
	}
	kept := report.Kept()
	if len(kept) != 1 || kept[0].Had != "other" || kept[0].Wanted != "mine" {
		t.Errorf("the value in the way is not reported: %v", report)
	}
}

func TestLabelNamesOfASpawnersOwn(t *testing.T) {
	identity := podspec.Identity{Workload: "w", ManagedKey: "runtime.managed", WorkloadKey: "runtime.workload"}
	got, _, err := podspec.Apply(pod(container("a", "")), podspec.Plan{Size: oneCore(), Identity: identity})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"runtime.managed": "true", "runtime.workload": "w"}, got.Labels); diff != "" {
		t.Error(diff)
	}
	all, err := podspec.Identity{ManagedKey: "runtime.managed"}.Selector()
	if err != nil || all.String() != "runtime.managed=true" {
		t.Errorf("selector %v, error %v", all, err)
	}
}

func TestNoIdentityNoLabels(t *testing.T) {
	got, _, err := podspec.Apply(pod(container("a", "")), podspec.Plan{Size: oneCore()})
	if err != nil || got.Labels != nil {
		t.Errorf("labels %v, error %v", got.Labels, err)
	}
}

func TestBadLabels(t *testing.T) {
	tests := map[string]podspec.Identity{
		"too long":            {Workload: strings.Repeat("x", 64)},
		"a slash":             {Workload: "a/b"},
		"a blank":             {Workload: "a b"},
		"a dash at the end":   {Workload: "a-"},
		"invalid UTF-8":       {Workload: "\xff"},
		"a key of blanks":     {Workload: "a", ManagedKey: " "},
		"a key of slashes":    {Workload: "a", WorkloadKey: "a/b/c"},
		"one key for both":    {Workload: "a", ManagedKey: "x", WorkloadKey: "x"},
		"a very long id":      {Workload: strings.Repeat("x", 1<<20)},
		"a workload key only": {WorkloadKey: "-"},
	}
	for name, identity := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := identity.Selector(); !errors.Is(err, podspec.ErrLabel) || len(err.Error()) > 1000 {
				t.Errorf("got %v, want ErrLabel", err)
			}
		})
	}
	if selector, err := (podspec.Identity{Workload: strings.Repeat("x", 63)}).Selector(); err != nil || selector.Empty() {
		t.Errorf("63 characters are refused: %v", err)
	}
}
