package budget_test

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/corpus"
	"github.com/bursar-dev/bursar/usage"
)

// FuzzCompile reads a manifest and decides by it: nothing panics, a budget with
// faults refuses and says why, and a budget without has figures for each limit.
func FuzzCompile(f *testing.F) {
	for _, file := range []string{"testdata/admit.json", "testdata/admit-more.yaml", "testdata/admit-several.yaml"} {
		cases, err := corpus.Read(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range cases {
			for i := range c.Budgets {
				manifest, err := yaml.Marshal(&c.Budgets[i])
				if err != nil {
					f.Fatal(err)
				}
				f.Add(manifest, c.Now.Unix())
			}
		}
	}
	f.Add([]byte("spec: {taskSelector: {matchLabels: {\"\": x}}, period: {type: Cycle, unit: Month, every: 2147483647, anchor: 0001-01-01T00:00:00Z}}"), int64(0))
	f.Add([]byte("spec: {taskSelector: {}, period: {type: Fixed, duration: 999999999w}, maxCostUSD: 1e18, groupBy: [\"\\xff\"], thresholds: [1]}"), int64(1<<40))
	f.Fuzz(func(t *testing.T, manifest []byte, unix int64) {
		var tb budgetv1alpha1.TaskBudget
		if yaml.Unmarshal(manifest, &tb) != nil {
			t.Skip("no TaskBudget")
		}
		rule, faults := budget.Compile(&tb)
		if (rule.Fault() == nil) != (len(faults) == 0) {
			t.Fatalf("fault %v and faults %v", rule.Fault(), faults)
		}
		in := budget.Input{
			Task:  budget.Task{UID: "a", Namespace: tb.Namespace, Labels: map[string]string{"team": "platform"}},
			Rules: []*budget.Rule{rule}, Ledger: usage.NewMemory(), Now: time.Unix(unix, 0),
		}
		d := budget.Admit(in)
		if len(faults) > 0 && d.Allowed && rule.Matches(tb.Namespace, in.Task.Labels) && rule.Action() == budgetv1alpha1.ActionBlock {
			t.Fatalf("a budget with faults admits: %v", faults)
		}
		for _, v := range d.Verdicts {
			if v.Fault == nil && v.Outside == "" && len(v.Figures) != len(rule.Limits()) {
				t.Fatalf("%d figures for %d limits", len(v.Figures), len(rule.Limits()))
			}
		}
		if !d.Allowed && (d.Message() == "" || !utf8.ValidString(d.Message()) || len(d.Message()) > 4096) {
			t.Fatalf("message %q", d.Message())
		}
		if !d.RetryAt.IsZero() && !d.RetryAt.After(in.Now) {
			t.Fatalf("retry at %s, which is not after now", d.RetryAt)
		}
		if _, err := json.Marshal(d); err != nil {
			t.Fatal(err)
		}
		_ = d.Explain()
		_ = budget.Observe(rule, in.Ledger, nil, in.Now)
	})
}

// FuzzRecordFrom reads stored records and holds: nothing panics, and what is
// read can be stored again and says the same.
func FuzzRecordFrom(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","namespace":"n"},"spec":{"taskRef":{"uid":"a"},"phase":"Failed",` +
		`"completionTime":"2026-03-08T04:30:00Z","usage":{"costUSD":"1","meters":[{"meter":"x","amount":1}]},` +
		`"basis":[{"meter":"costUSD","basis":"Held"},{"meter":"inputTokens","basis":"Unknown"}],"ttlSeconds":9}}`))
	f.Add([]byte(`{"metadata":{"name":"b","namespace":"n"},"spec":{"taskRef":{"uid":"b"},"phase":"Failed","corrects":"a",` +
		`"completionTime":"2026-03-08T04:30:00Z","usage":{"costUSD":"1"},"replaces":{"basis":[{"meter":"costUSD","basis":"Unknown"}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var stored budgetv1alpha1.TaskRecord
		if json.Unmarshal(data, &stored) != nil {
			t.Skip("no TaskRecord")
		}
		if record, faults := budget.RecordFrom(&stored); len(faults) == 0 {
			again, faults := budget.RecordFrom(budget.NewTaskRecord(record))
			if len(faults) > 0 || !record.Equal(again) {
				t.Fatalf("%v\n%+v\n%+v", faults, record, again)
			}
		}
		var hold budgetv1alpha1.TaskHold
		if json.Unmarshal(data, &hold) == nil {
			if read, faults := budget.HoldFrom(&hold); len(faults) == 0 {
				if _, faults := budget.HoldFrom(budget.NewTaskHold(read, usage.Task{})); len(faults) > 0 {
					t.Fatal(faults)
				}
			}
		}
	})
}
