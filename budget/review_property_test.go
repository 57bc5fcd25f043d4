package budget_test

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// anyHook draws a hook that says anything at all, well-formed or not.
func anyHook(t *rapid.T) policy.Hook {
	v := policy.Verdict{
		Outcome:    policy.Outcome(rapid.SampledFrom([]int{0, 1, 2, 2, 2, 3}).Draw(t, "outcome")),
		RetryAfter: time.Duration(rapid.Int64Range(-1, 4000).Draw(t, "retry")) * time.Second,
		Labels:     rapid.SampledFrom([]map[string]string{nil, {"k": "1"}, {"bad key": ""}}).Draw(t, "labels"),
	}
	if rapid.Bool().Draw(t, "reasons") {
		v.Reasons = []policy.Reason{{Code: "a", Message: "m\n", Outcome: policy.Outcome(rapid.IntRange(0, 3).Draw(t, "reason"))}}
	}
	if rapid.Bool().Draw(t, "warned") {
		v.Warnings = []policy.Reason{{Code: "w", Message: "careful"}}
	}
	if rapid.Bool().Draw(t, "capped") {
		v.Caps.MaxTokens = new(rapid.Int64Range(-1, 9).Draw(t, "cap"))
	}
	err := rapid.SampledFrom([]error{nil, nil, nil, errors.New("x")}).Draw(t, "err")
	panics := rapid.IntRange(0, 9).Draw(t, "panics") == 0
	return policy.Func("any", func(context.Context, *policy.Input) (policy.Verdict, error) {
		if panics {
			panic("x")
		}
		return v, err
	})
}

