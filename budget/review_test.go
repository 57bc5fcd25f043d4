package budget_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// says is a hook of the host that gives one answer.
func says(v policy.Verdict, err error) policy.Hook {
	return policy.Func("host", func(context.Context, *policy.Input) (policy.Verdict, error) { return v, err })
}

func reviewer(t testing.TB, hook policy.Hook, o budget.ReviewerOptions) *budget.Reviewer {
	t.Helper()
	r, err := budget.NewReviewer(hook, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhatAHookSaysOfATaskThatHasRoom(t *testing.T) {
	capped := policy.Pass()
	capped.Caps.MaxTokens, capped.Caps.MaxCostMicros = new(int64(1000)), new(int64(250_000))
	capped.Labels = map[string]string{"tier": "small"}
	warned := policy.Pass()
	warned.Warnings = []policy.Reason{{Code: "dear", Message: "this model is dear"}}
	held := policy.HoldFor(2*time.Minute, "night", "tasks start by day")
	dryRun, err := policy.NewSet(policy.Options{}, policy.Binding{
		Hook: says(policy.Refuse("later", "it will be denied"), nil), Enforcement: policy.DryRun,
	})
	if err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct {
		hook    policy.Hook
		allowed bool
		action  budgetv1alpha1.Action
		reason  string
		message string
		retryAt time.Time
		requeue time.Duration
		warns   []string
	}{
		"nothing":       {hook: says(policy.Pass(), nil), allowed: true, message: "Every budget has room."},
		"only dry runs": {hook: dryRun, allowed: true, message: "Every budget has room."},
		"caps":          {hook: says(capped, nil), allowed: true, message: "Every budget has room."},
		"a warning": {
			hook: says(warned, nil), allowed: true, action: "Warn", message: "Every budget has room.",
			warns: []string{"Policy host warns: this model is dear (dear)"},
		},
		"no": {
			hook: says(policy.Refuse("no-opus", "opus is not for tests"), nil), action: "Block", reason: "PolicyDenied",
			message: "Policy host denies: opus is not for tests (no-opus)", requeue: 5 * time.Minute,
		},
		"not now": {
			hook: says(held, nil), action: "Block", reason: "PolicyHold", message: "Policy host holds off: tasks start by day (night)",
			retryAt: noon.Add(2 * time.Minute), requeue: 2 * time.Minute,
		},
		"not now, and not when": {
			hook: says(policy.HoldFor(0, "night", "tasks start by day"), nil), action: "Block", reason: "PolicyHold",
			message: "Policy host holds off: tasks start by day (night)", requeue: 5 * time.Minute,
		},
		"not for hours": {
			hook: says(policy.HoldFor(3*time.Hour, "night", "by day"), nil), action: "Block", reason: "PolicyHold",
			message: "Policy host holds off: by day (night)", retryAt: noon.Add(3 * time.Hour), requeue: 5 * time.Minute,
		},
		"the zero verdict": {
			hook: says(policy.Verdict{}, nil), action: "Block", reason: "PolicyDenied", requeue: 5 * time.Minute,
			message: "Policy host denies: the policy denies and gives no reason (denied)",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := reviewer(t, c.hook, budget.ReviewerOptions{Timeout: time.Minute})
			in := ask("new", compiled(t, daily(nil)))
			memory := usage.NewMemory()
			in.Ledger = memory
			for name, d := range map[string]budget.Decision{
				"admit":   r.Admit(t.Context(), in, budget.Subject{}),
				"reserve": r.Reserve(t.Context(), memory, in, budget.Subject{}, time.Hour),
			} {
				if d.Allowed != c.allowed || d.Action != c.action || d.Reason() != c.reason || d.Message() != c.message ||
					!d.RetryAt.Equal(c.retryAt) || d.RequeueAfter() != c.requeue {
					t.Errorf("%s: %v %q %q %q, retry at %s, requeue after %s", name, d.Allowed, d.Action, d.Reason(), d.Message(), d.RetryAt, d.RequeueAfter())
				}
				if diff := cmp.Diff(c.warns, d.Warnings); diff != "" {
					t.Errorf("%s warns (-want +got):\n%s", name, diff)
				}
				if d.Policy == nil || d.PolicyRefuses() == c.allowed {
					t.Errorf("%s: policy %v, refuses: %v", name, d.Policy, d.PolicyRefuses())
				}
				if condition := d.Condition(1); (condition == nil) != c.allowed || condition != nil && condition.Reason != c.reason {
					t.Errorf("%s: condition %v", name, condition)
				}
				if want := name == "reserve" && c.allowed; (d.Hold != nil) != want {
					t.Errorf("%s: hold %v", name, d.Hold)
				}
			}
			if _, holds := memory.Len(); (holds == 1) != c.allowed {
				t.Errorf("%d holds", holds)
			}
		})
	}
}

func TestCapsAreInTheDecision(t *testing.T) {
	v := policy.Pass()
	v.Caps.MaxTokens, v.Caps.MaxCostMicros = new(int64(1000)), new(int64(250_000))
	in := ask("new", compiled(t, daily(nil)))
	in.Ledger = usage.NewMemory()
	d := reviewer(t, says(v, nil), budget.ReviewerOptions{}).Admit(t.Context(), in, budget.Subject{})
	cost, costCapped := d.MaxCostUSD()
	tokens, tokensCapped := d.MaxTokens()
	if cost != 250_000_000 || !costCapped || tokens != 1000 || !tokensCapped {
		t.Errorf("cost %d %v, tokens %d %v", cost, costCapped, tokens, tokensCapped)
	}
	v.Caps.MaxCostMicros = new(int64(1<<63 - 1))
	d = reviewer(t, says(v, nil), budget.ReviewerOptions{}).Admit(t.Context(), in, budget.Subject{})
	if cost, _ := d.MaxCostUSD(); cost != 1<<63-1 {
		t.Errorf("the greatest cap became %d", cost)
	}
	free := budget.Admit(in)
	if _, capped := free.MaxCostUSD(); capped {
		t.Error("a cap on cost out of nothing")
	}
	if _, capped := free.MaxTokens(); capped {
		t.Error("a cap on tokens out of nothing")
	}
}

// Everything that can go wrong with a policy refuses, and says which code.
func TestPoliciesThatFailRefuse(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	bad := policy.Pass()
	bad.Caps.MaxTokens = new(int64(-1))
	manyLabels := map[string]string{}
	for i := range policy.MaxTaskLabels + 1 {
		manyLabels[fmt.Sprint("k", i)] = ""
	}
	for sentence, c := range map[string]struct {
		ctx   context.Context
		hook  policy.Hook
		about budget.Subject
		task  map[string]string
		code  string
	}{
		"an error":                   {hook: says(policy.Pass(), errors.New("broken")), code: policy.CodePolicyError},
		"a panic":                    {hook: policy.Func("host", func(context.Context, *policy.Input) (policy.Verdict, error) { panic("x") }), code: policy.CodePolicyError},
		"an outcome out of range":    {hook: says(policy.Verdict{Outcome: 9}, nil), code: policy.CodeBadResult},
		"a cap below zero":           {hook: says(bad, nil), code: policy.CodeBadResult},
		"a context that is done":     {ctx: gone, hook: says(policy.Pass(), nil), code: policy.CodePolicyTimeout},
		"a set that is nil":          {hook: (*policy.Set)(nil), code: policy.CodeNotReady},
		"a holder that is empty":     {hook: new(policy.Holder), code: policy.CodeNotReady},
		"more labels than are shown": {hook: says(policy.Pass(), nil), task: manyLabels, code: policy.CodeInputTooLarge},
		"a subject that is no UTF-8": {hook: says(policy.Pass(), nil), about: budget.Subject{Model: "\xff"}, code: policy.CodeInvalidInput},
		"an answer that comes late": {
			hook: policy.Func("host", func(ctx context.Context, _ *policy.Input) (policy.Verdict, error) {
				<-ctx.Done()
				return policy.Pass(), nil
			}), code: policy.CodePolicyTimeout,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			r := reviewer(t, c.hook, budget.ReviewerOptions{Timeout: 50 * time.Millisecond})
			in := ask("new", compiled(t, daily(nil)))
			in.Task.Labels = c.task
			memory := usage.NewMemory()
			d := r.Reserve(ctx, memory, in, c.about, time.Hour)
			if d.Allowed || d.Reason() != budget.ReasonPolicyDenied || d.Hold != nil {
				t.Fatalf("%s", d.Explain())
			}
			if got := d.Policy.Reasons[0].Code; got != c.code {
				t.Errorf("code %q, want %q: %s", got, c.code, d.Message())
			}
			if _, holds := memory.Len(); holds != 0 {
				t.Errorf("%d holds", holds)
			}
		})
	}
}

