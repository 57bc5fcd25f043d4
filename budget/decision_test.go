package budget_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// decide asks for task "new" after a task has spent that much on a day at noon.
func decide(t *testing.T, spent string, budgets ...*budgetv1alpha1.TaskBudget) budget.Decision {
	t.Helper()
	memory := usage.NewMemory()
	if spent != "" {
		spend(t, memory, "other", spent)
	}
	in := ask("new")
	in.Ledger = memory
	for _, tb := range budgets {
		rule, _ := budget.Compile(tb)
		in.Rules = append(in.Rules, rule)
	}
	return budget.Admit(in)
}

func TestZeroDecisionDenies(t *testing.T) {
	var d budget.Decision
	if d.Allowed || d.Condition(1) == nil || d.RequeueAfter() != budget.MaxRequeue {
		t.Errorf("the zero decision is %+v, %v", d, d.Condition(1))
	}
	if got := d.Message(); got != "No decision was made." {
		t.Errorf("message %q", got)
	}
	if text := d.Explain(); !strings.Contains(text, "refused") {
		t.Errorf("explained as %q", text)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
}

// Who has no namespace is told of none.
func TestATaskWithoutNamespaceAndRules(t *testing.T) {
	if got := budget.Admit(budget.Input{Now: noon}).Message(); got != "No budget is for this task." {
		t.Errorf("message %q", got)
	}
}

func TestMessages(t *testing.T) {
	named := func(name string, change func(*budgetv1alpha1.TaskBudgetSpec)) *budgetv1alpha1.TaskBudget {
		tb := daily(change)
		tb.Name = name
		return tb
	}
	tests := map[string]struct {
		spent   string
		budgets []*budgetv1alpha1.TaskBudget
		want    string
		reason  string
	}{
		"no budget": {want: "No budget is for this task. None of namespace team-a selects it."},
		"room":      {budgets: []*budgetv1alpha1.TaskBudget{daily(nil)}, want: "Every budget has room."},
		"a budget that only warns is spent": {
			spent: "1.25",
			budgets: []*budgetv1alpha1.TaskBudget{
				named("room", func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(2 * usage.USD) }),
				named("soft", func(s *budgetv1alpha1.TaskBudgetSpec) { s.Action = "Warn" }),
			},
			want: "No budget refuses; only warning: " +
				"TaskBudget team-a/soft: costUSD used 1.25 reaches the limit 1 (Daily from 00:00 UTC, window ends at 2026-03-09T00:00:00Z)",
		},
		"a budget that only warns is degraded": {
			budgets: []*budgetv1alpha1.TaskBudget{daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.Action, s.Period.Type = "Warn", "Dayly" })},
			want:    "No budget refuses; only warning: TaskBudget team-a/daily cannot be evaluated (InvalidPeriod): spec.period.type",
		},
		"spent": {
			spent: "1.25", budgets: []*budgetv1alpha1.TaskBudget{daily(nil)}, reason: "BudgetExceeded",
			want: "TaskBudget team-a/daily: costUSD used 1.25 reaches the limit 1 (Daily from 00:00 UTC, window ends at 2026-03-09T00:00:00Z)",
		},
		"the estimate is too much": {
			spent: "0.9", budgets: []*budgetv1alpha1.TaskBudget{daily(nil)}, reason: "BudgetExceeded",
			want: "TaskBudget team-a/daily: costUSD used 0.9 + estimate 0.3 exceeds the limit 1 (Daily from 00:00 UTC, window ends at 2026-03-09T00:00:00Z)",
		},
		"the estimate alone is too much": {
			budgets: []*budgetv1alpha1.TaskBudget{daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(usage.MustUSD("0.2")) })},
			reason:  "BudgetExceeded",
			want: "TaskBudget team-a/daily: costUSD used 0 + estimate 0.3 exceeds the limit 0.2, as the estimate alone does " +
				"(Daily from 00:00 UTC, window ends at 2026-03-09T00:00:00Z)",
		},
		"the estimate alone is too much, and the budget is spent": {
			spent:   "0.2",
			budgets: []*budgetv1alpha1.TaskBudget{daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(usage.MustUSD("0.2")) })},
			reason:  "BudgetExceeded",
			want: "TaskBudget team-a/daily: costUSD used 0.2 reaches the limit 0.2, and the estimate 0.3 alone exceeds it " +
				"(Daily from 00:00 UTC, window ends at 2026-03-09T00:00:00Z)",
		},
		"several meters, and a window without an end": {
			spent: "1",
			budgets: []*budgetv1alpha1.TaskBudget{daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
				s.Period, s.MaxInputTokens = budgetv1alpha1.Period{Type: "Lifetime"}, new(int64)
			})},
			reason: "BudgetExceeded",
			want: "TaskBudget team-a/daily: costUSD used 1 reaches the limit 1, " +
				"inputTokens limit is 0, which admits nothing (Lifetime without end)",
		},
		"unknown usage with nothing held": {
			spent: "n/a", budgets: []*budgetv1alpha1.TaskBudget{daily(nil)}, reason: "BudgetExceeded",
			want: "TaskBudget team-a/daily: costUSD is not known for 1 finished task, and nothing was held for 1 of them " +
				"(Daily from 00:00 UTC, window ends at 2026-03-09T00:00:00Z)",
		},
		"unknown usage blocks": {
			spent: "n/a",
			budgets: []*budgetv1alpha1.TaskBudget{daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
				s.UnknownUsage, s.DefaultEstimate = "Block", &budgetv1alpha1.Amounts{CostUSD: nano(1)}
			})},
			reason: "BudgetExceeded",
			want: "TaskBudget team-a/daily: costUSD is not known for 1 finished task " +
				"(Daily from 00:00 UTC, window ends at 2026-03-09T00:00:00Z)",
		},
		"two budgets, in order": {
			spent: "2", budgets: []*budgetv1alpha1.TaskBudget{named("z", nil), named("a", nil)}, reason: "BudgetExceeded",
			want: "TaskBudget team-a/a: costUSD used 2 reaches the limit 1 (Daily from 00:00 UTC, window ends at 2026-03-09T00:00:00Z); " +
				"TaskBudget team-a/z: costUSD used 2 reaches the limit 1 (Daily from 00:00 UTC, window ends at 2026-03-09T00:00:00Z)",
		},
		"a group": {
			spent: "2", reason: "BudgetExceeded",
			budgets: []*budgetv1alpha1.TaskBudget{daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.GroupBy = []string{"user"} })},
			want: `TaskBudget team-a/daily for "!user": costUSD used 2 reaches the limit 1 ` +
				"(Daily from 00:00 UTC, window ends at 2026-03-09T00:00:00Z)",
		},
		"degraded": {
			budgets: []*budgetv1alpha1.TaskBudget{daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.Type = "Dayly" })},
			reason:  "BudgetDegraded",
			want:    `TaskBudget team-a/daily cannot be evaluated (InvalidPeriod): spec.period.type: Invalid value: "Dayly"`,
		},
		"one is spent and one degraded": {
			spent: "1", reason: "BudgetExceeded",
			budgets: []*budgetv1alpha1.TaskBudget{
				daily(nil), named("bad", func(s *budgetv1alpha1.TaskBudgetSpec) { s.TaskSelector = nil }),
			},
			want: "TaskBudget team-a/bad cannot be evaluated (InvalidSelector): spec.taskSelector: Required value",
		},
		"not started": {
			reason: "BudgetExceeded",
			budgets: []*budgetv1alpha1.TaskBudget{daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
				s.Period = budgetv1alpha1.Period{Type: "Lifetime", StartsAt: &metav1.Time{Time: noon.Add(time.Hour)}}
			})},
			want: "TaskBudget team-a/daily admits nothing yet: its life starts at 2026-03-08T05:30:00Z",
		},
		"ended": {
			reason: "BudgetExceeded",
			budgets: []*budgetv1alpha1.TaskBudget{daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
				s.Period = budgetv1alpha1.Period{Type: "Lifetime", EndsAt: &metav1.Time{Time: noon}}
			})},
			want: "TaskBudget team-a/daily admits nothing any more: its life ended at 2026-03-08T04:30:00Z",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := decide(t, tt.spent, tt.budgets...)
			if !strings.HasPrefix(d.Message(), tt.want) {
				t.Errorf("message\n%s\nwant\n%s", d.Message(), tt.want)
			}
			if d.Reason() != tt.reason {
				t.Errorf("reason %q, want %q", d.Reason(), tt.reason)
			}
		})
	}
}

