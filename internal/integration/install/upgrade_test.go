package install_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/install"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// loosen takes every check from a schema and leaves the types of the fields, as a version that checked less would have them.
func loosen(schema map[string]any) {
	if schema["x-kubernetes-preserve-unknown-fields"] == true {
		delete(schema, "x-kubernetes-preserve-unknown-fields")
		schema["x-kubernetes-int-or-string"] = true
	}
	for _, check := range []string{
		"x-kubernetes-validations", "pattern", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
		"minProperties", "maxProperties", "not", "anyOf", "format", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "required",
	} {
		delete(schema, check)
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, property := range properties {
		if p, ok := property.(map[string]any); ok {
			loosen(p)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		loosen(items)
	}
}

// installOlder installs CRDs that check nothing, as an older version of the host would have.
func installOlder(t *testing.T) {
	t.Helper()
	clean(t)
	crds, err := install.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
		if err != nil {
			t.Fatal(err)
		}
		older := &unstructured.Unstructured{Object: fields}
		delete(older.Object, "status")
		unstructured.RemoveNestedField(older.Object, "metadata", "creationTimestamp")
		versions, _, _ := unstructured.NestedSlice(older.Object, "spec", "versions")
		for _, version := range versions {
			v, _ := version.(map[string]any)
			schema, _, _ := unstructured.NestedFieldNoCopy(v, "schema", "openAPIV3Schema")
			fields, ok := schema.(map[string]any)
			if !ok {
				t.Fatalf("%s has no schema", crd.Name)
			}
			loosen(fields)
		}
		if err := unstructured.SetNestedSlice(older.Object, versions, "spec", "versions"); err != nil {
			t.Fatal(err)
		}
		err = shared.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(older), client.FieldOwner(install.DefaultFieldManager))
		if err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2 * time.Second) // until it is established, and the objects below are taken for what they are
}

func storeYAML(t *testing.T, kind, namespace, name, spec string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	text := fmt.Sprintf("{apiVersion: bursar.dev/v1alpha1, kind: %s, metadata: {namespace: %s, name: %s, finalizers: [example.com/keep]}, spec: %s}",
		kind, namespace, name, spec)
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	if err := shared.Client.Create(t.Context(), object); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return object
}

// stale are specs that an older version stored, with the reason for which they refuse now and a change that is refused.
var stale = map[string]struct{ spec, reason, worse string }{
	"no-selector": {`{period: {type: Daily}, maxCostUSD: "1"}`, budget.ReasonInvalidSelector, `{"spec":{"taskSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}}`},
	"operator": {
		`{taskSelector: {matchExpressions: [{key: a, operator: Near}]}, period: {type: Daily}, maxCostUSD: "1"}`, budget.ReasonInvalidSelector,
		`{"spec":{"taskSelector":{"matchExpressions":[{"key":"b","operator":"Near"}]}}}`,
	},
	"zone":     {`{taskSelector: {}, period: {type: Daily, timezone: Local}, maxCostUSD: "1"}`, budget.ReasonInvalidPeriod, `{"spec":{"period":{"timezone":"local"}}}`},
	"field":    {`{taskSelector: {}, period: {type: Daily, weekStart: Monday}, maxCostUSD: "1"}`, budget.ReasonInvalidPeriod, `{"spec":{"period":{"weekStart":"Sunday"}}}`},
	"kind":     {`{taskSelector: {}, period: {type: Nightly}, maxCostUSD: "1"}`, budget.ReasonInvalidPeriod, `{"spec":{"period":{"type":"nightly"}}}`},
	"duration": {`{taskSelector: {}, period: {type: Sliding, duration: 5s}, maxCostUSD: "1"}`, budget.ReasonInvalidPeriod, `{"spec":{"period":{"duration":"6s"}}}`},
	"no-such-zone": { // or one that has gone from the server's database since
		`{taskSelector: {}, period: {type: Daily, timezone: Mars/Base}, maxCostUSD: "1"}`, budget.ReasonInvalidPeriod,
		`{"spec":{"period":{"timezone":"Mars/Other"}}}`,
	},
	"word":       {`{taskSelector: {}, period: {type: Sliding, duration: soon}, maxCostUSD: "1"}`, budget.ReasonInvalidPeriod, `{"spec":{"period":{"duration":"later"}}}`},
	"unit":       {`{taskSelector: {}, period: {type: Sliding, duration: 5y}, maxCostUSD: "1"}`, budget.ReasonInvalidPeriod, `{"spec":{"period":{"duration":"6y"}}}`},
	"nothing":    {`{taskSelector: {}, period: {type: Sliding, duration: "", timezone: ""}, maxCostUSD: "1"}`, budget.ReasonInvalidPeriod, `{"spec":{"period":{"duration":"d"}}}`},
	"negative":   {`{taskSelector: {}, period: {type: Daily}, maxCostUSD: "-1"}`, budget.ReasonInvalidSpec, `{"spec":{"maxCostUSD":"-2"}}`},
	"tokens":     {`{taskSelector: {}, period: {type: Daily}, maxInputTokens: -1}`, budget.ReasonInvalidSpec, `{"spec":{"maxInputTokens":-2}}`},
	"limitless":  {`{taskSelector: {}, period: {type: Daily}}`, budget.ReasonInvalidSpec, `{"spec":{"action":"Warn"}}`},
	"action":     {`{taskSelector: {}, period: {type: Daily}, maxCostUSD: "1", action: warn}`, budget.ReasonInvalidSpec, `{"spec":{"action":"WARN"}}`},
	"thresholds": {`{taskSelector: {}, period: {type: Daily}, maxCostUSD: "1", thresholds: [5, 5]}`, budget.ReasonInvalidSpec, `{"spec":{"thresholds":[5,5,0]}}`},
	"empty":      {`{}`, budget.ReasonInvalidSelector, `{"spec":{"action":"Warn"}}`},
}

