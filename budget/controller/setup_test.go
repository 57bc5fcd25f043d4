package controller_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
)

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]controller.Options{
		`mode "Both"`:             {Mode: "Both"},
		`orphans "Adopt"`:         {Orphans: "Adopt"},
		"holdTTL -1s is negative": {HoldTTL: -time.Second},
		"recordTTL -1s":           {RecordTTL: -time.Second},
		"policyTimeout -1s":       {PolicyTimeout: -time.Second},
		"the holder of policies":  {Policies: (*policy.Holder)(nil)},
		`name ""`:                 {Policies: policy.Func("", nil)},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := controller.SetupWithManager(t.Context(), nil, o)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAGateNeedsABookAndAHostThatCanBeRead(t *testing.T) {
	t.Parallel()
	if _, err := controller.NewGate(nil, controller.Host[*budgetv1alpha1.TaskHold]{}); err == nil {
		t.Error("a gate without a book")
	}
	if _, err := controller.NewRecorder(&controller.Book{}, controller.Host[*budgetv1alpha1.TaskHold]{}); err == nil || !strings.Contains(err.Error(), "Completion") {
		t.Errorf("a recorder without Completion: %v", err)
	}
	if _, err := controller.NewGate(&controller.Book{}, controller.Host[*budgetv1alpha1.TaskHold]{}); err == nil || !strings.Contains(err.Error(), "New") {
		t.Errorf("a gate without New: %v", err)
	}
}

func TestTheRoleNamesWhatIsNeeded(t *testing.T) {
	t.Parallel()
	role, err := controller.ClusterRole()
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[string]string{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			verbs[resource] = strings.Join(rule.Verbs, " ")
		}
	}
	if diff := cmp.Diff(map[string]string{
		"taskbudgets": "get list watch", "taskbudgets/status": "get patch update",
		"taskrecords": "create delete get list watch", "taskholds": "create delete get list update watch",
		"events": "create patch",
	}, verbs); diff != "" {
		t.Error(diff)
	}
}

func TestStripKeepsWhatCounts(t *testing.T) {
	t.Parallel()
	meta := metav1.ObjectMeta{
		Namespace: "team", Name: "u1", UID: "x", ResourceVersion: "7", Labels: map[string]string{"team": "gold"},
		Annotations: map[string]string{"a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
	}
	bare := metav1.ObjectMeta{Namespace: "team", Name: "u1", UID: "x", ResourceVersion: "7"}
	spec := budgetv1alpha1.TaskRecordSpec{TaskLabels: map[string]string{"team": "gold"}, Phase: "Failed"}
	full := spec
	full.Problems = []budgetv1alpha1.RecordProblem{{Meter: "costUSD"}}
	got, err := controller.Strip()(&budgetv1alpha1.TaskRecord{ObjectMeta: meta, Spec: full})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&budgetv1alpha1.TaskRecord{ObjectMeta: bare, Spec: spec}, got); diff != "" {
		t.Error(diff)
	}
	other := &budgetv1alpha1.TaskBudget{ObjectMeta: meta}
	if got, err = controller.Strip()(other); err != nil || got != any(other) || len(other.Labels) == 0 {
		t.Errorf("another object was changed: %v, %v", got, err)
	}
}
