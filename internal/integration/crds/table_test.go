package crds_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// table is what kubectl get prints: the names of the columns that are always shown, and the cells below them.
func table(t *testing.T, resource, namespace string) (names []string, rows [][]any) {
	t.Helper()
	body, err := post(t, resource, namespace).Verb("GET").SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Raw()
	if err != nil {
		t.Fatal(err)
	}
	read := metav1.Table{}
	if err := json.Unmarshal(body, &read); err != nil {
		t.Fatal(err)
	}
	for _, column := range read.ColumnDefinitions {
		names = append(names, column.Name)
	}
	for _, row := range read.Rows {
		rows = append(rows, row.Cells)
	}
	return names, rows
}

// A21: what kubectl get taskbudgets shows, without and with a status, with a cost limit and without.
func TestA21_BudgetColumns(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	for name, spec := range map[string]string{
		"a-number": `{taskSelector: {}, period: {type: Daily}, maxCostUSD: 12.50}`,
		"b-tokens": `{taskSelector: {}, period: {type: Monthly, timezone: Europe/Berlin}, maxInputTokens: 1000, action: Warn}`,
		"c-status": `{taskSelector: {}, period: {type: Daily}, maxCostUSD: "10"}`,
	} {
		body := manifest("TaskBudget", name, parse(t, spec))
		body["metadata"] = map[string]any{"name": name}
		if err := send(t, "taskbudgets", namespace, body.json(t)); err != nil {
			t.Fatal(err)
		}
	}
	tb := &budgetv1alpha1.TaskBudget{}
	if err := shared.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "c-status"}, tb); err != nil {
		t.Fatal(err)
	}
	tb.Status = budgetv1alpha1.TaskBudgetStatus{
		PeriodEnd: &metav1.Time{Time: time.Now().Add(6*time.Hour + 30*time.Minute)},
		Used:      &budgetv1alpha1.Amounts{CostUSD: usd("7.25")},
		Held:      &budgetv1alpha1.Amounts{CostUSD: usd("1")},
		Display:   &budgetv1alpha1.StatusDisplay{Used: "7.25", Held: "1", Group: "user=ada (1 of 3)"},
		Percent:   new(int32(82)),
		Conditions: []metav1.Condition{
			{Type: "Other", Status: "True", Reason: "X", LastTransitionTime: metav1.Now()},
			{Type: "Degraded", Status: "False", Reason: "Evaluated", LastTransitionTime: metav1.Now()},
		},
	}
	if err := shared.Client.Status().Update(t.Context(), tb); err != nil {
		t.Fatal(err)
	}
	names, rows := table(t, "taskbudgets", namespace)
	want := []string{"Name", "Period", "Limit", "Used", "Held", "Percent", "Group", "Resets", "Degraded", "Zone", "Action", "Tokens in", "Tokens out", "Age"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatal(diff)
	}
	reset, _ := rows[2][7].(string)
	if at, err := time.Parse(time.RFC3339, reset); err != nil || time.Until(at) < 6*time.Hour {
		t.Errorf("the next reset is shown as %v", rows[2][7])
	}
	rows[2][7] = "later"
	for i := range rows {
		rows[i] = rows[i][:len(rows[i])-1] // the age
	}
	wantRows := [][]any{
		{"a-number", "Daily", "12.5", nil, nil, nil, nil, nil, nil, nil, nil, nil, nil},
		{"b-tokens", "Monthly", nil, nil, nil, nil, nil, nil, nil, "Europe/Berlin", "Warn", float64(1000), nil},
		{"c-status", "Daily", "10", "7.25", "1", float64(82), "user=ada (1 of 3)", "later", "False", nil, nil, nil, nil},
	}
	if diff := cmp.Diff(wantRows, rows); diff != "" {
		t.Error(diff)
	}
}

// A21: money is printed as people write it, of records and holds that a Go program has written.
func TestA21_RecordAndHoldColumns(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	task := usage.Task{UID: types.UID(uid), Namespace: namespace, Name: "fix-bug"}
	now := time.Now()
	record, err := usage.RecordUsage(usage.Completion{
		Task: task, Phase: usage.Succeeded, StartTime: now, CompletionTime: now, Results: map[string]string{"cost-usd": "7.25"},
	})
	if err != nil {
		t.Fatal(err)
	}
	hold := usage.Hold{UID: task.UID, Namespace: namespace, Name: task.Name, Amounts: usage.Amounts{usage.CostUSD: usage.MustUSD("0.125")}, AdmittedAt: now, ExpiresAt: now.Add(time.Hour)}
	for _, object := range []client.Object{budget.NewTaskRecord(record), budget.NewTaskHold(hold, task)} {
		if err := shared.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	for resource, want := range map[string][2][]any{
		"taskrecords": {{"Name", "Task", "Phase", "Type", "Model", "Cost", "Completed", "Quantity"}, {uid, "fix-bug", "Succeeded", nil, nil, "7.25"}},
		"taskholds":   {{"Name", "Task", "Cost", "Admitted", "Expires", "Quantity"}, {uid, "fix-bug", "0.125"}},
	} {
		names, rows := table(t, resource, namespace)
		var got []any
		for _, name := range names {
			got = append(got, name)
		}
		if diff := cmp.Diff(want[0], got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want[1], rows[0][:len(want[1])]); diff != "" {
			t.Error(diff)
		}
	}
}

// A21: short names and the category, as kubectl learns them.
func TestA21_NamesAreDiscovered(t *testing.T) {
	d, err := discovery.NewDiscoveryClientForConfig(shared.Config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.ServerResourcesForGroupVersion("bursar.dev/v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, r := range list.APIResources {
		got[r.Name] = append(append([]string{}, r.ShortNames...), r.Categories...)
	}
	want := map[string][]string{
		"taskbudgets": {"tb", "bursar"}, "taskbudgets/status": {}, "taskholds": {"th", "bursar"}, "taskrecords": {"tr", "bursar"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
