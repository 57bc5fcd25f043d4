package controller_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

func TestA8_RecordingIsRetriedIsIdempotentAndReportsConflicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "5", gold)
	m := newMeter()
	refuse := true
	m.fail = func(verb string, o runtime.Object) error {
		if _, record := o.(*budgetv1alpha1.TaskRecord); record && verb == "create" && refuse {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "taskrecords"}, "x", errors.New("not today"))
		}
		return nil
	}
	r := w.start(settings{wrap: m.wrap, idle: true})
	task := w.task("first", "1", gold)
	if answer, err := r.gate.Admit(t.Context(), task); err != nil || !answer.Admitted {
		t.Fatalf("%+v, %v", answer, err)
	}
	w.finish("first", "0.5")
	task = w.get("first")
	if err := r.recorder.Record(t.Context(), task); err == nil {
		t.Fatal("a record that could not be written is no error")
	}
	if len(w.holds()) != 1 {
		t.Fatal("the hold is gone before the record is written")
	}
	m.mu.Lock()
	refuse = false
	m.mu.Unlock()
	for range 3 {
		must(t, r.recorder.Record(t.Context(), task))
	}
	if records, holds := len(w.records()), len(w.holds()); records != 1 || holds != 0 {
		t.Fatalf("%d records, %d holds", records, holds)
	}
	m.seen()
	must(t, r.recorder.Record(t.Context(), task))
	if diff := cmp.Diff(map[string]int{}, m.seen()); diff != "" {
		t.Errorf("what is recorded costs API calls: %s", diff)
	}

	w.finishAt("first", "0.75", task.Status.CompletionTime.Time)
	task = w.get("first")
	err := r.recorder.Record(t.Context(), task)
	var conflict *controller.ConflictError
	if !errors.As(err, &conflict) || !strings.Contains(err.Error(), "0.5") || !strings.Contains(err.Error(), "0.75") {
		t.Fatalf("want a conflict that names both costs, got %v", err)
	}
	if !meta.IsStatusConditionTrue(w.get("first").Status.Conditions, controller.ConditionRecordConflict) {
		t.Error("the task carries no condition")
	}
	if said := strings.Join(r.events.all(), "\n"); !strings.Contains(said, controller.EventConflict) {
		t.Errorf("no event: %s", said)
	}
	if got := w.records()[0].Spec.Usage.CostUSD.String(); got != "500m" {
		t.Errorf("the first record does not stand: %s", got)
	}
}

func TestA7_A9_A15_ARecordSaysWhatATaskOfAPoolHasSpent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.start(settings{})
	task := &AgentTask{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "pooled", Labels: gold},
		Spec:       AgentTaskSpec{EstimateUSD: "1", Pool: "blue"},
	}
	must(t, shared.Client.Create(t.Context(), task))
	w.awaitRunning("pooled")
	w.finish("pooled", "0.125")
	record := w.awaitRecord(task)
	if diff := cmp.Diff([]string{"claude-code", "opus", "Succeeded", "125m", string(task.UID), "pooled", "AgentTask"}, []string{
		record.Spec.Type, record.Spec.Model, record.Spec.Phase, record.Spec.Usage.CostUSD.String(),
		record.Spec.TaskRef.UID, record.Spec.TaskRef.Name, record.Spec.TaskRef.Kind,
	}); diff != "" {
		t.Error(diff)
	}
	if record.Name != string(task.UID) || len(record.OwnerReferences) != 0 {
		t.Errorf("name %s, owners %v", record.Name, record.OwnerReferences)
	}
	if record.Spec.AdmittedAt == nil || record.Spec.StartTime == nil {
		t.Error("admission or start is missing")
	}
}

func TestA10_LabelsThatAreEditedAfterTheAdmissionMoveNoSpend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("gold", "5", gold)
	w.budget("silver", "5", map[string]string{"team": "silver"})
	w.start(settings{})
	task := w.task("first", "1", gold)
	w.awaitRunning("first")
	w.edit(w.get("first"), func(o client.Object) {
		o.SetLabels(map[string]string{"team": "silver"})
		o.SetAnnotations(map[string]string{"bursar.dev/labels": `{"team":"silver"}`})
	})
	w.finish("first", "2")
	record := w.awaitRecord(task)
	if diff := cmp.Diff(gold, record.Spec.TaskLabels); diff != "" {
		t.Error(diff)
	}
	w.awaitStatus("gold", "is charged", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used != nil && s.Used.CostUSD.String() == "2"
	})
	w.awaitStatus("silver", "is not charged", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used != nil && s.Used.CostUSD.String() == "0"
	})
}

func TestA17_RecordsExpireByThemselvesButNeverInsideAWindow(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	w := newWorld(t, c)
	w.budget("daily", "5", gold)
	w.start(settings{options: controller.Options{RecordTTL: time.Hour}})
	task := w.task("first", "1", gold)
	w.awaitRunning("first")
	w.finish("first", "0.5")
	record := w.awaitRecord(task)
	if got := *record.Spec.TTLSeconds; got != int64((24 * time.Hour).Seconds()) {
		t.Errorf("the TTL was not raised to the longest window: %d s", got)
	}
	must(t, shared.Client.Delete(t.Context(), task))
	// A budget that comes later, and looks back further, keeps the record.
	monthly := w.budget("monthly", "50", gold, func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.Type = "Monthly" })
	w.awaitStatus("monthly", "counts the record", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used != nil && s.Used.CostUSD.String() == "500m"
	})
	c.Step(25 * time.Hour)
	w.awaitStatus("daily", "has a new window", func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.PeriodStart.Day() == 2 })
	time.Sleep(300 * time.Millisecond)
	if len(w.records()) != 1 {
		t.Fatal("the record is gone while a budget needs it")
	}
	must(t, shared.Client.Delete(t.Context(), monthly))
	time.Sleep(300 * time.Millisecond)
	c.Step(31 * 24 * time.Hour)
	w.eventually("the record is gone", w.count("records", 0))
}

func TestA17_RecordsWithoutTTLAreKept(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	w := newWorld(t, c)
	w.budget("daily", "5", gold)
	w.start(settings{})
	task := w.task("first", "1", gold)
	w.awaitRunning("first")
	w.finish("first", "0.5")
	if ttl := w.awaitRecord(task).Spec.TTLSeconds; ttl != nil {
		t.Errorf("a TTL of %d s", *ttl)
	}
	c.Step(1000 * 24 * time.Hour)
	w.awaitStatus("daily", "is empty", func(s budgetv1alpha1.TaskBudgetStatus) bool {
		return s.Used != nil && s.Used.CostUSD.String() == "0"
	})
	if len(w.records()) != 1 {
		t.Error("the record is gone")
	}
}
