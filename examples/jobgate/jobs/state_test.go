package jobs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/examples/jobgate/jobs"
	"github.com/bursar-dev/bursar/usage"
)

var noon = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)

func TestWhichJobsWaitForTheGate(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		change func(*batchv1.Job)
		want   bool
	}{
		"suspended, under the gate":               {func(*batchv1.Job) {}, true},
		"not under the gate":                      {func(j *batchv1.Job) { j.Labels = nil }, false},
		"under another gate":                      {func(j *batchv1.Job) { j.Labels[jobs.LabelGate] = "queue" }, false},
		"not suspended":                           {func(j *batchv1.Job) { j.Spec.Suspend = new(false) }, false},
		"suspended by default: it never is":       {func(j *batchv1.Job) { j.Spec.Suspend = nil }, false},
		"released, and suspended by someone else": {func(j *batchv1.Job) { j.Annotations = map[string]string{jobs.AnnotationReleased: "x"} }, false},
		"on its way out":                          {func(j *batchv1.Job) { j.DeletionTimestamp = &metav1.Time{Time: noon} }, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{jobs.LabelGate: jobs.GateBudget}}, Spec: batchv1.JobSpec{Suspend: new(true)}}
			c.change(job)
			if got := jobs.Waits(job); got != c.want {
				t.Errorf("it waits: %v", got)
			}
		})
	}
}

func TestHowAJobHasEnded(t *testing.T) {
	t.Parallel()
	at := func(name batchv1.JobConditionType, status corev1.ConditionStatus) batchv1.JobCondition {
		return batchv1.JobCondition{Type: name, Status: status, LastTransitionTime: metav1.NewTime(noon)}
	}
	for sentence, c := range map[string]struct {
		status batchv1.JobStatus
		phase  usage.Phase
		end    time.Time
	}{
		"it has not started": {batchv1.JobStatus{}, "", time.Time{}},
		"it is suspended":    {batchv1.JobStatus{Conditions: []batchv1.JobCondition{at("Suspended", "True")}}, "", time.Time{}},
		"it is about to":     {batchv1.JobStatus{Conditions: []batchv1.JobCondition{at("SuccessCriteriaMet", "True"), at("FailureTarget", "True")}}, "", time.Time{}},
		"it has succeeded": {batchv1.JobStatus{
			Conditions: []batchv1.JobCondition{at("SuccessCriteriaMet", "True"), at("Complete", "True")}, CompletionTime: &metav1.Time{Time: noon.Add(-time.Second)},
		}, usage.Succeeded, noon.Add(-time.Second)},
		"it has failed, and has no completion time": {batchv1.JobStatus{Conditions: []batchv1.JobCondition{at("Failed", "True")}}, usage.Failed, noon},
		"it has not failed":                         {batchv1.JobStatus{Conditions: []batchv1.JobCondition{at("Failed", "False")}}, "", time.Time{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			phase, end := jobs.Finished(&batchv1.Job{Status: c.status})
			if diff := cmp.Diff(c.phase, phase); diff != "" || !end.Equal(c.end) {
				t.Errorf("%s at %v", phase, end)
			}
		})
	}
}

func TestTheEstimateOfAJob(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]usage.Amounts{"": nil, "0.75": {usage.CostUSD: usage.MustUSD("0.75")}, "much": nil, "-1": nil} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{jobs.AnnotationEstimate: text}}}
		if diff := cmp.Diff(want, jobs.Host().Estimate(job)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
