package budget_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// daily is a budget for every task of team-a.
func daily(change func(*budgetv1alpha1.TaskBudgetSpec)) *budgetv1alpha1.TaskBudget {
	tb := &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "daily"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{},
			Period:       budgetv1alpha1.Period{Type: "Daily"},
			MaxCostUSD:   nano(usage.USD),
		},
	}
	if change != nil {
		change(&tb.Spec)
	}
	return tb
}

func compiled(t testing.TB, tb *budgetv1alpha1.TaskBudget) *budget.Rule {
	t.Helper()
	rule, faults := budget.Compile(tb)
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	return rule
}

func ask(uid string, rules ...*budget.Rule) budget.Input {
	return budget.Input{
		Task:  budget.Task{UID: types.UID(uid), Namespace: "team-a", Estimate: usage.Amounts{usage.CostUSD: usage.MustUSD("0.30")}},
		Rules: rules,
		Now:   noon,
	}
}

func TestReserveAdmitsNoMoreThanThereIsRoomFor(t *testing.T) {
	rule, memory := compiled(t, daily(nil)), usage.NewMemory()
	var wg sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for i := range 100 {
		wg.Go(func() {
			d := budget.Reserve(memory, ask(fmt.Sprint("task-", i), rule), time.Hour)
			if d.Allowed != (d.Hold != nil) {
				t.Errorf("allowed is %v and the hold %v", d.Allowed, d.Hold)
			}
			mu.Lock()
			defer mu.Unlock()
			if d.Allowed {
				admitted++
			}
		})
	}
	wg.Wait()
	if admitted != 3 {
		t.Errorf("%d tasks of 0.30 were admitted under a limit of 1.00, want 3", admitted)
	}
	if _, holds := memory.Len(); holds != 3 {
		t.Errorf("%d holds, want 3", holds)
	}
}

// TestReserveUnderFanOut: parents that are admitted start children, which are
// admitted under the same limit.
func TestReserveUnderFanOut(t *testing.T) {
	rule := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.MaxCostUSD, s.Limits = nil, []budgetv1alpha1.Limit{{Meter: "tasks", Max: 5}}
	}))
	memory := usage.NewMemory()
	var wg sync.WaitGroup
	start := func(uid string) bool { return budget.Reserve(memory, ask(uid, rule), time.Hour).Allowed }
	for i := range 4 {
		wg.Go(func() {
			if start(fmt.Sprint("parent-", i)) {
				start(fmt.Sprint("child-", i, "-a"))
				start(fmt.Sprint("child-", i, "-b"))
			}
		})
	}
	wg.Wait()
	if _, holds := memory.Len(); holds != 5 {
		t.Errorf("%d tasks were admitted under a limit of 5", holds)
	}
}

func TestReserveGivesTheSameHoldAgain(t *testing.T) {
	warns := daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.Action = "Warn" })
	rule, soft, memory := compiled(t, daily(nil)), compiled(t, warns), usage.NewMemory()
	first := budget.Reserve(memory, ask("a", rule), time.Hour)
	spend(t, memory, "other", "1")
	again := ask("a", rule, soft)
	again.Now = noon.Add(10 * time.Minute)
	again.Task.Labels = map[string]string{"planted": "later"}
	second := budget.Reserve(memory, again, time.Hour)
	if !second.Allowed || second.Hold == nil || !second.Hold.ExpiresAt.Equal(first.Hold.ExpiresAt) {
		t.Errorf("the second admission gives %+v, want the hold of the first, %+v", second.Hold, first.Hold)
	}
	if second.Action != budgetv1alpha1.ActionWarn || len(second.Warnings) != 1 {
		t.Errorf("action %q, warnings %q", second.Action, second.Warnings)
	}
	if len(second.Labels) > 0 {
		t.Errorf("the labels of the second admission are %v, want those of the first", second.Labels)
	}
	if second.RequeueAfter() != 0 || !second.RetryAt.IsZero() || second.Message() != "Admitted already at 2026-03-08T04:30:00Z." {
		t.Errorf("an admitted task is to wait: %v, %q", second.RequeueAfter(), second.Message())
	}
}