// TestNoHookTurnsANoIntoAYes: whatever a hook says, the task is admitted only
// where the arithmetic alone admits it, and its verdicts stay as they are.
func TestNoHookTurnsANoIntoAYes(t *testing.T) {
	run(t, func(t *rapid.T, w *world) {
		plain, other := w.memory(t), w.memory(t)
		r, err := budget.NewReviewer(anyHook(t), budget.ReviewerOptions{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		in := w.input(plain)
		_, before := other.Len()
		without, with := budget.Admit(in), r.Admit(context.Background(), in, budget.Subject{})
		tightens(t, without, with)
		without, with = budget.Reserve(plain, in, time.Hour), r.Reserve(context.Background(), other, in, budget.Subject{}, time.Hour)
		tightens(t, without, with)
		if with.Allowed != (with.Hold != nil) {
			t.Fatalf("allowed %v, hold %v", with.Allowed, with.Hold)
		}
		if _, holds := other.Len(); !with.Allowed && with.Policy != nil && holds != before {
			t.Fatalf("%d holds after a refusal, %d before", holds, before)
		}
	})
}

func tightens(t *rapid.T, without, with budget.Decision) {
	if with.Allowed && !without.Allowed {
		t.Fatalf("without policies:\n%s\nwith:\n%s", without.Explain(), with.Explain())
	}
	if !without.Allowed && with.Policy != nil {
		t.Fatalf("asked after a refusal:\n%s", with.Explain())
	}
	if with.Allowed && with.Policy != nil && !with.Policy.Allowed() {
		t.Fatalf("admitted against policies:\n%s", with.Explain())
	}
	with.Policy, with.Allowed, with.Action, with.Warnings, with.Hold = nil, without.Allowed, without.Action, without.Warnings, without.Hold
	with.RetryAt = without.RetryAt
	if diff := cmp.Diff(without.Explain(), with.Explain()); diff != "" {
		t.Fatalf("more than the answer changed (-without +with):\n%s", diff)
	}
}

// TestPolicyInputIsAccepted: what is built of any world is complete, and tells
// of each budget that can be evaluated.
func TestPolicyInputIsAccepted(t *testing.T) {
	run(t, func(t *rapid.T, w *world) {
		in := w.input(w.history)
		doc := budget.PolicyInput(policy.Admit, in, budget.Subject{Model: "opus"})
		if err := doc.Check(); err != nil {
			t.Fatal(err)
		}
		d := budget.Admit(in)
		shown := 0
		for _, v := range d.Verdicts {
			if v.Fault != nil || v.Outside != "" {
				continue
			}
			b := doc.Budgets[shown]
			shown++
			if b.Name != v.Budget.Name || b.Scope != v.Group || b.Period.Kind != string(v.Period.Kind()) || b.Action != string(v.Action) {
				t.Fatalf("budget %+v of %s", b, v)
			}
			for _, f := range v.Figures {
				exact(t, f, measureOf(b, f.Meter))
			}
		}
		if shown != len(doc.Budgets) {
			t.Fatalf("%d budgets are shown, want %d", len(doc.Budgets), shown)
		}
	})
}

func measureOf(b policy.Budget, m usage.Meter) policy.Measure {
	switch m {
	case usage.CostUSD:
		return b.Cost
	case usage.InputTokens:
		return b.InputTokens
	case usage.OutputTokens:
		return b.OutputTokens
	}
	return b.Meters[string(m)]
}

// exact checks the law of rounding in big integers: used and held up, limit and
// remaining down, each by less than one unit.
func exact(t *rapid.T, f budget.Figure, m policy.Measure) {
	unit := int64(1)
	if f.Meter == usage.CostUSD {
		unit = 1000
	}
	up := func(n int64) int64 { return -floorDiv(-n, unit) }
	limit, used, held := floorDiv(f.Limit, unit), up(f.Used), up(f.Held)
	if m.Limit != limit || m.Used != used || m.Held != held || m.Unlimited || m.Uncertain != (f.Unknown > 0) {
		t.Fatalf("%s: limit %d used %d held %d became %+v", f.Meter, f.Limit, f.Used, f.Held, m)
	}
	left := new(big.Int).Sub(big.NewInt(f.Limit), new(big.Int).Add(big.NewInt(f.Used), big.NewInt(f.Held)))
	if left.Sign() < 0 {
		left.SetInt64(0)
	}
	shown := new(big.Int).Mul(big.NewInt(m.Remaining), big.NewInt(unit))
	lost := new(big.Int).Sub(left, shown)
	if lost.Sign() < 0 || lost.Cmp(big.NewInt(3*unit)) >= 0 {
		t.Fatalf("%s: %s remain, shown are %s", f.Meter, left, shown)
	}
	if unit == 1 && lost.Sign() != 0 {
		t.Fatalf("%s: %s remain, shown are %s", f.Meter, left, shown)
	}
}

// floorDiv divides exactly, rounding down.
func floorDiv(n, by int64) int64 {
	quotient, _ := new(big.Int).DivMod(big.NewInt(n), big.NewInt(by), new(big.Int))
	return quotient.Int64()
}

// TestMoneyIsRoundedAgainstTheTask: amounts of any size, to the nano-USD.
func TestMoneyIsRoundedAgainstTheTask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Int64Range(0, 5000), rapid.Int64Range(0, 1<<63-1), rapid.SampledFrom([]int64{0, 999, 1000, 1001, 1<<63 - 1}))
		limit, used, held := amount.Draw(t, "limit"), amount.Draw(t, "used"), amount.Draw(t, "held")
		rule, faults := budget.Compile(daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(limit) }))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		in := ask("new", rule)
		in.Task.Estimate = usage.Amounts{usage.CostUSD: amount.Draw(t, "estimate")}
		in.Ledger = fixed{usage.Balance{Known: used, Held: held}}
		doc := budget.PolicyInput(policy.Admit, in, budget.Subject{})
		if err := doc.Check(); err != nil {
			t.Fatal(err)
		}
		exact(t, budget.Figure{Meter: usage.CostUSD, Limit: limit, Used: used, Held: held}, doc.Budget.Cost)
		if want := -floorDiv(-in.Task.Estimate[usage.CostUSD], 1000); doc.Estimate.CostMicros != want || !doc.Estimate.Known || doc.Estimate.Source != "Task" {
			t.Fatalf("estimate %+v, want %d", doc.Estimate, want)
		}
	})
}

// fixed answers every question with one balance.
type fixed struct{ balance usage.Balance }

func (f fixed) Used(q usage.Query) (usage.Balance, error) {
	b := f.balance
	w, err := q.Scope.Period.At(q.At)
	b.Window = w
	return b, err
}

func (fixed) Turns(usage.Query) (usage.Turns, error) { return usage.Turns{}, nil }
