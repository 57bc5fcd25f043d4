package budget_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

func someTime(t time.Time) *metav1.Time { return &metav1.Time{Time: t} }

// through sends an object through JSON, as an API server does.
func through[T any](t fataler, in *T) *T {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	return out
}

type fataler interface {
	Helper()
	Fatal(...any)
}

func TestARecordSurvivesItsStorage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		completed := noon.Add(time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "completed")))
		ttl := time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "ttl")) * time.Second
		hold := newHold(t, 0)
		hold.UID, hold.Namespace = "a", "team-a"
		record, err := usage.RecordUsage(usage.Completion{
			Task: usage.Task{
				UID: "a", Namespace: "team-a", Name: "fix-build", APIVersion: "example.com/v1", Kind: "AgentTask",
				Type: "claude-code", Model: "opus",
			},
			Phase:          rapid.SampledFrom([]usage.Phase{usage.Succeeded, usage.Failed}).Draw(t, "phase"),
			Labels:         newLabels(t),
			StartTime:      completed.Add(-time.Minute),
			CompletionTime: completed,
			Results:        map[string]string{"cost-usd": rapid.SampledFrom([]string{"", "0.25", "n/a"}).Draw(t, "cost")},
			Reported:       usage.Amounts{usage.OutputTokens: 3, "builds": rapid.Int64Range(0, 1<<62).Draw(t, "builds"), usage.InputTokens: 5},
			Hold:           rapid.SampledFrom([]*usage.Hold{nil, &hold}).Draw(t, "hold"),
			TTL:            rapid.SampledFrom([]*time.Duration{nil, &ttl}).Draw(t, "kept"),
		})
		if err != nil {
			t.Fatal(err)
		}
		records := []usage.Record{record}
		correction, err := usage.Correct(record, usage.Amounts{usage.CostUSD: 7, "builds": 0}, "the invoice says so")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range append(records, correction) {
			stored := through(t, budget.NewTaskRecord(r))
			if stored.Name != string(r.UID) || len(stored.OwnerReferences) > 0 {
				t.Fatalf("stored as %s, owned by %v", stored.Name, stored.OwnerReferences)
			}
			got, faults := budget.RecordFrom(stored)
			if len(faults) > 0 {
				t.Fatal(faults.ToAggregate())
			}
			if diff := cmp.Diff(r, got, cmpopts.EquateEmpty()); diff != "" || !r.Equal(got) {
				t.Fatalf("(-before +after): %s", diff)
			}
		}
	})
}

func TestAHoldSurvivesItsStorage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hold := newHold(t, 0)
		hold.Name = "fix-build"
		got, faults := budget.HoldFrom(through(t, budget.NewTaskHold(hold, usage.Task{Kind: "AgentTask"})))
		if len(faults) > 0 {
			t.Fatal(faults.ToAggregate())
		}
		if diff := cmp.Diff(hold, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-before +after): %s", diff)
		}
	})
}

func TestAStoredHoldNeverEndsEarly(t *testing.T) {
	hold := usage.Hold{
		UID: "a", Namespace: "team-a",
		AdmittedAt: noon.Add(1500 * time.Millisecond), ExpiresAt: noon.Add(time.Minute + time.Nanosecond),
	}
	got, faults := budget.HoldFrom(through(t, budget.NewTaskHold(hold, usage.Task{})))
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	if !got.AdmittedAt.Equal(noon.Add(time.Second)) || !got.ExpiresAt.Equal(noon.Add(time.Minute+time.Second)) {
		t.Errorf("from %s to %s", got.AdmittedAt, got.ExpiresAt)
	}
}