func TestReviewersThatCannotBe(t *testing.T) {
	for sentence, c := range map[string]struct {
		hook policy.Hook
		o    budget.ReviewerOptions
		want string
	}{
		"a negative time":         {o: budget.ReviewerOptions{Timeout: -1}, want: "must not be negative"},
		"negative rounds":         {o: budget.ReviewerOptions{Rounds: -1}, want: "must not be negative"},
		"a holder that is nil":    {hook: (*policy.Holder)(nil), want: "is nil"},
		"a hook without any name": {hook: policy.Func("", nil), want: "name"},
	} {
		if r, err := budget.NewReviewer(c.hook, c.o); err == nil || !strings.Contains(err.Error(), c.want) || r != nil {
			t.Errorf("%s: %v, %v", sentence, r, err)
		}
	}
}

// The arithmetic comes first: what it refuses no hook is asked about.
func TestARefusalByArithmeticIsNotAskedAbout(t *testing.T) {
	asked := 0
	hook := policy.Func("host", func(context.Context, *policy.Input) (policy.Verdict, error) { asked++; return policy.Pass(), nil })
	r := reviewer(t, hook, budget.ReviewerOptions{})
	memory := usage.NewMemory()
	spend(t, memory, "other", "1")
	in := ask("new", compiled(t, daily(nil)))
	in.Ledger = memory
	for _, d := range []budget.Decision{
		r.Admit(t.Context(), in, budget.Subject{}),
		r.Reserve(t.Context(), memory, in, budget.Subject{}, time.Hour),
		r.Reserve(t.Context(), memory, budget.Input{}, budget.Subject{}, time.Hour),
		r.Reserve(t.Context(), memory, ask("new"), budget.Subject{}, 0),
	} {
		if d.Allowed || d.Policy != nil || d.Reason() == budget.ReasonPolicyDenied {
			t.Errorf("%s", d.Explain())
		}
	}
	if asked != 0 {
		t.Errorf("asked %d times", asked)
	}
	if d := r.Reserve(t.Context(), memory, ask("other"), budget.Subject{}, time.Hour); d.Allowed || !strings.Contains(d.Message(), "recorded already") {
		t.Errorf("a task that has a record: %s", d.Explain())
	}
}

