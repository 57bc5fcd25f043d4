package tasks

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
)

// The reasons of a producer's conditions.
const (
	reasonCapReached = "CapReached"
	reasonBelowCap   = "BelowCap"
	reasonNoCap      = "NoCap"
)

// Reached reports that a producer has made as many tasks as it may. It is not about money: a producer that is below its cap
// makes tasks that wait for their budgets.
func Reached(producer *examplev1alpha1.TaskProducer) bool {
	limit := producer.Spec.MaxTotalTasks
	return limit != nil && producer.Status.TotalTasksCreated >= *limit
}

// SetCap says in the producer's conditions, under the name of today and the older one, whether it has reached its cap, and
// reports whether that is news.
func SetCap(producer *examplev1alpha1.TaskProducer, now time.Time) bool {
	condition := metav1.Condition{
		Status: metav1.ConditionFalse, Reason: reasonNoCap, Message: "spec.maxTotalTasks is not set",
		ObservedGeneration: producer.Generation, LastTransitionTime: metav1.NewTime(now),
	}
	if limit := producer.Spec.MaxTotalTasks; limit != nil {
		// The count is in the status; here it would make each task a new condition.
		condition.Reason, condition.Message = reasonBelowCap, fmt.Sprintf("fewer than the %d tasks of spec.maxTotalTasks were made", *limit)
	}
	if Reached(producer) {
		condition.Status, condition.Reason = metav1.ConditionTrue, reasonCapReached
		condition.Message = fmt.Sprintf("%d tasks were made, spec.maxTotalTasks is %d; raise it for more",
			producer.Status.TotalTasksCreated, *producer.Spec.MaxTotalTasks)
	}
	changed := false
	for _, name := range []string{examplev1alpha1.ConditionMaxTotalTasksReached, examplev1alpha1.ConditionTaskBudgetExhausted} {
		condition.Type = name
		changed = meta.SetStatusCondition(&producer.Status.Conditions, condition) || changed
	}
	return changed
}

// NewTask is the next task of a producer, as it is sent to the API server. worker is who will do it.
func NewTask(producer *examplev1alpha1.TaskProducer, worker examplev1alpha1.WorkerPoolSpec) *examplev1alpha1.AgentTask {
	const enough = 5
	uid := string(producer.UID)
	labels := maps.Clone(producer.Spec.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	stamp := map[string]string{
		examplev1alpha1.LabelProducer: producer.Name,
		examplev1alpha1.LabelSource:   producer.Spec.Source,
		examplev1alpha1.LabelType:     worker.Type,
		examplev1alpha1.LabelModel:    worker.Model,
	}
	if ref := producer.Spec.Task.WorkerPoolRef; ref != nil {
		stamp[examplev1alpha1.LabelPool] = ref.Name
	}
	for key, text := range stamp {
		delete(labels, key) // a template that says what the producer says knows less
		if value := LabelValue(text); value != "" {
			labels[key] = value
		}
	}
	return &examplev1alpha1.AgentTask{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: producer.Namespace,
			// A part of the UID keeps the tasks of a producer that was deleted and made again apart from the old ones.
			Name:   fmt.Sprintf("%s-%s-%d", producer.Name, uid[:min(enough, len(uid))], producer.Status.TotalTasksCreated+1),
			Labels: labels,
		},
		Spec: *producer.Spec.Task.DeepCopy(),
	}
}

// LabelValue makes a label's value of a text, such as the name of a model: what no label may have becomes a dash, and what
// is too long is cut. It is "" where nothing is left.
func LabelValue(text string) string {
	value := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, text)
	const edges = "-_."
	value = strings.TrimLeft(value, edges)
	return strings.TrimRight(value[:min(len(value), validation.LabelValueMaxLength)], edges)
}
