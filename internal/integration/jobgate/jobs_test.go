package jobgate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/examples/jobgate/jobs"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

func TestAJobIsReleasedAndRecordedByWhatItsPodSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget("5")
	job := w.job("nightly", func(j *batchv1.Job) { j.Labels[jobs.LabelType], j.Labels[jobs.LabelModel] = "coding-agent", "large" })
	w.awaitReleased("nightly")
	w.end(job, corev1.PodSucceeded, `{"cost-usd": 0.42, "input-tokens": "12000"}`)
	record := w.awaitRecord(job)
	want := []string{"coding-agent", "large", "Succeeded", "420m", "Job", "nightly", "batch/v1"}
	if diff := cmp.Diff(want, []string{
		record.Type, record.Model, record.Phase, record.Usage.CostUSD.String(), record.TaskRef.Kind, record.TaskRef.Name, record.TaskRef.APIVersion,
	}); diff != "" {
		t.Error(diff)
	}
	if *record.Usage.InputTokens != 12000 || record.Usage.OutputTokens != nil || record.StartTime == nil || record.AdmittedAt == nil {
		t.Errorf("the record says %+v", record)
	}

	// What was recorded stands, whatever becomes of the pods.
	must(t, shared.Client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(w.namespace), client.GracePeriodSeconds(0)))
	must(t, shared.Client.Patch(t.Context(), job, merge(`{"metadata": {"annotations": {"touched": "yes"}}}`)))
	time.Sleep(time.Second)
	w.await("nightly", "has no conflict", func(j *batchv1.Job) bool {
		for _, c := range j.Status.Conditions {
			if c.Type == controller.ConditionRecordConflict {
				return false
			}
		}
		return j.Annotations["touched"] == "yes"
	})
}

func TestA5_AJobWithoutRoomWaitsAndIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget("1")
	w.job("first")
	w.awaitReleased("first")
	second := w.job("second")
	told := w.awaitBlocked("second")
	if told.Reason != "BudgetExceeded" || !strings.Contains(told.Message, "held 0.75 + estimate 0.75 exceeds the limit 1") {
		t.Errorf("it is told %s: %s", told.Reason, told.Message)
	}
	before := w.told.Load()
	for _, change := range []string{
		`{"metadata": {"annotations": {"touched": "yes"}}}`,
		`{"spec": {"parallelism": 2}}`, // another generation, which the condition of a Job can't say
		`{"spec": {"parallelism": 1}}`,
	} {
		must(t, shared.Client.Patch(t.Context(), second, merge(change)))
		time.Sleep(time.Second)
	}
	w.stop()
	w.run()
	time.Sleep(2 * time.Second)
	if more := w.told.Load() - before; more != 0 {
		t.Errorf("it was told %d times more", more)
	}
	if second.Generation < 3 {
		t.Errorf("it is of generation %d", second.Generation)
	}
	w.await("second", "has no pods", func(j *batchv1.Job) bool { return j.Status.Active == 0 && j.Status.StartTime == nil })
	w.raise("2")
	w.awaitReleased("second")
	w.await("second", "runs", func(j *batchv1.Job) bool { return j.Status.Active == 1 })
}

func TestAFailedJobCostsWhatAllItsTriesCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget("5")
	job := w.job("nightly")
	w.awaitReleased("nightly")
	for range 2 {
		w.end(job, corev1.PodFailed, `{"cost-usd": "0.3", "output-tokens": 7}`)
	}
	record := w.awaitRecord(job)
	if record.Phase != "Failed" || record.Usage.CostUSD.String() != "600m" || *record.Usage.OutputTokens != 14 {
		t.Errorf("the record says %s, %+v", record.Phase, record.Usage)
	}
}

var held = budgetv1alpha1.MeterBasis{Meter: "costUSD", Basis: "Held"}

// TestDeletingAJobIsNoWayOut: one that runs is charged with what was held for it, one that waits costs nothing.
func TestDeletingAJobIsNoWayOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget("1")
	first := w.job("first")
	w.awaitReleased("first")
	second := w.job("second")
	w.awaitBlocked("second")
	for _, job := range []*batchv1.Job{second, first} {
		must(t, shared.Client.Delete(t.Context(), job, client.PropagationPolicy("Background")))
	}
	record := w.awaitRecord(first)
	if record.Phase != "Failed" || record.Usage.CostUSD.String() != "750m" || !slices.Contains(record.Basis, held) {
		t.Errorf("the record says %s, %+v, %+v", record.Phase, record.Usage, record.Basis)
	}
	w.job("third")
	if told := w.awaitBlocked("third"); !strings.Contains(told.Message, "used 0.75 + estimate 0.75") {
		t.Errorf("the third is told %s", told.Message)
	}
	records := &budgetv1alpha1.TaskRecordList{}
	must(t, shared.Client.List(t.Context(), records, client.InNamespace(w.namespace)))
	if len(records.Items) != 1 {
		t.Errorf("%d records", len(records.Items))
	}
}

