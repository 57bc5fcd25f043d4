package budget_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// broken is a ledger that can't be asked.
type broken struct{ used, turns error }

func (b broken) Used(q usage.Query) (usage.Balance, error) {
	balance, _ := usage.History{}.Used(q)
	return balance, b.used
}

func (b broken) Turns(usage.Query) (usage.Turns, error) { return usage.Turns{}, b.turns }

func TestALedgerThatCannotBeAskedRefuses(t *testing.T) {
	in := ask("new", compiled(t, daily(nil)))
	tests := map[string]struct {
		ledger budget.View
		want   string
	}{
		"no ledger":                    {nil, "there is no ledger to ask"},
		"a ledger in error":            {broken{used: errors.New("the cache is not synced")}, "the cache is not synced"},
		"a ledger in a flood of words": {broken{used: errors.New(strings.Repeat("é", 1<<20))}, "éé"},
		"a ledger in confusion":        {broken{used: fmt.Errorf("wrapped: %w", errors.New("\xff"))}, "wrapped"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in.Ledger = tt.ledger
			d := budget.Admit(in)
			if d.Allowed || !d.RetryAt.IsZero() || len(d.Verdicts) != 1 {
				t.Fatalf("%+v", d)
			}
			if f := d.Verdicts[0].Fault; f == nil || f.Reason != "ListError" || !strings.Contains(d.Message(), tt.want) {
				t.Errorf("fault %+v, message %q", f, d.Message())
			}
			if d.Verdicts[0].Remedy() == "" || d.RequeueAfter() != budget.MaxRequeue {
				t.Errorf("remedy %q, requeue %s", d.Verdicts[0].Remedy(), d.RequeueAfter())
			}
		})
	}
}

func TestALedgerThatForgetsHowTimeGoesOnPromisesNothing(t *testing.T) {
	in := ask("new", compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(1) })))
	in.Task.Estimate = usage.Amounts{usage.CostUSD: 1}
	in.Ledger = full{broken{turns: errors.New("lost")}}
	if d := budget.Admit(in); d.Allowed || !d.RetryAt.IsZero() {
		t.Errorf("allowed %v, retry at %s", d.Allowed, d.RetryAt)
	}
}

// full is a ledger in which everything is used.
type full struct{ broken }

func (f full) Used(q usage.Query) (usage.Balance, error) {
	balance, err := f.broken.Used(q)
	balance.Known = 1 << 60
	return balance, err
}

// TestALedgerWithAViewOfItsOwn: whatever a View answers, the decision stands.
func TestALedgerWithAViewOfItsOwn(t *testing.T) {
	for _, err := range []error{period.ErrBeforeStart, period.ErrAfterEnd} {
		in := ask("new", compiled(t, daily(nil)))
		in.Ledger = broken{used: err}
		if d := budget.Admit(in); d.Allowed || !d.RetryAt.IsZero() || d.Message() == "" || d.Explain() == "" {
			t.Errorf("%v: %+v", err, d)
		}
	}
}

// tired answers a number of questions and then no more.
type tired struct {
	usage.History
	left *int
}

func (l tired) Used(q usage.Query) (usage.Balance, error) {
	*l.left--
	if *l.left < 0 {
		return usage.Balance{}, errors.New("tired")
	}
	return l.History.Used(q)
}

func (l tired) Turns(q usage.Query) (usage.Turns, error) {
	*l.left--
	if *l.left < 0 {
		return usage.Turns{}, errors.New("tired")
	}
	return l.History.Turns(q)
}

