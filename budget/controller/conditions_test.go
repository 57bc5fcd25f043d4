package controller_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/bursar-dev/bursar/budget/controller"
)

type jobs = controller.OwnConditions[*batchv1.Job]

func TestAHostSaysInOneWayHowItsConditionsAreRead(t *testing.T) {
	t.Parallel()
	own := controller.JobConditions()
	none := func(*batchv1.Job) *[]metav1.Condition { return &[]metav1.Condition{} }
	for sentence, c := range map[string]struct {
		standard func(*batchv1.Job) *[]metav1.Condition
		own      jobs
		want     string
	}{
		"neither way":              {nil, jobs{}, "host.Conditions is required, or host.OwnConditions"},
		"both ways":                {none, own, "are both set"},
		"the one and half of both": {none, jobs{Set: own.Set}, "are both set"},
		"it can't be written":      {nil, jobs{Find: own.Find}, "host.OwnConditions.Set is required"},
		"it can't be read":         {nil, jobs{Set: own.Set}, "host.OwnConditions.Find is required"},
		"what is set is lost":      {nil, jobs{own.Find, func(*batchv1.Job, string, *metav1.Condition) {}}, "does not give the condition BudgetBlocked"},
		"the reason is lost":       {nil, jobs{forgetful(own.Find), own.Set}, `reason "", message "a trial of BudgetBlocked True": they must be kept`},
		"an old one stays":         {nil, jobs{own.Find, appendOnly(own.Set)}, `status "False"`},
		"none is taken out":        {nil, jobs{own.Find, keepAll(own.Set)}, "does not take out the condition BudgetBlocked alone"},
		"all are taken out":        {nil, jobs{own.Find, clearAll(own.Set)}, "does not take out the condition BudgetBlocked alone"},
		"one slot for all":         {nil, jobs{firstOf(own.Find), own.Set}, "Set has put in the condition RecordConflict"},
		"another is taken out":     {nil, jobs{own.Find, clearOthers(own.Set)}, "does not give the condition BudgetBlocked"},
		"a pointer at a copy":      {none, jobs{}, "host.Conditions: what is put there is lost: it must point into the task"},
		"a pointer at nothing":     {func(*batchv1.Job) *[]metav1.Condition { return nil }, jobs{}, "host.Conditions gives nil: it must point into the task"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			h := controller.Host[*batchv1.Job]{New: func() *batchv1.Job { return &batchv1.Job{} }, Conditions: c.standard, OwnConditions: c.own}
			if _, err := controller.NewGate(&controller.Book{}, h); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
		})
	}
}

type (
	find = func(*batchv1.Job, string) *metav1.Condition
	set  = func(*batchv1.Job, string, *metav1.Condition)
)

func forgetful(f find) find {
	return func(job *batchv1.Job, on string) *metav1.Condition {
		c := f(job, on)
		if c != nil {
			c.Reason = ""
		}
		return c
	}
}

func firstOf(f find) find {
	return func(job *batchv1.Job, _ string) *metav1.Condition { return f(job, "BudgetBlocked") }
}

func appendOnly(s set) set {
	return func(job *batchv1.Job, on string, c *metav1.Condition) {
		before := job.Status.Conditions
		job.Status.Conditions = nil
		s(job, on, c)
		job.Status.Conditions = append(before, job.Status.Conditions...)
	}
}

func keepAll(s set) set {
	return func(job *batchv1.Job, on string, c *metav1.Condition) {
		if c != nil {
			s(job, on, c)
		}
	}
}

func clearAll(s set) set {
	return func(job *batchv1.Job, on string, c *metav1.Condition) {
		s(job, on, c)
		if c == nil {
			job.Status.Conditions = nil
		}
	}
}

func clearOthers(s set) set {
	return func(job *batchv1.Job, on string, c *metav1.Condition) {
		job.Status.Conditions = nil
		s(job, on, c)
	}
}

var (
	since  = metav1.NewTime(time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC))
	waits  = metav1.Condition{Type: "BudgetBlocked", Status: "True", Reason: "BudgetExceeded", Message: "spent", LastTransitionTime: since, ObservedGeneration: 3}
	denied = metav1.Condition{Type: "BudgetBlocked", Status: "True", Reason: "PolicyDenied", Message: "not at night", LastTransitionTime: since}
)

func TestJobConditions(t *testing.T) {
	t.Parallel()
	own, job := controller.JobConditions(), &batchv1.Job{}
	suspended := batchv1.JobCondition{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue, LastProbeTime: since}
	job.Status.Conditions = []batchv1.JobCondition{suspended}
	if got := own.Find(job, "BudgetBlocked"); got != nil {
		t.Errorf("found %v", got)
	}
	own.Set(job, "BudgetBlocked", nil)
	own.Set(job, "BudgetBlocked", &waits)
	kept := waits
	kept.ObservedGeneration = 0 // a Job's conditions can't say it
	if diff := cmp.Diff(&kept, own.Find(job, "BudgetBlocked")); diff != "" {
		t.Error(diff)
	}
	own.Find(job, "BudgetBlocked").Message = "a copy"
	own.Set(job, "RecordConflict", &metav1.Condition{Type: "RecordConflict", Status: "True"})
	own.Set(job, "BudgetBlocked", &denied)
	if diff := cmp.Diff([]batchv1.JobCondition{
		suspended,
		{Type: "BudgetBlocked", Status: "True", Reason: "PolicyDenied", Message: "not at night", LastTransitionTime: since},
		{Type: "RecordConflict", Status: "True"},
	}, job.Status.Conditions); diff != "" {
		t.Error(diff)
	}
	own.Set(job, "BudgetBlocked", nil)
	if diff := cmp.Diff([]batchv1.JobCondition{suspended, {Type: "RecordConflict", Status: "True"}}, job.Status.Conditions); diff != "" {
		t.Error(diff)
	}
}