const repaired = `{"metadata":{"finalizers":null},"spec":{"taskSelector":{"matchExpressions":null},"thresholds":null,"action":"Block",` +
	`"period":{"type":"Daily","timezone":"UTC","weekStart":null,"duration":null},"maxCostUSD":1.5,"maxInputTokens":null}}`

// Objects that were stored when the API server checked less can still be read and told of, still refuse, and can be repaired and
// removed; they can't be made worse.
func TestA6_A21_Upgrade(t *testing.T) {
	installOlder(t)
	namespace := shared.Namespace(t, nil)
	for name, test := range stale {
		storeYAML(t, "TaskBudget", namespace, name, test.spec)
	}
	if err := install.Install(t.Context(), shared.Client, install.Options{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // until every request is served under the new schema
	list := &budgetv1alpha1.TaskBudgetList{}
	if err := shared.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil || len(list.Items) != len(stale) {
		t.Fatalf("%d of %d budgets are read: %v", len(list.Items), len(stale), err)
	}
	for _, tb := range list.Items {
		t.Run(tb.Name, func(t *testing.T) { staleBudget(t, &tb, stale[tb.Name].reason, stale[tb.Name].worse) })
	}
}

func staleBudget(t *testing.T, tb *budgetv1alpha1.TaskBudget, reason, worse string) {
	t.Helper()
	rule, faults := budget.Compile(tb)
	if len(faults) == 0 || rule.Fault() == nil || rule.Fault().Reason != reason || !rule.Matches(tb.Namespace, nil) {
		t.Errorf("fault %+v, want %s", rule.Fault(), reason)
	}
	tb.Status.Conditions = []metav1.Condition{rule.Degraded(tb.Generation, time.Now())}
	if err := shared.Client.Status().Update(t.Context(), tb); err != nil {
		t.Errorf("its status: %v", err)
	}
	// An update would write fields that are required and missing as empty ones, which is a change of the spec.
	seen := tb.DeepCopy()
	seen.Labels = map[string]string{"seen": "yes"}
	if err := shared.Client.Patch(t.Context(), seen, client.MergeFrom(tb)); err != nil {
		t.Errorf("its labels: %v", err)
	}
	if err := shared.Client.Patch(t.Context(), tb.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(worse))); err == nil {
		t.Errorf("it is made worse: %s", worse)
	}
	copied := tb.DeepCopy()
	if err := shared.Client.Patch(t.Context(), copied, client.RawPatch("application/merge-patch+json", []byte(repaired))); err != nil {
		t.Fatalf("a repair: %v", err)
	}
	if _, faults := budget.Compile(copied); len(faults) > 0 {
		t.Errorf("repaired: %v", faults)
	}
}

// A bad budget that is not repaired can be removed, finalizers and all.
func TestA21_UpgradeLetsGo(t *testing.T) {
	installOlder(t)
	namespace := shared.Namespace(t, nil)
	objects := []*unstructured.Unstructured{
		storeYAML(t, "TaskBudget", namespace, "empty", `{}`),
		storeYAML(t, "TaskBudget", namespace, "unreadable", `{taskSelector: {}, period: {type: Daily}, maxCostUSD: one}`),
		storeYAML(t, "TaskRecord", namespace, "misnamed", `{taskRef: {uid: other}, phase: Done}`),
		storeYAML(t, "TaskHold", namespace, "misnamed", `{taskRef: {uid: other}}`),
	}
	if err := install.Install(t.Context(), shared.Client, install.Options{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)

	// One budget that no program can read keeps every informer from starting: nothing is admitted. It can be found and repaired.
	if err := shared.Client.List(t.Context(), &budgetv1alpha1.TaskBudgetList{}, client.InNamespace(namespace)); err == nil ||
		!strings.Contains(err.Error(), "quantities must match") {
		t.Errorf("a list with what no program can read: %v", err)
	}
	unreadable := objects[1].DeepCopy()
	if err := shared.Client.Patch(t.Context(), unreadable,
		client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"maxCostUSD":2.5}}`)), client.DryRunAll); err != nil {
		t.Errorf("a repair of what no program can read: %v", err)
	}
	record := &budgetv1alpha1.TaskRecord{}
	if err := shared.Client.Get(t.Context(), client.ObjectKeyFromObject(objects[2]), record); err != nil {
		t.Fatal(err)
	}
	if _, faults := budget.RecordFrom(record); len(faults) == 0 {
		t.Error("a bad record is believed")
	}
	for _, object := range objects {
		name := object.GetKind() + " " + object.GetName()
		if err := shared.Client.Delete(t.Context(), object); err != nil {
			t.Errorf("%s: delete: %v", name, err)
		}
		if err := shared.Client.Patch(t.Context(), object,
			client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
			t.Errorf("%s: its finalizer: %v", name, err)
		}
		if err := shared.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}
