package budget_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// explained is all that a decision says.
func explained(t *rapid.T, d budget.Decision) string {
	data, err := d.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n" + d.Explain()
}

// TestAdmitOnTheLedgerEqualsAdmitOnPlainSlices is row C10: a decision is replayed to the letter from the records and holds
// that it rested on, by the code that enforces.
func TestAdmitOnTheLedgerEqualsAdmitOnPlainSlices(t *testing.T) {
	run(t, func(t *rapid.T, w *world) {
		naive := budget.Admit(w.input(w.history))
		fast := budget.Admit(w.input(w.memory(t)))
		if diff := cmp.Diff(explained(t, naive), explained(t, fast)); diff != "" {
			t.Fatalf("(-naive +fast):\n%s", diff)
		}
	})
}

// TestAdmitIsTheLaw writes the law of admission down once more, as plainly as
// it can be said.
func TestAdmitIsTheLaw(t *testing.T) {
	run(t, func(t *rapid.T, w *world) {
		in := w.input(w.history)
		allowed := true
		for i, rule := range in.Rules {
			spec := w.budgets[i].Spec
			if rule.Matches(in.Task.Namespace, in.Task.Labels) && spec.Action != budgetv1alpha1.ActionWarn && !admits(rule, spec, in) {
				allowed = false
			}
		}
		if got := budget.Admit(in).Allowed; got != allowed {
			t.Fatalf("allowed is %v, want %v", got, allowed)
		}
	})
}

func admits(rule *budget.Rule, spec budgetv1alpha1.TaskBudgetSpec, in budget.Input) bool {
	if rule.Fault() != nil {
		return false
	}
	for _, limit := range rule.Limits() {
		balance, err := in.Ledger.Used(usage.Query{
			Scope: rule.Scope(), Labels: in.Task.Labels, Meter: limit.Meter, At: in.Now, Except: in.Task.UID,
		})
		if err != nil {
			return false // outside the budget's life: no other error is possible here
		}
		taken := balance.Known + balance.Held
		switch spec.UnknownUsage {
		case budgetv1alpha1.UnknownIgnore:
		case budgetv1alpha1.UnknownBlock:
			if balance.Unknown > 0 {
				return false
			}
		default:
			taken += balance.Charged
			if balance.Uncharged > 0 {
				return false
			}
		}
		estimate, ok := in.Task.Estimate[limit.Meter]
		if !ok {
			estimate, ok = rule.Scope().Default[limit.Meter]
		}
		if taken >= limit.Max || ok && taken+estimate > limit.Max {
			return false
		}
	}
	return true
}

// TestRetryAtIsTheFirstInstantAtWhichTimeAloneAdmits asks again at every
// instant at which anything can change.
func TestRetryAtIsTheFirstInstantAtWhichTimeAloneAdmits(t *testing.T) {
	run(t, func(t *rapid.T, w *world) {
		in := w.input(w.history)
		d := budget.Admit(in)
		var want time.Time
		if !d.Allowed {
			for _, at := range w.instants(in.Rules) {
				in.Now = at
				if budget.Admit(in).Allowed {
					want = at
					break
				}
			}
		}
		if !d.RetryAt.Equal(want) {
			t.Fatalf("RetryAt is %s, want %s\n%s", d.RetryAt, want, d.Explain())
		}
	})
}

// instants lists all instants after now at which time alone changes something,
// until nothing happens any more.
func (w *world) instants(rules []*budget.Rule) []time.Time {
	var list []time.Time
	horizon := noon.Add(40 * 24 * time.Hour)
	for _, h := range w.history.Holds {
		list = append(list, h.ExpiresAt)
	}
	for _, r := range w.history.Records {
		list = append(list, r.CompletionTime)
		for _, rule := range rules {
			if p := rule.Period(); p != nil {
				if longest, ok := p.Longest(); ok {
					list = append(list, r.CompletionTime.Add(longest), r.StartTime.Add(longest))
				}
			}
		}
		list = append(list, r.StartTime)
	}
	for _, h := range w.history.Holds {
		for _, length := range []time.Duration{time.Hour, 5 * time.Hour, 30 * time.Hour, 48 * time.Hour} {
			list = append(list, h.AdmittedAt.Add(length))
		}
	}
	for _, rule := range rules {
		p := rule.Period()
		if p == nil {
			continue
		}
		if starts := p.Spec().StartsAt; starts != nil {
			list = append(list, *starts)
		}
		for at := w.now; at.Before(horizon); {
			window, err := p.At(at)
			if err != nil || window.End.IsZero() || window.LookBack {
				break
			}
			at = window.End
			list = append(list, at)
		}
	}
	list = slices.DeleteFunc(list, func(at time.Time) bool { return !at.After(w.now) })
	slices.SortFunc(list, time.Time.Compare)
	return list
}

func TestMoreUsageNeverTurnsANoIntoAYes(t *testing.T) {
	run(t, func(t *rapid.T, w *world) {
		less := budget.Admit(w.input(w.history))
		if rapid.Bool().Draw(t, "a record more") {
			r := newRecord(t, 100)
			r.Labels = w.task.Labels
			w.history.Records = append(w.history.Records, r)
		} else {
			h := newHold(t, 100)
			w.history.Holds = append(w.history.Holds, h)
		}
		more := budget.Admit(w.input(w.history))
		if !less.Allowed && more.Allowed && !w.hasFirstUse() {
			t.Fatalf("refused:\n%s\nadmitted with more:\n%s", less.Explain(), more.Explain())
		}
	})
}

// hasFirstUse: there an earlier use can close the window that a later one had
// opened, so that more usage can make room.
func (w *world) hasFirstUse() bool {
	return slices.ContainsFunc(w.budgets, func(tb budgetv1alpha1.TaskBudget) bool { return tb.Spec.Period.Type == "FirstUse" })
}

func TestMoreBudgetsNeverTurnANoIntoAYes(t *testing.T) {
	run(t, func(t *rapid.T, w *world) {
		less := budget.Admit(w.input(w.history))
		w.budgets = append(w.budgets, newBudget(t, 100))
		more := budget.Admit(w.input(w.history))
		if !less.Allowed && more.Allowed {
			t.Fatalf("refused:\n%s\nadmitted with more:\n%s", less.Explain(), more.Explain())
		}
	})
}

func TestTheOrderOfBudgetsPlaysNoPart(t *testing.T) {
	run(t, func(t *rapid.T, w *world) {
		one := explained(t, budget.Admit(w.input(w.history)))
		w.budgets = rapid.Permutation(w.budgets).Draw(t, "budgets")
		if other := explained(t, budget.Admit(w.input(w.history))); one != other {
			t.Fatal(cmp.Diff(one, other))
		}
	})
}

func TestAdmitLeavesItsInputAlone(t *testing.T) {
	run(t, func(t *rapid.T, w *world) {
		before, rules := w.task, w.input(w.history).Rules
		before.Labels, before.Estimate = copyOf(before.Labels), before.Estimate.Clone()
		in := w.input(w.history)
		in.Rules = slices.Clone(rules)
		budget.Admit(in)
		if diff := cmp.Diff(before, in.Task); diff != "" {
			t.Fatal(diff)
		}
		if !slices.Equal(rules, in.Rules) {
			t.Fatal("the rules were put into another order")
		}
	})
}

func copyOf(labels map[string]string) map[string]string {
	list := map[string]string{}
	maps.Copy(list, labels)
	return list
}