// The hook is asked outside of the lock: it can spend while it is asked, and
// what it spends is seen when the arithmetic decides again.
func TestWhatHappensWhileAHookIsAskedIsSeen(t *testing.T) {
	memory := usage.NewMemory()
	calls := 0
	hook := policy.Func("host", func(context.Context, *policy.Input) (policy.Verdict, error) {
		calls++
		spend(t, memory, "meanwhile", "0.95")
		return policy.Pass(), nil
	})
	d := reviewer(t, hook, budget.ReviewerOptions{}).Reserve(t.Context(), memory, ask("new", compiled(t, daily(nil))), budget.Subject{}, time.Hour)
	if d.Allowed || d.Reason() != budget.ReasonBudgetExceeded || d.Policy != nil || calls != 1 {
		t.Errorf("%d calls, %s", calls, d.Explain())
	}
	if _, holds := memory.Len(); holds != 0 {
		t.Errorf("%d holds", holds)
	}
}

// Figures that moved without filling the budget are shown again.
func TestAHookIsAskedAgainWhenFiguresMove(t *testing.T) {
	memory := usage.NewMemory()
	var used []int64
	hook := policy.Func("host", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		if used = append(used, in.Budget.Cost.Used); len(used) < 3 {
			spend(t, memory, fmt.Sprint("meanwhile-", len(used)), "0.1")
		}
		if in.Budget.Cost.UsedPermille >= 200 {
			return policy.Refuse("dear", "a fifth is spent"), nil
		}
		return policy.Pass(), nil
	})
	d := reviewer(t, hook, budget.ReviewerOptions{}).Reserve(t.Context(), memory, ask("new", compiled(t, daily(nil))), budget.Subject{}, time.Hour)
	if diff := cmp.Diff([]int64{0, 100_000, 200_000}, used); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	if d.Allowed || d.Reason() != budget.ReasonPolicyDenied {
		t.Error(d.Explain())
	}
}

