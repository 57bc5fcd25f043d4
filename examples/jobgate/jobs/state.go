package jobs

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/usage"
)

// What a Job says to the gate.
const (
	// LabelGate with the value "budget" puts a Job under the gate. Create it suspended.
	LabelGate = "example.bursar.dev/gate"
	// GateBudget is the value of LabelGate.
	GateBudget = "budget"
	// LabelType and LabelModel are who does the work, for the record and for budgets to select by.
	LabelType  = "example.bursar.dev/type"
	LabelModel = "example.bursar.dev/model"
	// AnnotationEstimate is what the Job is expected to cost, in US dollars, such as "0.75".
	AnnotationEstimate = "example.bursar.dev/estimate-usd"
	// AnnotationUsage is what the Job has spent, if something else than its pods says so: a JSON object such as
	// {"cost-usd": "0.75", "input-tokens": 12000}. It must be there when the Job finishes.
	AnnotationUsage = "example.bursar.dev/usage"
	// AnnotationReleased is when the gate has released the Job. A Job that is suspended afterwards was suspended by
	// somebody else, who will say when it goes on.
	AnnotationReleased = "example.bursar.dev/released"
)

// Gated reports that a Job is under the gate.
func Gated(job *batchv1.Job) bool { return job.Labels[LabelGate] == GateBudget }

// Waits reports that a Job waits for the gate: it is suspended, and was never released.
func Waits(job *batchv1.Job) bool {
	_, released := job.Annotations[AnnotationReleased]
	return Gated(job) && job.DeletionTimestamp.IsZero() && job.Spec.Suspend != nil && *job.Spec.Suspend && !released
}

// Finished says how a Job has ended, and when; no phase if it has not. (A Job that failed has no completionTime.)
func Finished(job *batchv1.Job) (usage.Phase, time.Time) {
	for _, end := range []struct {
		condition batchv1.JobConditionType
		phase     usage.Phase
	}{{batchv1.JobComplete, usage.Succeeded}, {batchv1.JobFailed, usage.Failed}} {
		for _, c := range job.Status.Conditions {
			switch {
			case c.Type != end.condition || c.Status != corev1.ConditionTrue:
			case job.Status.CompletionTime != nil:
				return end.phase, job.Status.CompletionTime.Time
			default:
				return end.phase, c.LastTransitionTime.Time
			}
		}
	}
	return "", time.Time{}
}
