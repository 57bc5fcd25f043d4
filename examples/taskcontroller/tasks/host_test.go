package tasks_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/examples/taskcontroller/tasks"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

func finished(results map[string]string) *examplev1alpha1.AgentTask {
	return &examplev1alpha1.AgentTask{
		Spec: examplev1alpha1.AgentTaskSpec{Type: "asked-for", Model: "asked-for"},
		Status: examplev1alpha1.AgentTaskStatus{
			Phase: examplev1alpha1.Failed, Type: "coding-agent", Model: "large", Results: results,
			StartTime: &metav1.Time{Time: noon}, CompletionTime: &metav1.Time{Time: noon.Add(time.Minute)},
		},
	}
}

func TestWhatARecordSaysOfATask(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		results map[string]string
		want    usage.Figures
	}{
		"cost and tokens": {map[string]string{"cost-usd": "0.5", "input-tokens": "10", "output-tokens": "2", "verdict": "fine"}, usage.Figures{
			usage.CostUSD: {Amount: usage.MustUSD("0.5"), Basis: usage.Reported}, usage.InputTokens: {Amount: 10, Basis: usage.Reported},
			usage.OutputTokens: {Amount: 2, Basis: usage.Reported},
		}},
		"nothing":               {nil, usage.Figures{}},
		"zero is a report":      {map[string]string{"cost-usd": "0"}, usage.Figures{usage.CostUSD: {Basis: usage.Reported}}},
		"what nobody can read":  {map[string]string{"cost-usd": "a lot"}, usage.Figures{usage.CostUSD: {Basis: usage.Unknown}}},
		"a negative is no cost": {map[string]string{"cost-usd": "-1"}, usage.Figures{usage.CostUSD: {Basis: usage.Unknown}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			completion, err := tasks.Host().Completion(t.Context(), finished(c.results))
			if err != nil {
				t.Fatal(err)
			}
			completion.Task.UID, completion.Task.Namespace = "u", "agents"
			record, err := usage.RecordUsage(completion)
			if err != nil {
				t.Fatal(err)
			}
			c.want[usage.Tasks] = usage.Figure{Amount: 1, Basis: usage.Reported}
			c.want[usage.Seconds] = usage.Figure{Amount: 60, Basis: usage.Reported}
			if diff := cmp.Diff(c.want, record.Usage); diff != "" {
				t.Error(diff)
			}
			if record.Type != "coding-agent" || record.Model != "large" || record.Phase != usage.Failed {
				t.Errorf("the record says %s, %s, %s", record.Type, record.Model, record.Phase)
			}
		})
	}
}

func TestTheEstimateOfATask(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]usage.Amounts{
		"":     nil,
		"0.75": {usage.CostUSD: usage.MustUSD("0.75")},
		"0":    {usage.CostUSD: 0},
		"much": nil,
	} {
		task := &examplev1alpha1.AgentTask{Spec: examplev1alpha1.AgentTaskSpec{EstimateUSD: text}}
		if diff := cmp.Diff(want, tasks.Host().Estimate(task)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestAPretendedTaskTurnsOutTheSameEachTime(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range []string{"a", "b", "c", "issues-12345-1", "issues-12345-2", ""} {
		task := &examplev1alpha1.AgentTask{ObjectMeta: metav1.ObjectMeta{Name: name}}
		first := tasks.Pretend(task)
		if diff := cmp.Diff(first, tasks.Pretend(task)); diff != "" {
			t.Error(diff)
		}
		cost, err := usage.ParseUSD(first.Results["cost-usd"])
		if err != nil || cost < usage.MustUSD("0.25") || cost > usage.MustUSD("1.24") {
			t.Errorf("%q costs %s, %v", name, first.Results["cost-usd"], err)
		}
		if first.After < 10*time.Minute || first.After > 40*time.Minute {
			t.Errorf("%q takes %v", name, first.After)
		}
		seen[first.Results["cost-usd"]] = true
	}
	if len(seen) < 2 {
		t.Error("all tasks cost the same")
	}
}