func TestFiguresThatNeverStandStillPutATaskOff(t *testing.T) {
	memory := usage.NewMemory()
	calls := 0
	hook := policy.Func("host", func(context.Context, *policy.Input) (policy.Verdict, error) {
		calls++
		spend(t, memory, fmt.Sprint("meanwhile-", calls), "0.0001")
		return policy.Pass(), nil
	})
	r := reviewer(t, hook, budget.ReviewerOptions{Rounds: 2})
	d := r.Reserve(t.Context(), memory, ask("new", compiled(t, daily(nil))), budget.Subject{}, time.Hour)
	if d.Allowed || d.Reason() != budget.ReasonPolicyHold || d.Policy.Reasons[0].Code != budget.CodeFiguresMoved || d.RequeueAfter() != time.Second {
		t.Error(d.Explain())
	}
	if calls != 3 {
		t.Errorf("asked %d times, want once and 2 times anew", calls)
	}
	if _, holds := memory.Len(); holds != 0 {
		t.Errorf("%d holds", holds)
	}
}

// A budget that changes while the hook is asked is the one that counts.
func TestABudgetThatChangesWhileAHookIsAskedCounts(t *testing.T) {
	var current atomic.Pointer[budget.Rule]
	current.Store(compiled(t, daily(nil)))
	lowered := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(usage.USD / 10) }))
	hook := policy.Func("host", func(context.Context, *policy.Input) (policy.Verdict, error) {
		current.Store(lowered)
		return policy.Pass(), nil
	})
	r := reviewer(t, hook, budget.ReviewerOptions{Rules: func(namespace string) []*budget.Rule {
		if namespace != "team-a" {
			t.Errorf("rules of %q", namespace)
		}
		return []*budget.Rule{current.Load()}
	}})
	d := r.Reserve(t.Context(), usage.NewMemory(), ask("new"), budget.Subject{}, time.Hour)
	if d.Allowed || d.Reason() != budget.ReasonBudgetExceeded {
		t.Error(d.Explain())
	}
}

// Tasks that come together do not pass a policy together that one of them alone
// would have closed.
func TestTasksThatComeTogetherDoNotPassAPolicyTogether(t *testing.T) {
	memory, rule := usage.NewMemory(), compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(10 * usage.USD) }))
	half := policy.Func("half", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		if in.Budget.Cost.CommittedPermille >= 90 {
			return policy.Refuse("full", "no more than 9 percent at once"), nil
		}
		return policy.Pass(), nil
	})
	r := reviewer(t, half, budget.ReviewerOptions{Timeout: time.Minute, Rounds: 100})
	var admitted atomic.Int64
	var group sync.WaitGroup
	for i := range 24 {
		group.Go(func() {
			in := ask(fmt.Sprint("task-", i), rule)
			if d := r.Reserve(context.Background(), memory, in, budget.Subject{}, time.Hour); d.Allowed {
				admitted.Add(1)
			}
		})
	}
	group.Wait()
	if got := admitted.Load(); got != 3 {
		t.Errorf("%d tasks of 0.30 were admitted below 0.90 of 10, want 3", got)
	}
}

