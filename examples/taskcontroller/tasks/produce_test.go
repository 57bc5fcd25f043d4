package tasks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/bursar-dev/bursar/examples/taskcontroller/tasks"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
)

var noon = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)

func producer(limit *int64, created int64) *examplev1alpha1.TaskProducer {
	return &examplev1alpha1.TaskProducer{
		ObjectMeta: metav1.ObjectMeta{Namespace: "agents", Name: "issues", UID: "12345678-9abc", Generation: 3},
		Spec: examplev1alpha1.TaskProducerSpec{
			Source: "backlog", Interval: metav1.Duration{Duration: time.Hour}, MaxTotalTasks: limit,
			Task: examplev1alpha1.AgentTaskSpec{Prompt: "mend it", Type: "coding-agent", Model: "vendor/large:2"},
		},
		Status: examplev1alpha1.TaskProducerStatus{TotalTasksCreated: created},
	}
}

func TestTheCapOfAProducer(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		limit   *int64
		created int64
		status  metav1.ConditionStatus
		reason  string
		says    string
	}{
		"no cap is no limit":              {nil, 1_000_000, "False", "NoCap", "not set"},
		"a cap of none is reached":        {new(int64(0)), 0, "True", "CapReached", "0 tasks were made"},
		"below the cap":                   {new(int64(3)), 2, "False", "BelowCap", "fewer than the 3 tasks"},
		"at the cap":                      {new(int64(3)), 3, "True", "CapReached", "maxTotalTasks is 3"},
		"a cap that was lowered below it": {new(int64(3)), 7, "True", "CapReached", "7 tasks were made"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			p := producer(c.limit, c.created)
			if !tasks.SetCap(p, noon) {
				t.Error("the first conditions are no news")
			}
			if tasks.SetCap(p, noon.Add(time.Hour)) {
				t.Error("the same conditions are news")
			}
			if len(p.Status.Conditions) != 2 {
				t.Fatalf("%d conditions", len(p.Status.Conditions))
			}
			for _, name := range []string{"MaxTotalTasksReached", "TaskBudgetExhausted"} {
				got := meta.FindStatusCondition(p.Status.Conditions, name)
				if got == nil || got.Status != c.status || got.Reason != c.reason || !strings.Contains(got.Message, c.says) ||
					got.ObservedGeneration != 3 || !got.LastTransitionTime.Equal(&metav1.Time{Time: noon}) {
					t.Errorf("%s is %+v", name, got)
				}
			}
			if _, more := tasks.NextTask(p); more != (c.status == metav1.ConditionFalse) {
				t.Errorf("it makes more: %v", more)
			}
		})
	}
}

// A count that goes on below the cap is no reason to write conditions.
func TestAConditionIsNewsOnlyWhenTheCapIsReached(t *testing.T) {
	t.Parallel()
	p := producer(new(int64(3)), 0)
	var news []bool
	for p.Status.TotalTasksCreated = range 4 {
		news = append(news, tasks.SetCap(p, noon))
	}
	if diff := cmp.Diff([]bool{true, false, false, true}, news); diff != "" {
		t.Error(diff)
	}
	p.Spec.MaxTotalTasks = new(int64(9)) // raised
	if !tasks.SetCap(p, noon) || meta.IsStatusConditionTrue(p.Status.Conditions, examplev1alpha1.ConditionTaskBudgetExhausted) {
		t.Errorf("the conditions are %+v", p.Status.Conditions)
	}
}

func TestWhenTheNextTaskIsMade(t *testing.T) {
	t.Parallel()
	p := producer(nil, 0)
	if at, more := tasks.NextTask(p); !more || at.After(noon) {
		t.Errorf("the first one: %v, %v", at, more)
	}
	p.Status.LastTaskTime = &metav1.Time{Time: noon}
	if at, more := tasks.NextTask(p); !more || !at.Equal(noon.Add(time.Hour)) {
		t.Errorf("the next one: %v, %v", at, more)
	}
}

func TestTheLabelsOfATask(t *testing.T) {
	t.Parallel()
	worker := examplev1alpha1.WorkerPoolSpec{Type: "coding-agent", Model: "vendor/large:2"}
	base := map[string]string{
		examplev1alpha1.LabelProducer: "issues", examplev1alpha1.LabelSource: "backlog",
		examplev1alpha1.LabelType: "coding-agent", examplev1alpha1.LabelModel: "vendor-large-2",
	}
	with := func(more map[string]string) map[string]string {
		all := map[string]string{}
		for _, set := range []map[string]string{base, more} {
			for k, v := range set {
				if all[k] = v; v == "" {
					delete(all, k)
				}
			}
		}
		return all
	}
	for sentence, c := range map[string]struct {
		change func(*examplev1alpha1.TaskProducer)
		worker examplev1alpha1.WorkerPoolSpec
		want   map[string]string
	}{
		"where it comes from and who does it": {func(*examplev1alpha1.TaskProducer) {}, worker, base},
		"the pool": {func(p *examplev1alpha1.TaskProducer) {
			p.Spec.Task.WorkerPoolRef = &examplev1alpha1.WorkerPoolReference{Name: "blue"}
		}, worker, with(map[string]string{examplev1alpha1.LabelPool: "blue"})},
		"the template's own labels stay": {func(p *examplev1alpha1.TaskProducer) {
			p.Spec.Labels = map[string]string{"team": "platform"}
		}, worker, with(map[string]string{"team": "platform"})},
		"the template does not say what the producer says": {func(p *examplev1alpha1.TaskProducer) {
			p.Spec.Labels = map[string]string{examplev1alpha1.LabelProducer: "other", examplev1alpha1.LabelModel: "small"}
		}, worker, base},
		"not even where the producer has nothing to say": {func(p *examplev1alpha1.TaskProducer) {
			p.Spec.Labels = map[string]string{examplev1alpha1.LabelModel: "small"}
		}, examplev1alpha1.WorkerPoolSpec{Type: "coding-agent"}, with(map[string]string{examplev1alpha1.LabelModel: ""})},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			p := producer(nil, 41)
			c.change(p)
			before := p.DeepCopy()
			task := tasks.NewTask(p, c.worker)
			if diff := cmp.Diff(c.want, task.Labels); diff != "" {
				t.Error(diff)
			}
			if task.Namespace != "agents" || task.Name != "issues-12345-42" {
				t.Errorf("it is %s/%s", task.Namespace, task.Name)
			}
			task.Labels["x"] = "y"
			if diff := cmp.Diff(before, p); diff != "" {
				t.Errorf("the producer has changed: %s", diff)
			}
		})
	}
}

func TestLabelValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "",
		"large":                  "large",
		"vendor/large:2":         "vendor-large-2",
		"/large/":                "large",
		"...":                    "",
		"größe":                  "gr--e",
		strings.Repeat("a", 70):  strings.Repeat("a", 63),
		strings.Repeat("a/", 40): strings.TrimSuffix(strings.Repeat("a-", 32), "-"),
	} {
		got := tasks.LabelValue(text)
		if got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
		if faults := validation.IsValidLabelValue(got); len(faults) > 0 {
			t.Errorf("%q gives %q: %v", text, got, faults)
		}
	}
}