// TestMessageIsBounded: a condition's message has a limit, whatever is refused.
func TestMessageIsBounded(t *testing.T) {
	var budgets []*budgetv1alpha1.TaskBudget
	for i := range 500 {
		tb := daily(nil)
		tb.Name = fmt.Sprintf("budget-%03d", i)
		budgets = append(budgets, tb)
	}
	d := decide(t, "1", budgets...)
	message := d.Message()
	if len(message) > 4096 || !strings.HasPrefix(message, "TaskBudget team-a/budget-000") || !strings.HasSuffix(message, " more budgets") {
		t.Errorf("%d bytes: %s", len(message), message)
	}
	long := daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.Timezone = strings.Repeat("\xff", 1<<20) })
	d = decide(t, "", long)
	if message := d.Message(); len(message) > 4096 || !utf8.ValidString(message) {
		t.Errorf("%d bytes, valid UTF-8: %v", len(message), utf8.ValidString(message))
	}
}

func TestRequeueAfter(t *testing.T) {
	at := func(now time.Time, spent string, change func(*budgetv1alpha1.TaskBudgetSpec)) time.Duration {
		memory := usage.NewMemory()
		if spent != "" {
			spend(t, memory, "other", spent)
		}
		in := ask("new")
		rule, _ := budget.Compile(daily(change))
		in.Rules, in.Ledger, in.Now = []*budget.Rule{rule}, memory, now
		d := budget.Admit(in)
		return d.RequeueAfter()
	}
	midnight := time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	zero := func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(0) }
	tests := map[string]struct {
		now    time.Time
		spent  string
		change func(*budgetv1alpha1.TaskBudgetSpec)
		want   time.Duration
	}{
		"an allowed task does not wait":            {now: noon, want: 0},
		"five minutes at most":                     {now: noon, spent: "1", want: 5 * time.Minute},
		"until the window ends":                    {now: midnight.Add(-2 * time.Minute), spent: "1", want: 2 * time.Minute},
		"a second at least":                        {now: midnight.Add(-time.Millisecond), spent: "1", want: time.Second},
		"until the window ends, with a zero limit": {now: midnight.Add(-2 * time.Minute), change: zero, want: 2 * time.Minute},
		"five minutes where there is no window": {
			now: noon, change: func(s *budgetv1alpha1.TaskBudgetSpec) { s.TaskSelector = nil }, want: 5 * time.Minute,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := at(tt.now, tt.spent, tt.change); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestSetCondition(t *testing.T) {
	refused, allowed := decide(t, "1", daily(nil)), decide(t, "", daily(nil))
	conditions := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}}
	if !refused.SetCondition(&conditions, 3) {
		t.Error("a task that is newly refused is a change")
	}
	want := metav1.Condition{
		Type: "BudgetBlocked", Status: metav1.ConditionTrue, Reason: "BudgetExceeded", ObservedGeneration: 3,
		Message:            refused.Message(),
		LastTransitionTime: metav1.NewTime(noon),
	}
	if diff := cmp.Diff(want, conditions[1]); diff != "" {
		t.Error(diff)
	}
	again := refused
	again.At = noon.Add(time.Hour)
	if again.SetCondition(&conditions, 3) {
		t.Error("the same refusal later is no change")
	}
	if !allowed.SetCondition(&conditions, 3) || len(conditions) != 1 || conditions[0].Type != "Ready" {
		t.Errorf("an admitted task carries %v", conditions)
	}
	if allowed.SetCondition(&conditions, 3) {
		t.Error("an admitted task without the condition is no change")
	}
}

