package budget_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// TestSpendExceedsALimitByNoMoreThanTasksExceedTheirHolds is the bound that
// holds promise: in every window the spend is at most the limit and what the
// tasks that completed in it have spent beyond what was held for them.
func TestSpendExceedsALimitByNoMoreThanTasksExceedTheirHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &spending{memory: usage.NewMemory(), now: noon, running: map[types.UID]budget.Task{}}
		for i := range rapid.IntRange(1, 3).Draw(t, "budgets") {
			tb := newBudget(t, i)
			tb.Spec.Action, tb.Spec.Limits, tb.Spec.MaxCostUSD = "", nil, nano(rapid.Int64Range(0, 12).Draw(t, "limit"))
			if rule, faults := budget.Compile(&tb); len(faults) == 0 {
				p.rules = append(p.rules, rule)
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			p.now = p.now.Add(minutes(t, "later", 0, 90))
			switch running := slices.Sorted(maps.Keys(p.running)); {
			case len(running) == 0 || rapid.IntRange(0, 2).Draw(t, "step") > 0:
				p.start(t)
			default:
				p.complete(t, rapid.SampledFrom(running).Draw(t, "completes"))
			}
			p.check(t)
		}
	})
}

// spending is a play of tasks that start where they may and complete.
type spending struct {
	rules   []*budget.Rule
	memory  *usage.Memory
	now     time.Time
	started int
	running map[types.UID]budget.Task
	done    []overspent
}

// overspent is a task that has completed, and what it had set aside by then.
type overspent struct {
	record usage.Record
	hold   usage.Hold
	live   bool
}

func (p *spending) start(t *rapid.T) {
	p.started++
	task := budget.Task{UID: types.UID(fmt.Sprint("task-", p.started)), Namespace: "team-a", Labels: newLabels(t), Estimate: newAmounts(t, 4)}
	ttl := time.Duration(rapid.SampledFrom([]int{1, 100}).Draw(t, "ttl")) * time.Hour
	if budget.Reserve(p.memory, budget.Input{Task: task, Rules: p.rules, Now: p.now}, ttl).Allowed {
		p.running[task.UID] = task
	}
}

func (p *spending) complete(t *rapid.T, uid types.UID) {
	hold, _ := p.memory.Held(uid)
	completion := usage.Completion{
		Task: usage.Task{UID: uid, Namespace: "team-a"}, Phase: usage.Succeeded, Hold: &hold, CompletionTime: p.now,
	}
	if rapid.IntRange(0, 3).Draw(t, "reports") > 0 {
		completion.Reported = usage.Amounts{usage.CostUSD: rapid.Int64Range(0, 9).Draw(t, "cost")}
	}
	record, err := usage.RecordUsage(completion)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.memory.Add(record); err != nil {
		t.Fatal(err)
	}
	delete(p.running, uid)
	p.done = append(p.done, overspent{record: record, hold: hold, live: hold.Live(p.now)})
}

// check compares each budget's spend with the bound, in every group.
func (p *spending) check(t *rapid.T) {
	for _, rule := range p.rules {
		for _, asked := range p.done {
			o := budget.Observe(rule, p.memory, asked.record.Labels, p.now)
			if o.Fault != nil || o.Outside != "" || o.Closed {
				continue
			}
			bound := rule.Limits()[0].Max
			for _, d := range p.done {
				mine := rule.Matches("team-a", d.record.Labels) && rule.Scope().Group(d.record.Labels) == o.Group
				if mine && o.Window.Contains(d.record.CompletionTime) {
					bound += d.beyond(rule)
				}
			}
			if used := o.Used[usage.CostUSD]; used > bound {
				t.Fatalf("%s at %s: used %d, and no more than %d is explained", rule.Period(), p.now, used, bound)
			}
		}
	}
}

// beyond is what the task has cost in a budget beyond what it held there.
func (d *overspent) beyond(rule *budget.Rule) int64 {
	standard := rule.Scope().Default[usage.CostUSD]
	held, named := d.hold.Amounts[usage.CostUSD]
	if !named {
		held = standard
	}
	cost := d.record.Usage.Of(usage.CostUSD)
	switch {
	case cost.Basis == usage.Unknown && rule.UnknownUsage() == budgetv1alpha1.UnknownChargeHold:
		cost.Amount = standard
	case !cost.Basis.Known() && rule.UnknownUsage() != budgetv1alpha1.UnknownChargeHold:
		cost.Amount = 0
	}
	if !d.live {
		held = 0
	}
	return max(0, cost.Amount-held)
}