// TestReserveAgainInTheSameSecond: budgets that refuse by then have no room, and
// the message does not claim it.
func TestReserveAgainInTheSameSecond(t *testing.T) {
	rule, memory := compiled(t, daily(nil)), usage.NewMemory()
	budget.Reserve(memory, ask("a", rule), time.Hour)
	spend(t, memory, "other", "1")
	again := budget.Reserve(memory, ask("a", rule), time.Hour)
	if !again.Allowed || again.Message() != "Admitted already at 2026-03-08T04:30:00Z." {
		t.Errorf("allowed is %v, message %q", again.Allowed, again.Message())
	}
}

func TestReserveAfterTheHoldHasExpired(t *testing.T) {
	rule, memory := compiled(t, daily(nil)), usage.NewMemory()
	budget.Reserve(memory, ask("a", rule), 10*time.Minute)
	again := ask("a", rule)
	again.Now = noon.Add(10 * time.Minute)
	d := budget.Reserve(memory, again, time.Hour)
	if !d.Allowed || !d.Hold.AdmittedAt.Equal(again.Now) {
		t.Errorf("want a new hold from %s on, have %+v", again.Now, d.Hold)
	}
	spend(t, memory, "other", "1")
	again.Now = noon.Add(3 * time.Hour)
	if d := budget.Reserve(memory, again, time.Hour); d.Allowed {
		t.Errorf("a task whose hold has expired was admitted although the budget is spent: %s", d.Message())
	}
}

// TestReserveCrash: the process that admitted a task dies before it settles.
func TestReserveCrash(t *testing.T) {
	limit := "0.005"
	rule := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(usage.MustUSD(limit)) }))
	memory := usage.NewMemory()
	in := ask("dies", rule)
	in.Task.Estimate[usage.CostUSD] = usage.MustUSD(limit)
	budget.Reserve(memory, in, 10*time.Minute)
	at := func(after time.Duration) budget.Decision {
		next := ask("next", rule)
		next.Now, next.Task.Estimate = noon.Add(after), nil
		next.Ledger = memory
		return budget.Admit(next)
	}
	if d := at(10*time.Minute - time.Second); d.Allowed {
		t.Error("admitted while the dead task's hold is live")
	}
	if d := at(10 * time.Minute); !d.Allowed {
		t.Errorf("refused although the hold has expired: %s", d.Message())
	}
	spend(t, memory, "dies", "0.004")
	spend(t, memory, "dies", "0.004")
	if used := at(11 * time.Minute).Verdicts[0].Figures[0].Used; used != usage.MustUSD("0.004") {
		t.Errorf("used is %s, want 0.004 once", usage.FormatUSD(used))
	}
}

// TestReserveSettled: each task settles for less than it held.
func TestReserveSettled(t *testing.T) {
	rule := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(usage.MustUSD("0.30")) }))
	memory := usage.NewMemory()
	for i := range 5 {
		uid := fmt.Sprint("task-", i)
		in := ask(uid, rule)
		in.Task.Estimate[usage.CostUSD] = usage.MustUSD("0.08")
		if d := budget.Reserve(memory, in, time.Hour); !d.Allowed {
			t.Fatalf("%s was refused: %s", uid, d.Message())
		}
		spend(t, memory, uid, "0.00027")
		memory.Release(types.UID(uid))
	}
	in := ask("next", rule)
	in.Ledger = memory
	f := budget.Admit(in).Verdicts[0].Figures[0]
	if f.Used != usage.MustUSD("0.00135") || f.Held != 0 {
		t.Errorf("used %s and held %s, want 0.00135 and 0", usage.FormatUSD(f.Used), usage.FormatUSD(f.Held))
	}
}