// TestAJobThatSaysNothingIsNotFree: the budget says what unknown usage is.
func TestAJobThatSaysNothingIsNotFree(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		unknown  string
		estimate string
		next     string // what the next Job is told, "" if it is released
	}{
		"ChargeHold charges what was held":     {"ChargeHold", "0.75", "used 0.75 + estimate 0.75"},
		"and blocks where nothing was held":    {"ChargeHold", "", "costUSD is not known for 1 finished task"},
		"Block blocks":                         {"Block", "", "costUSD is not known for 1 finished task"},
		"Ignore takes what is not known for 0": {"Ignore", "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.budget("1", func(s *budgetv1alpha1.TaskBudgetSpec) { s.UnknownUsage = budgetv1alpha1.UnknownUsage(c.unknown) })
			estimate := func(j *batchv1.Job) { j.Annotations[jobs.AnnotationEstimate] = c.estimate }
			job := w.job("first", estimate)
			w.awaitReleased("first")
			w.end(job, corev1.PodSucceeded, "all went well")
			record := w.awaitRecord(job)
			if (record.Usage.CostUSD != nil) != (c.estimate != "") {
				t.Errorf("recorded %+v", record.Usage)
			}
			w.job("second", estimate)
			if c.next == "" {
				w.awaitReleased("second")
				return
			}
			if told := w.awaitBlocked("second"); !strings.Contains(told.Message, c.next) {
				t.Errorf("the next one is told %s", told.Message)
			}
		})
	}
}

func TestAnAnnotationSaysMoreThanThePods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget("5")
	for name, c := range map[string]struct{ annotation, cost, problem string }{
		"readable": {`{"cost-usd": "0.1234567891"}`, "123456790n", ""}, // rounded up once
		"not":      {"too much", "750m", "too much"},
	} {
		job := w.job(name, func(j *batchv1.Job) { j.Annotations[jobs.AnnotationUsage] = c.annotation })
		w.awaitReleased(name)
		w.end(job, corev1.PodSucceeded, `{"cost-usd": "0.42"}`)
		record := w.awaitRecord(job)
		if record.Usage.CostUSD.String() != c.cost {
			t.Errorf("%s: recorded %s, want %s", name, record.Usage.CostUSD, c.cost)
		}
		if said := fmt.Sprint(record.Problems); !strings.Contains(said, c.problem) || c.problem == "" && len(record.Problems) > 0 {
			t.Errorf("%s: problems %s", name, said)
		}
	}
}

// TestTheGateLeavesOtherJobsAlone: those that are not under it, and those that somebody has suspended after their release.
func TestTheGateLeavesOtherJobsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget("5")
	w.job("elsewhere", func(j *batchv1.Job) { j.Labels = nil })
	paused := w.job("paused")
	w.awaitReleased("paused")
	must(t, shared.Client.Patch(t.Context(), paused, merge(`{"spec": {"suspend": true}}`)))
	w.job("probe")
	w.awaitReleased("probe")
	time.Sleep(time.Second)
	for _, name := range []string{"elsewhere", "paused"} {
		w.await(name, "is suspended", func(j *batchv1.Job) bool { return *j.Spec.Suspend })
	}
	cluster.Eventually(t, "the paused one still holds its estimate", func(ctx context.Context) error {
		return shared.Client.Get(ctx, w.key(string(paused.UID)), &budgetv1alpha1.TaskHold{})
	})
	must(t, shared.Client.Patch(t.Context(), paused, merge(`{"spec": {"suspend": false}}`)))
	w.await("paused", "runs again", func(j *batchv1.Job) bool { return j.Status.Active == 1 })
	w.end(paused, corev1.PodSucceeded, `{"cost-usd": "0.42"}`)
	if record := w.awaitRecord(paused); record.Usage.CostUSD.String() != "420m" {
		t.Errorf("recorded %s", record.Usage.CostUSD)
	}
}

// TestAJobThatWasNotSuspendedIsRecordedAllTheSame, and blocks those that come after it.
func TestAJobThatWasNotSuspendedIsRecordedAllTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget("1")
	job := w.job("sly", func(j *batchv1.Job) { j.Spec.Suspend = new(false) })
	w.end(job, corev1.PodSucceeded, `{"cost-usd": "1.5"}`)
	if record := w.awaitRecord(job); record.Usage.CostUSD.String() != "1500m" {
		t.Errorf("recorded %s", record.Usage.CostUSD)
	}
	w.job("honest")
	w.awaitBlocked("honest")
}