func TestDegraded(t *testing.T) {
	rule, _ := budget.Compile(daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.Timezone = "Mars/Base" }))
	bad := rule.Degraded(7, noon)
	if bad.Type != "Degraded" || bad.Status != metav1.ConditionTrue || bad.Reason != "InvalidPeriod" || bad.ObservedGeneration != 7 {
		t.Errorf("a faulty budget carries %+v", bad)
	}
	good := compiled(t, daily(nil)).Degraded(8, noon)
	if good.Status != metav1.ConditionFalse || good.Reason != "Evaluated" || good.Message == "" {
		t.Errorf("a good budget carries %+v", good)
	}
}

func TestInputsThatCannotBeJudgedAreRefused(t *testing.T) {
	rule := compiled(t, daily(nil))
	tests := map[string]struct {
		change func(*budget.Input)
		want   string
	}{
		"no clock":           {func(in *budget.Input) { in.Now = time.Time{} }, "now is required"},
		"a year without end": {func(in *budget.Input) { in.Now = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }, "year 9999"},
		"a nil rule":         {func(in *budget.Input) { in.Rules = append(in.Rules, nil) }, "rules[1] is nil"},
		"nothing has a name": {
			func(in *budget.Input) { in.Task = budget.Task{Estimate: usage.Amounts{usage.Tasks: -1}} }, "task: estimate: tasks -1",
		},
		"a rule that nobody compiled": {
			func(in *budget.Input) { in.Rules = append(in.Rules, &budget.Rule{}) }, "rules[1] was not made by Compile",
		},
		"a nil ledger with a type": {
			func(in *budget.Input) { in.Ledger = (*usage.Memory)(nil) }, "the ledger is a nil *usage.Memory",
		},
		"no namespace": {func(in *budget.Input) { in.Task.Namespace = "" }, "namespace is required"},
		"a negative estimate": {
			func(in *budget.Input) { in.Task.Estimate = usage.Amounts{usage.CostUSD: -usage.USD} }, "costUSD -1: must not be negative",
		},
		"an estimate of nothing that has a name": {
			func(in *budget.Input) { in.Task.Estimate = usage.Amounts{"": 1} }, "a meter needs a name",
		},
		"a name that is no text": {
			func(in *budget.Input) { in.Task.Name, in.Task.Estimate = "\xff\x00", usage.Amounts{"": 1} }, `\xff\x00`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := ask("new", rule)
			in.Ledger = usage.History{}
			tt.change(&in)
			d := budget.Admit(in)
			if d.Allowed || !strings.Contains(d.Message(), tt.want) || d.Reason() != "InvalidTask" || len(d.Verdicts) > 0 {
				t.Errorf("allowed %v, %s: %q", d.Allowed, d.Reason(), d.Message())
			}
			if _, err := json.Marshal(d); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnusualInputsAreJudged(t *testing.T) {
	labels := map[string]string{"\xff": "\xfe"}
	for i := range 10_000 {
		labels[fmt.Sprint("label-", i)] = strings.Repeat("v", 100)
	}
	in := budget.Input{
		Task:   budget.Task{Namespace: "team-a", Labels: labels},
		Rules:  []*budget.Rule{compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.GroupBy = []string{"label-1"} }))},
		Ledger: usage.NewMemory(),
		Now:    noon.In(time.FixedZone("odd", -12345)),
	}
	if d := budget.Admit(in); !d.Allowed {
		t.Error(d.Message())
	}
	if d := budget.Admit(budget.Input{Now: noon}); !d.Allowed {
		t.Errorf("no budget is no gate: %s", d.Message())
	}
}