func spend(t *testing.T, ledger usage.Ledger, uid, cost string) {
	t.Helper()
	record, err := usage.RecordUsage(usage.Completion{
		Task: usage.Task{UID: types.UID(uid), Namespace: "team-a"}, Phase: usage.Succeeded,
		CompletionTime: noon, Results: map[string]string{"cost-usd": cost},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ledger.Add(record); err != nil {
		t.Fatal(err)
	}
}

func TestReserveRefusesWhatCanHaveNoHold(t *testing.T) {
	rule := compiled(t, daily(nil))
	finished := usage.NewMemory()
	spend(t, finished, "done", "0")
	spentAll := usage.NewMemory()
	spend(t, spentAll, "done", "1")
	tests := map[string]struct {
		memory *usage.Memory
		in     budget.Input
		ttl    time.Duration
		want   string
		reason string
	}{
		"a task without a UID":                 {usage.NewMemory(), ask("", rule), time.Hour, "uid: required", "InvalidTask"},
		"a hold that lives no time":            {usage.NewMemory(), ask("a", rule), 0, "positive time to live, not 0s", "InvalidTask"},
		"a task that is recorded":              {finished, ask("done", rule), time.Hour, "recorded already", "TaskRecorded"},
		"a recorded task under a spent budget": {spentAll, ask("done", rule), time.Hour, "recorded already", "TaskRecorded"},
		"an input that has no clock":           {usage.NewMemory(), budget.Input{Rules: []*budget.Rule{rule}}, time.Hour, "now is required", "InvalidTask"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := budget.Reserve(tt.memory, tt.in, tt.ttl)
			if d.Allowed || d.Hold != nil || !strings.Contains(d.Message(), tt.want) || d.Reason() != tt.reason {
				t.Errorf("allowed %v, hold %v, %s: %q", d.Allowed, d.Hold, d.Reason(), d.Message())
			}
			if _, holds := tt.memory.Len(); holds != 0 {
				t.Errorf("%d holds were left behind", holds)
			}
		})
	}
}

func TestReserveLeavesNothingBehindWhereItRefuses(t *testing.T) {
	rule, memory := compiled(t, daily(nil)), usage.NewMemory()
	spend(t, memory, "other", "1")
	if d := budget.Reserve(memory, ask("a", rule), time.Hour); d.Allowed || d.Hold != nil {
		t.Errorf("admitted under a spent budget: %+v", d.Hold)
	}
	if _, holds := memory.Len(); holds != 0 {
		t.Errorf("%d holds were left behind", holds)
	}
}

func TestReserveOnNothing(t *testing.T) {
	for _, store := range []budget.Store{nil, (*usage.Memory)(nil)} {
		if d := budget.Reserve(store, ask("a"), time.Hour); d.Allowed || d.Message() != "there is no ledger to ask" {
			t.Errorf("%v: %s", d.Allowed, d.Message())
		}
		r, err := budget.NewReviewer(nil, budget.ReviewerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if d := r.Reserve(t.Context(), store, ask("a"), budget.Subject{}, time.Hour); d.Allowed || d.Message() != "there is no ledger to ask" {
			t.Errorf("%v: %s", d.Allowed, d.Message())
		}
	}
}

// TestReserveTakesNoForeignHold: a UID that is held in another namespace is
// another task's, whatever went wrong.
func TestReserveTakesNoForeignHold(t *testing.T) {
	memory := usage.NewMemory()
	if err := memory.Renew(usage.Hold{UID: "a", Namespace: "other", ExpiresAt: noon.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	d := budget.Reserve(memory, ask("a", compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(0) }))), time.Hour)
	if d.Allowed || !strings.Contains(d.Message(), `has a hold in the namespace "other"`) {
		t.Errorf("%v: %s", d.Allowed, d.Message())
	}
}

// TestReserveHoldsWholeSeconds: the hold, its stored form and the record of its
// task agree on when it was admitted.
func TestReserveHoldsWholeSeconds(t *testing.T) {
	in := ask("a", compiled(t, daily(nil)))
	in.Now = noon.Add(700 * time.Millisecond)
	d := budget.Reserve(usage.NewMemory(), in, time.Hour)
	if !d.Hold.AdmittedAt.Equal(noon) || !d.Hold.ExpiresAt.Equal(noon.Add(time.Hour+time.Second)) {
		t.Errorf("from %s to %s", d.Hold.AdmittedAt, d.Hold.ExpiresAt)
	}
}