// A task that has a hold was admitted already. Its caps hold on.
func TestATaskWithAHoldIsToldItsCapsAgain(t *testing.T) {
	memory := usage.NewMemory()
	var operations []policy.Operation
	var says policy.Verdict
	var fails error
	hook := policy.Func("host", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		operations = append(operations, in.Operation)
		return says, fails
	})
	r := reviewer(t, hook, budget.ReviewerOptions{})
	reserve := func() budget.Decision {
		return r.Reserve(t.Context(), memory, ask("new", compiled(t, daily(nil))), budget.Subject{}, time.Hour)
	}
	says = policy.Pass()
	says.Caps.MaxTokens = new(int64(7))
	first := reserve()
	says = policy.Refuse("late", "no more today")
	says.Caps.MaxTokens = new(int64(5))
	second := reserve()
	if !first.Allowed || !second.Allowed || second.Hold == nil || !second.Hold.AdmittedAt.Equal(first.Hold.AdmittedAt) {
		t.Fatalf("%s\n%s", first.Explain(), second.Explain())
	}
	if tokens, capped := second.MaxTokens(); tokens != 5 || !capped {
		t.Errorf("cap %d, %v", tokens, capped)
	}
	if diff := cmp.Diff([]string{"Policy host warns: no more today (late)"}, second.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	fails = errors.New("broken")
	if third := reserve(); third.Allowed || third.Hold != nil || third.Reason() != budget.ReasonPolicyDenied {
		t.Errorf("a hold whose policies fail:\n%s", third.Explain())
	}
	if _, holds := memory.Len(); holds != 1 {
		t.Errorf("%d holds, the first must stay", holds)
	}
	if diff := cmp.Diff([]policy.Operation{"Admit", "Renew", "Renew"}, operations); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

// Without policies a Reviewer is Reserve.
func TestAReviewerWithoutPoliciesOnlyDoesArithmetic(t *testing.T) {
	var r budget.Reviewer
	memory, other := usage.NewMemory(), usage.NewMemory()
	in := ask("new", compiled(t, daily(nil)))
	for range 2 { // the second time it has a hold
		with, without := r.Reserve(t.Context(), memory, in, budget.Subject{}, time.Hour), budget.Reserve(other, in, time.Hour)
		if diff := cmp.Diff(without.Explain(), with.Explain()); diff != "" || with.Policy != nil || !with.Allowed {
			t.Errorf("(-without +with):\n%s", diff)
		}
	}
	in.Ledger = memory
	if d := r.Admit(t.Context(), in, budget.Subject{}); !d.Allowed || d.Policy != nil {
		t.Error(d.Explain())
	}
	if v := r.Pod(t.Context(), in, budget.Subject{}); !v.Allowed() {
		t.Errorf("%+v", v)
	}
	if v := r.Record(t.Context(), usage.Record{Task: usage.Task{UID: "u", Namespace: "team-a"}, CompletionTime: noon}, in, budget.Subject{}); !v.Allowed() {
		t.Errorf("%+v", v)
	}
}

// refusingStore is a ledger that takes no holds.
type refusingStore struct{ usage.Ledger }

func (s refusingStore) Do(f func(usage.Ledger)) { f(s) }
func (refusingStore) Hold(usage.Hold) (usage.Hold, error) {
	return usage.Hold{}, errors.New("the book is closed")
}
func (refusingStore) Release(types.UID) {}

func TestALedgerThatTakesNoHoldRefuses(t *testing.T) {
	store := refusingStore{usage.NewMemory()}
	d := reviewer(t, says(policy.Pass(), nil), budget.ReviewerOptions{}).Reserve(t.Context(), store, ask("new", compiled(t, daily(nil))), budget.Subject{}, time.Hour)
	if d.Allowed || d.Message() != "the book is closed" || d.Reason() != budget.ReasonInvalidTask {
		t.Error(d.Explain())
	}
}

func TestConditionOfAPolicyRefusalComesAndGoes(t *testing.T) {
	in := ask("new", compiled(t, daily(nil)))
	in.Ledger = usage.NewMemory()
	var conditions []metav1.Condition
	refused := reviewer(t, says(policy.Refuse("no", "not this one"), nil), budget.ReviewerOptions{}).Admit(t.Context(), in, budget.Subject{})
	if !refused.SetCondition(&conditions, 1) || refused.SetCondition(&conditions, 1) {
		t.Error("the condition is written once")
	}
	if c := conditions[0]; c.Type != "BudgetBlocked" || c.Reason != "PolicyDenied" || c.Message != "Policy host denies: not this one (no)" {
		t.Errorf("%+v", c)
	}
	allowed := reviewer(t, says(policy.Pass(), nil), budget.ReviewerOptions{}).Admit(t.Context(), in, budget.Subject{})
	if !allowed.SetCondition(&conditions, 1) || len(conditions) != 0 {
		t.Errorf("%+v", conditions)
	}
}