// TestRetryNeverPromisesOnALedgerThatFails: the decision stands, and there is no
// instant of which it could be said that time alone admits.
func TestRetryNeverPromisesOnALedgerThatFails(t *testing.T) {
	rules := []*budget.Rule{
		compiled(t, daily(nil)),
		compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
			s.Period = budgetv1alpha1.Period{Type: "Sliding", Duration: "2h"}
		})),
	}
	history := usage.History{}
	for i, cost := range []string{"1", "1"} {
		record, err := usage.RecordUsage(usage.Completion{
			Task: usage.Task{UID: types.UID(cost + string(rune('a'+i))), Namespace: "team-a"}, Phase: usage.Succeeded,
			CompletionTime: noon.Add(time.Duration(2*i-1) * 30 * time.Minute), Results: map[string]string{"cost-usd": cost},
		})
		if err != nil {
			t.Fatal(err)
		}
		history.Records = append(history.Records, record)
	}
	history.Holds = []usage.Hold{{
		UID: "h", Namespace: "team-a", ExpiresAt: noon.Add(time.Hour), Amounts: usage.Amounts{usage.CostUSD: usage.USD},
	}}
	for _, rule := range rules {
		in := ask("new", rule)
		in.Ledger = history
		right := budget.Admit(in).RetryAt
		if right.IsZero() {
			t.Fatalf("%s: time makes no room", rule.Period())
		}
		silent := 0
		for n := range 200 {
			left := n + 1
			in.Ledger = tired{history, &left}
			d := budget.Admit(in)
			if d.Allowed || !d.RetryAt.IsZero() && !d.RetryAt.Equal(right) {
				t.Fatalf("%s: after %d answers allowed %v, retry at %s and not %s", rule.Period(), n+1, d.Allowed, d.RetryAt, right)
			}
			if d.RetryAt.IsZero() {
				silent++
			}
		}
		if silent == 0 || silent == 200 {
			t.Errorf("%s: %d of 200 ledgers failed", rule.Period(), silent)
		}
	}
}

// scripted is a ledger that answers as it is told.
type scripted struct {
	balance usage.Balance
	turns   func(usage.Query) usage.Turns
}

func (s scripted) Used(q usage.Query) (usage.Balance, error) {
	balance, err := usage.History{}.Used(q)
	balance.Known, balance.Held = s.balance.Known, s.balance.Held
	return balance, err
}

func (s scripted) Turns(q usage.Query) (usage.Turns, error) { return s.turns(q), nil }

// TestTheSearchForRoomEnds: it answers with how far it has come.
func TestTheSearchForRoomEnds(t *testing.T) {
	sliding := func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.Period = budgetv1alpha1.Period{Type: "Sliding", Duration: "2h"}
	}
	hourly := func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period = budgetv1alpha1.Period{Type: "Hourly"} }
	tests := map[string]struct {
		change func(*budgetv1alpha1.TaskBudgetSpec)
		turns  func(q usage.Query) usage.Turns
		want   time.Time
	}{
		"records for ever": {
			sliding, func(q usage.Query) usage.Turns {
				next := q.At.Add(time.Second)
				return usage.Turns{Next: next, Last: q.At.Add(time.Hour), Rise: next}
			},
			noon.Add(5_000 * time.Second),
		},
		"a hold without an end": {
			hourly, func(usage.Query) usage.Turns {
				return usage.Turns{Next: noon.Add(1 << 60), Last: noon.Add(1 << 60)}
			},
			noon.Truncate(time.Hour).Add(5_000 * time.Hour),
		},
		"a ledger that contradicts itself": {
			sliding, func(usage.Query) usage.Turns {
				return usage.Turns{Next: noon.Add(1), Last: noon.Add(-1)}
			},
			time.Time{},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := ask("new", compiled(t, daily(tt.change)))
			in.Ledger = scripted{usage.Balance{Known: 1 << 60}, tt.turns}
			if d := budget.Admit(in); d.Allowed || !d.RetryAt.Equal(tt.want) {
				t.Errorf("allowed %v, retry at %s, want %s", d.Allowed, d.RetryAt, tt.want)
			}
		})
	}
	o := budget.Observe(compiled(t, daily(nil)), scripted{balance: usage.Balance{Known: -5}}, nil, noon)
	if o.Percent != 0 {
		t.Errorf("less than nothing is %d percent", o.Percent)
	}
}