func TestWhatIsStoredWrongIsRefusedWithItsPath(t *testing.T) {
	good := func() *budgetv1alpha1.TaskRecord {
		record, err := usage.RecordUsage(usage.Completion{
			Task: usage.Task{UID: "a", Namespace: "team-a"}, Phase: usage.Succeeded, CompletionTime: noon,
			Results: map[string]string{"cost-usd": "1"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return budget.NewTaskRecord(record)
	}
	type basis = budgetv1alpha1.MeterBasis
	tests := map[string]struct {
		change func(*budgetv1alpha1.TaskRecord)
		want   string
	}{
		"another name":       {func(r *budgetv1alpha1.TaskRecord) { r.Name = "b" }, `metadata.name: Invalid value: "b": must be the task's UID, which is "a"`},
		"a negative cost":    {func(r *budgetv1alpha1.TaskRecord) { r.Spec.Usage.CostUSD = quantity("-1") }, "spec.usage.costUSD: Invalid value"},
		"no completion time": {func(r *budgetv1alpha1.TaskRecord) { r.Spec.CompletionTime = metav1.Time{} }, "completionTime: required"},
		"another phase":      {func(r *budgetv1alpha1.TaskRecord) { r.Spec.Phase = "Running" }, `phase: "Running" is not Succeeded or Failed`},
		"an unknown basis": {
			func(r *budgetv1alpha1.TaskRecord) { r.Spec.Basis = []basis{{Meter: "costUSD", Basis: "Guessed"}} },
			`spec.basis[0].basis: Unsupported value: "Guessed"`,
		},
		"unknown, and yet an amount": {
			func(r *budgetv1alpha1.TaskRecord) { r.Spec.Basis = []basis{{Meter: "costUSD", Basis: "Unknown"}} },
			`spec.basis[0].basis: Invalid value: "Unknown"`,
		},
		"held, and yet no amount": {
			func(r *budgetv1alpha1.TaskRecord) { r.Spec.Basis = []basis{{Meter: "x", Basis: "Held"}} },
			`spec.basis[0].basis: Invalid value: "Held"`,
		},
		"replaces without corrects": {
			func(r *budgetv1alpha1.TaskRecord) {
				r.Spec.Replaces = &budgetv1alpha1.Replaced{Usage: budgetv1alpha1.Amounts{CostUSD: quantity("1")}}
			},
			"only a correction replaces figures",
		},
		"a negative time to live": {
			func(r *budgetv1alpha1.TaskRecord) { r.Spec.TTLSeconds = new(int64(-1)) }, "ttl: -1s is not positive",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			record := good()
			tt.change(record)
			got, faults := budget.RecordFrom(record)
			if len(faults) == 0 || !strings.Contains(faults.ToAggregate().Error(), tt.want) {
				t.Errorf("%v, %v", got, faults)
			}
		})
	}
	long := good()
	long.Spec.TTLSeconds = new(int64(1<<63 - 1))
	if _, faults := budget.RecordFrom(long); len(faults) > 0 {
		t.Error(faults)
	}
	hold := budget.NewTaskHold(usage.Hold{UID: "a", Namespace: "team-a", ExpiresAt: noon}, usage.Task{})
	hold.Name, hold.Spec.Amounts.InputTokens = "b", new(int64(-1))
	if _, faults := budget.HoldFrom(hold); len(faults) != 2 {
		t.Errorf("a hold with two faults: %v", faults)
	}
	hold = budget.NewTaskHold(usage.Hold{UID: "a", Namespace: "team-a", ExpiresAt: noon}, usage.Task{})
	hold.Spec.ExpiresAt = metav1.Time{}
	if _, faults := budget.HoldFrom(hold); len(faults) != 1 || !strings.Contains(faults[0].Error(), "expiresAt: required") {
		t.Errorf("a hold without an end: %v", faults)
	}
}

func TestATTLSurvivesItsStorage(t *testing.T) {
	record, err := usage.RecordUsage(usage.Completion{
		Task: usage.Task{UID: "a", Namespace: "team-a"}, Phase: usage.Succeeded, CompletionTime: noon,
		Labels: map[string]string{"branch": "feature/x y", "team": "x"}, TTL: new(time.Duration(1<<63 - 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	stored := budget.NewTaskRecord(record)
	if got := *stored.Spec.TTLSeconds; got != 9223372037 {
		t.Errorf("the longest TTL is stored as %d seconds", got)
	}
	if diff := cmp.Diff(map[string]string{"team": "x"}, stored.Labels); diff != "" {
		t.Errorf("labels that no object can have: %s", diff)
	}
	if stored.Spec.TaskLabels["branch"] != "feature/x y" {
		t.Error("a label was lost on the way")
	}
	stored.Spec.TTLSeconds = new(int64(-9223372037))
	if _, faults := budget.RecordFrom(stored); len(faults) == 0 {
		t.Error("a TTL that is far below zero was read")
	}
	if _, faults := budget.RecordFrom(nil); len(faults) == 0 {
		t.Error("no record was read")
	}
	if _, faults := budget.HoldFrom(nil); len(faults) == 0 {
		t.Error("no hold was read")
	}
}

// TestARecordThatComesBackIsTheSame: recording is tried again until it has
// happened, and what is stored must then be no conflict.
func TestARecordThatComesBackIsTheSame(t *testing.T) {
	record, err := usage.RecordUsage(usage.Completion{
		Task:  usage.Task{UID: "a", Namespace: "team-a", Name: "n\xff", Model: "opus\xfe"},
		Phase: usage.Succeeded, CompletionTime: noon.Add(999 * time.Millisecond),
		Labels: map[string]string{"team": "x\xff", "\xfe": "y"}, Results: map[string]string{"cost-usd": "\xff"},
	})
	if err != nil {
		t.Fatal(err)
	}
	correction, err := usage.Correct(record, usage.Amounts{usage.CostUSD: 1}, strings.Repeat("r", 1024))
	if err != nil {
		t.Fatal(err)
	}
	memory := usage.NewMemory()
	for _, r := range []usage.Record{record, correction} {
		again, faults := budget.RecordFrom(through(t, budget.NewTaskRecord(r)))
		if len(faults) > 0 {
			t.Fatal(faults.ToAggregate())
		}
		for _, r := range []usage.Record{r, again} {
			if err := memory.Add(r); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := usage.Correct(record, usage.Amounts{usage.CostUSD: 1}, strings.Repeat("r", 1025)); err == nil {
		t.Error("a reason was taken that can't be stored")
	}
}