func TestUnstructuredConditions(t *testing.T) {
	t.Parallel()
	own := controller.UnstructuredConditions()
	task := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": "Pending", "conditions": []any{
		map[string]any{"type": "Ready", "status": "False", "severity": "Info"}, "no condition",
	}}}}
	if got := own.Find(task, "BudgetBlocked"); got != nil {
		t.Errorf("found %v", got)
	}
	own.Set(task, "BudgetBlocked", nil)
	own.Set(task, "BudgetBlocked", &waits)
	if diff := cmp.Diff(&waits, own.Find(task, "BudgetBlocked")); diff != "" {
		t.Error(diff)
	}
	own.Find(task, "BudgetBlocked").Message = "a copy"
	own.Set(task, "RecordConflict", &metav1.Condition{Type: "RecordConflict", Status: "True", LastTransitionTime: since})
	own.Set(task, "BudgetBlocked", &denied)
	own.Set(task.DeepCopy(), "BudgetBlocked", nil)
	blocked := map[string]any{"type": "BudgetBlocked", "status": "True", "reason": "PolicyDenied", "message": "not at night", "lastTransitionTime": "2026-03-09T12:00:00Z"}
	others := []any{
		map[string]any{"type": "Ready", "status": "False", "severity": "Info"}, "no condition",
		map[string]any{"type": "RecordConflict", "status": "True", "reason": "", "message": "", "lastTransitionTime": "2026-03-09T12:00:00Z"},
	}
	want := map[string]any{"status": map[string]any{"phase": "Pending", "conditions": slices.Insert(slices.Clone(others), 2, any(blocked))}}
	if diff := cmp.Diff(want, task.Object); diff != "" {
		t.Error(diff)
	}
	own.Set(task, "BudgetBlocked", nil)
	if diff := cmp.Diff(map[string]any{"status": map[string]any{"phase": "Pending", "conditions": others}}, task.Object); diff != "" {
		t.Error(diff)
	}
}

// What a task holds that its definition does not forbid is no reason to panic.
func TestUnstructuredConditionsOfOddTasks(t *testing.T) {
	t.Parallel()
	own := controller.UnstructuredConditions()
	for sentence, status := range map[string]any{
		"no status":                nil,
		"a status of text":         "done",
		"conditions of text":       map[string]any{"conditions": "none"},
		"a time that is none":      map[string]any{"conditions": []any{map[string]any{"type": "BudgetBlocked", "status": "True", "lastTransitionTime": "noon"}}},
		"a status that is no text": map[string]any{"conditions": []any{map[string]any{"type": "BudgetBlocked", "status": true}}},
	} {
		task := &unstructured.Unstructured{Object: map[string]any{"status": status}}
		if got := own.Find(task, "BudgetBlocked"); got != nil && got.Status != "" {
			t.Errorf("%s: found %v", sentence, got)
		}
		own.Set(task, "BudgetBlocked", nil)
		own.Set(task, "BudgetBlocked", &waits)
		if diff := cmp.Diff(&waits, own.Find(task, "BudgetBlocked")); diff != "" {
			t.Errorf("%s: %s", sentence, diff)
		}
	}
	task := &unstructured.Unstructured{}
	own.Set(task, "BudgetBlocked", &waits)
	own.Set(task, "BudgetBlocked", nil)
	if diff := cmp.Diff(map[string]any{"status": map[string]any{}}, task.Object); diff != "" {
		t.Errorf("where the last one is taken out no list stays: %s", diff)
	}
}

func TestPodConditions(t *testing.T) {
	t.Parallel()
	own, pod := controller.PodConditions(), &corev1.Pod{}
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "SchedulingGated"}
	pod.Status.Conditions = []corev1.PodCondition{scheduled}
	if got := own.Find(pod, "BudgetBlocked"); got != nil {
		t.Errorf("found %v", got)
	}
	own.Set(pod, "BudgetBlocked", nil)
	own.Set(pod, "BudgetBlocked", &waits)
	if diff := cmp.Diff(&waits, own.Find(pod, "BudgetBlocked")); diff != "" {
		t.Error(diff)
	}
	own.Find(pod, "BudgetBlocked").Message = "a copy"
	own.Set(pod, "RecordConflict", &metav1.Condition{Type: "RecordConflict", Status: "True"})
	own.Set(pod, "BudgetBlocked", &denied)
	if diff := cmp.Diff([]corev1.PodCondition{
		scheduled,
		{Type: "BudgetBlocked", Status: "True", Reason: "PolicyDenied", Message: "not at night", LastTransitionTime: since},
		{Type: "RecordConflict", Status: "True"},
	}, pod.Status.Conditions); diff != "" {
		t.Error(diff)
	}
	own.Set(pod, "BudgetBlocked", nil)
	if diff := cmp.Diff([]corev1.PodCondition{scheduled, {Type: "RecordConflict", Status: "True"}}, pod.Status.Conditions); diff != "" {
		t.Error(diff)
	}
}