func TestExceeded(t *testing.T) {
	d := decide(t, "1", daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.MaxInputTokens, s.MaxOutputTokens, s.UnknownUsage = new(int64(9)), new(int64), "Ignore"
	}))
	want := []usage.Meter{usage.CostUSD, usage.OutputTokens}
	if diff := cmp.Diff(want, d.Verdicts[0].Exceeded()); diff != "" {
		t.Error(diff)
	}
	remedies := map[string]func(*budgetv1alpha1.TaskBudgetSpec){
		"raise the limit; 0":             func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(0) },
		"lower the estimate":             func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = nano(usage.MustUSD("0.2")) },
		"or choose another spec.unknown": func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxInputTokens = new(int64(1)) },
	}
	for want, change := range remedies {
		if got := decide(t, "0", daily(change)); !strings.Contains(got.Verdicts[0].Remedy(), want) {
			t.Errorf("%s: the remedy is %q", got.Message(), got.Verdicts[0].Remedy())
		}
	}
	life := func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.Period = budgetv1alpha1.Period{Type: "Lifetime", EndsAt: &metav1.Time{Time: noon.Add(time.Hour)}}
	}
	for _, spent := range []string{"0.8", "1"} {
		got := decide(t, spent, daily(life))
		if got.Allowed || !got.RetryAt.IsZero() || !strings.HasPrefix(got.Verdicts[0].Remedy(), "raise the limit: there is no window after") {
			t.Errorf("%s: retry at %v, the remedy is %q", got.Message(), got.RetryAt, got.Verdicts[0].Remedy())
		}
	}
	running := ask("new", compiled(t, daily(life)))
	running.Ledger = usage.History{Holds: []usage.Hold{{
		UID: "a", Namespace: "team-a", Amounts: usage.Amounts{usage.CostUSD: usage.USD}, ExpiresAt: noon.Add(time.Minute),
	}}}
	if got := budget.Admit(running); !got.RetryAt.Equal(noon.Add(time.Minute)) || got.Verdicts[0].Remedy() != "wait, or raise the limit" {
		t.Errorf("%s: retry at %v, the remedy is %q", got.Message(), got.RetryAt, got.Verdicts[0].Remedy())
	}
	ended := decide(t, "", daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.Period = budgetv1alpha1.Period{Type: "Lifetime", EndsAt: &metav1.Time{Time: noon}}
	}))
	if got := ended.Verdicts[0].Remedy(); !strings.Contains(got, "move spec.period.endsAt") {
		t.Errorf("the remedy after a budget's life is %q", got)
	}
	room := decide(t, "", daily(nil)).Verdicts[0]
	if got := room.Figures[0].String(); got != "costUSD used 0 of the limit 1" {
		t.Errorf("a figure with room says %q", got)
	}
	if room.Remedy() != "" || room.String() != "TaskBudget team-a/daily has room" {
		t.Errorf("a budget with room says %q and has the remedy %q", room.String(), room.Remedy())
	}
}
