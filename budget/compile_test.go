package budget_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

func TestCompileRefuses(t *testing.T) {
	type spec = budgetv1alpha1.TaskBudgetSpec
	tests := map[string]struct {
		change func(*spec)
		want   []string // the beginnings of the faults
		reason string
	}{
		"no selector": {
			func(s *spec) { s.TaskSelector = nil },
			[]string{"spec.taskSelector: Required value"}, "InvalidSelector",
		},
		"an unknown operator": {
			func(s *spec) {
				s.TaskSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Near"}}}
			},
			[]string{`spec.taskSelector.matchExpressions[0].operator: Invalid value: "Near"`}, "InvalidSelector",
		},
		"Exists with a value": {
			func(s *spec) {
				s.TaskSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: "team", Operator: "Exists", Values: []string{"x"}},
				}}
			},
			[]string{"spec.taskSelector.matchExpressions[0].values: Forbidden"}, "InvalidSelector",
		},
		"a label value that no label can have": {
			func(s *spec) { s.TaskSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a b"}} },
			[]string{"spec.taskSelector.matchLabels: Invalid value"}, "InvalidSelector",
		},
		"a label key that no label can have": {
			func(s *spec) { s.TaskSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"-": "a"}} },
			[]string{"spec.taskSelector.matchLabels: Invalid value"}, "InvalidSelector",
		},
		"every fault of a period": {
			func(s *spec) {
				s.Period = budgetv1alpha1.Period{Type: "Daily", Timezone: "Mars/Base", WeekStart: "Monday"}
			},
			[]string{`spec.period.timezone: Invalid value: "Mars/Base"`, `spec.period.weekStart: Invalid value: "Monday"`}, "InvalidPeriod",
		},
		"no period": {
			func(s *spec) { s.Period = budgetv1alpha1.Period{} },
			[]string{"spec.period.type: Required value: required; it is one of"}, "InvalidPeriod",
		},
		"no limit": {
			func(s *spec) { s.MaxCostUSD = nil },
			[]string{"spec: Required value: at least one of maxCostUSD"}, "InvalidSpec",
		},
		"negative limits": {
			func(s *spec) {
				s.MaxCostUSD, s.MaxInputTokens, s.MaxOutputTokens = quantity("-0.5"), new(int64(-1)), new(int64(-2))
				s.Limits = []budgetv1alpha1.Limit{{Meter: "tasks", Max: -3}}
			},
			[]string{
				`spec.maxCostUSD: Invalid value: "-500m"`, "spec.maxInputTokens: Invalid value: -1",
				"spec.maxOutputTokens: Invalid value: -2", "spec.limits[0].max: Invalid value: -3",
			}, "InvalidSpec",
		},
		"a binary suffix on dollars": {
			func(s *spec) { s.MaxCostUSD = quantity("1Ki") },
			[]string{`spec.maxCostUSD: Invalid value: "1Ki": a binary suffix has no meaning for dollars`}, "InvalidSpec",
		},
		"more dollars than there are": {
			func(s *spec) { s.MaxCostUSD = quantity("10G") },
			[]string{`spec.maxCostUSD: Invalid value: "10G": a dollar amount is at most 9223372036.854775807`}, "InvalidSpec",
		},
		"limits on meters that are no meters, twice the same, or have a field": {
			func(s *spec) {
				s.Limits = []budgetv1alpha1.Limit{
					{Meter: "tasks"}, {Meter: "tasks"}, {Meter: "a b"}, {Meter: ""}, {Meter: "costUSD"},
				}
			},
			[]string{
				`spec.limits[1].meter: Duplicate value: "tasks"`, `spec.limits[2].meter: Invalid value: "a b"`,
				`spec.limits[3].meter: Invalid value: ""`, `spec.limits[4].meter: Invalid value: "costUSD": this meter has a field`,
			}, "InvalidSpec",
		},
		"more limits than a budget can have": {
			func(s *spec) { s.Limits = make([]budgetv1alpha1.Limit, 33) },
			[]string{"spec.limits: Too many: 33: must have at most 32 items"}, "InvalidSpec",
		},
		"more limits than a budget can have, and no other": {
			func(s *spec) { s.MaxCostUSD, s.Limits = nil, make([]budgetv1alpha1.Limit, 100_000) },
			[]string{"spec.limits: Too many: 100000: must have at most 32 items"}, "InvalidSpec",
		},
		"an estimate of more meters than it can have": {
			func(s *spec) {
				s.DefaultEstimate = &budgetv1alpha1.Amounts{Meters: make([]budgetv1alpha1.MeterAmount, 257)}
			},
			[]string{"spec.defaultEstimate.meters: Too many: 257: must have at most 256 items"}, "InvalidSpec",
		},
		"an unknown action and an unknown policy": {
			func(s *spec) { s.Action, s.UnknownUsage = "block", "Guess" },
			[]string{
				`spec.action: Unsupported value: "block": supported values: "Block", "Warn"`,
				`spec.unknownUsage: Unsupported value: "Guess"`,
			}, "InvalidSpec",
		},
		"group keys": {
			func(s *spec) { s.GroupBy = []string{"user", "user", "a b", ""} },
			[]string{
				`spec.groupBy[1]: Duplicate value: "user"`, `spec.groupBy[2]: Invalid value`, `spec.groupBy[3]: Invalid value`,
			}, "InvalidSpec",
		},
		"too many group keys": {
			func(s *spec) { s.GroupBy = strings.Split("a,b,c,d,e,f,g,h,i", ",") },
			[]string{"spec.groupBy: Too many: 9: must have at most 8 items"}, "InvalidSpec",
		},
		"thresholds": {
			func(s *spec) { s.Thresholds = []int32{0, 101, 50, 50} },
			[]string{
				"spec.thresholds[0]: Invalid value: 0", "spec.thresholds[1]: Invalid value: 101", "spec.thresholds[3]: Duplicate value: 50",
			}, "InvalidSpec",
		},
		"too many thresholds": {
			func(s *spec) { s.Thresholds = make([]int32, 17) },
			[]string{"spec.thresholds: Too many: 17: must have at most 16 items"}, "InvalidSpec",
		},
		"a default estimate": {
			func(s *spec) {
				s.DefaultEstimate = &budgetv1alpha1.Amounts{
					CostUSD: quantity("-1"), InputTokens: new(int64(-1)), OutputTokens: new(int64(-1)),
					Meters: []budgetv1alpha1.MeterAmount{{Meter: "x", Amount: -1}, {Meter: "x"}},
				}
			},
			[]string{
				"spec.defaultEstimate.costUSD: Invalid value", "spec.defaultEstimate.inputTokens: Invalid value",
				"spec.defaultEstimate.outputTokens: Invalid value", "spec.defaultEstimate.meters[0].amount: Invalid value",
				"spec.defaultEstimate.meters[1].meter: Duplicate value",
			}, "InvalidSpec",
		},
		"records that are kept shorter than a window": {
			func(s *spec) {
				s.Period, s.RecordTTLSeconds = budgetv1alpha1.Period{Type: "Monthly"}, new(int64(30*24*3600))
			},
			[]string{"spec.recordTTLSeconds: Invalid value: 2592000: a window of this period can last"}, "InvalidSpec",
		},
		"records that are not kept for ever in a lifetime": {
			func(s *spec) {
				s.Period, s.RecordTTLSeconds = budgetv1alpha1.Period{Type: "Lifetime"}, new(int64(1<<30))
			},
			[]string{"spec.recordTTLSeconds: Invalid value: 1073741824: windows of this period have no end or hang"}, "InvalidSpec",
		},
		"records are kept, but the period is wrong": {
			func(s *spec) { s.Period.Type, s.RecordTTLSeconds = "Dayly", new(int64(1)) },
			[]string{"spec.period.type: Invalid"}, "InvalidPeriod",
		},
		"records that are kept no time": {
			func(s *spec) { s.RecordTTLSeconds = new(int64) },
			[]string{"spec.recordTTLSeconds: Invalid value: 0: from 1 to 9223372036 seconds"}, "InvalidSpec",
		},
		"the selector is named first": {
			func(s *spec) { *s = spec{} },
			[]string{"spec.taskSelector: Required", "spec.period.type: Required", "spec: Required"}, "InvalidSelector",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rule, faults := budget.Compile(daily(tt.change))
			if len(faults) != len(tt.want) {
				t.Fatalf("%d faults, want %d: %v", len(faults), len(tt.want), faults)
			}
			for i, fault := range faults {
				if !strings.HasPrefix(fault.Error(), tt.want[i]) {
					t.Errorf("fault %q, want %q", fault, tt.want[i])
				}
			}
			if f := rule.Fault(); f == nil || f.Reason != tt.reason || !strings.HasPrefix(f.Message, tt.want[0]) {
				t.Errorf("the rule's fault is %+v, want %s: %s", f, tt.reason, tt.want[0])
			}
			if rule.Scope() != nil || rule.Period() != nil {
				t.Error("a rule with a fault has a scope: something could be summed for it")
			}
			in := ask("new", rule)
			in.Ledger = usage.NewMemory()
			if d := budget.Admit(in); d.Allowed {
				t.Error("a budget with a fault admits what it matches")
			}
		})
	}
}

func TestCompileAccepts(t *testing.T) {
	tb := daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.MaxCostUSD = quantity("1500m")
		s.MaxOutputTokens = new(int64(7))
		s.Limits = []budgetv1alpha1.Limit{{Meter: "tasks", Max: 3}, {Meter: "gpuSeconds", Max: 0}}
		s.Period = budgetv1alpha1.Period{Type: "Monthly", Timezone: "Europe/Berlin"}
		s.Action, s.UnknownUsage = "Warn", "Ignore"
		s.GroupBy = []string{"example.com/user", "team"}
		s.DefaultEstimate = &budgetv1alpha1.Amounts{CostUSD: quantity("0.25"), Meters: []budgetv1alpha1.MeterAmount{{Meter: "gpuSeconds", Amount: 9}}}
		s.Thresholds = []int32{90, 50}
		s.RecordTTLSeconds = new(int64(40 * 24 * 3600))
	})
	before := tb.DeepCopy()
	rule := compiled(t, tb)
	if diff := cmp.Diff(before, tb); diff != "" {
		t.Errorf("Compile changed the budget:\n%s", diff)
	}
	want := []budget.Limit{
		{Meter: usage.CostUSD, Max: 1_500_000_000}, {Meter: usage.OutputTokens, Max: 7},
		{Meter: usage.GPUSeconds, Max: 0}, {Meter: usage.Tasks, Max: 3},
	}
	if diff := cmp.Diff(want, rule.Limits()); diff != "" {
		t.Error(diff)
	}
	scope := rule.Scope()
	if diff := cmp.Diff(usage.Amounts{usage.CostUSD: 250_000_000, usage.GPUSeconds: 9}, scope.Default); diff != "" {
		t.Error(diff)
	}
	wantMeters := []usage.Meter{usage.CostUSD, usage.InputTokens, usage.OutputTokens, usage.Tasks, usage.GPUSeconds}
	if diff := cmp.Diff(wantMeters, scope.Meters); diff != "" {
		t.Error(diff)
	}
	got := fmt.Sprintln(rule.Name(), rule.Action(), rule.UnknownUsage(), rule.Period(), scope.GroupBy, scope.Name)
	if want := "team-a/daily Warn Ignore Monthly from day 1 00:00 Europe/Berlin [example.com/user team] team-a/daily\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	tb.Spec.GroupBy[0] = "changed later"
	if scope.GroupBy[0] != "example.com/user" {
		t.Error("the rule shares memory with the budget")
	}
}

// TestCompileOfNothing: a nil budget and an empty one are refused, and the rule
// that they give refuses.
func TestCompileOfNothing(t *testing.T) {
	for _, tb := range []*budgetv1alpha1.TaskBudget{nil, {}} {
		rule, faults := budget.Compile(tb)
		if rule == nil || rule.Fault() == nil || len(faults) == 0 {
			t.Errorf("Compile(%v) gives %v, %v", tb, rule, faults)
		}
	}
}

func TestRetentionFloor(t *testing.T) {
	rule := func(period budgetv1alpha1.Period, ttl *int64) *budget.Rule {
		return compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period, s.RecordTTLSeconds = period, ttl }))
	}
	const day = 24 * time.Hour
	weekly, sliding := rule(budgetv1alpha1.Period{Type: "Sliding", Duration: "7d"}, nil), rule(budgetv1alpha1.Period{Type: "Sliding", Duration: "5h"}, nil)
	kept := rule(budgetv1alpha1.Period{Type: "Sliding", Duration: "5h"}, new(int64(30*24*3600)))
	faulty, _ := budget.Compile(nil)
	tests := map[string]struct {
		rules []*budget.Rule
		want  time.Duration
		ends  bool
	}{
		"no rule":                   {nil, 0, true},
		"the longest window counts": {[]*budget.Rule{sliding, weekly}, 7 * day, true},
		"a rule's own wish counts":  {[]*budget.Rule{weekly, kept}, 30 * day, true},
		"a lifetime keeps for ever": {[]*budget.Rule{weekly, rule(budgetv1alpha1.Period{Type: "Lifetime"}, nil)}, 0, false},
		"first uses keep for ever":  {[]*budget.Rule{rule(budgetv1alpha1.Period{Type: "FirstUse", Duration: "5h"}, nil)}, 0, false},
		"a fault keeps for ever":    {[]*budget.Rule{weekly, faulty}, 0, false},
		"a nil rule keeps for ever": {[]*budget.Rule{nil}, 0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ends := budget.RetentionFloor(tt.rules...); got != tt.want || ends != tt.ends {
				t.Errorf("%s, %v, want %s, %v", got, ends, tt.want, tt.ends)
			}
		})
	}
}

// TestRetentionKeepsEveryRecordThatCounts: no record that counts at some instant
// has outlived the floor by then.
func TestRetentionKeepsEveryRecordThatCounts(t *testing.T) {
	run(t, func(t *rapid.T, w *world) {
		for _, rule := range w.input(w.history).Rules {
			floor, ends := budget.RetentionFloor(rule)
			if !ends {
				continue
			}
			var kept usage.History
			for _, r := range w.history.Records {
				if r.CompletionTime.Add(floor).After(w.now) {
					kept.Records = append(kept.Records, r)
				}
			}
			for _, limit := range rule.Limits() {
				q := usage.Query{Scope: rule.Scope(), Labels: w.task.Labels, Meter: limit.Meter, At: w.now}
				all, err := w.history.Used(q)
				some, _ := kept.Used(q)
				all.Held = 0
				if err == nil && all != some {
					t.Fatalf("%s: %+v, and without the expired records %+v", rule.Period(), all, some)
				}
			}
		}
	})
}

// TestCompileRefusesWhatIsNoBudget: an object of another kind, and a budget that
// no task could match.
func TestCompileRefusesWhatIsNoBudget(t *testing.T) {
	tests := map[string]struct {
		change func(*budgetv1alpha1.TaskBudget)
		want   string
	}{
		"another kind":    {func(tb *budgetv1alpha1.TaskBudget) { tb.Kind = "TaskRecord" }, `kind: Unsupported value: "TaskRecord"`},
		"another version": {func(tb *budgetv1alpha1.TaskBudget) { tb.APIVersion = "bursar.dev/v1" }, `apiVersion: Unsupported value: "bursar.dev/v1"`},
		"no namespace":    {func(tb *budgetv1alpha1.TaskBudget) { tb.Namespace = "" }, "metadata.namespace: Required value"},
		"no name":         {func(tb *budgetv1alpha1.TaskBudget) { tb.Name = "" }, "metadata.name: Required value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tb := daily(nil)
			tb.APIVersion, tb.Kind = "bursar.dev/v1alpha1", "TaskBudget"
			compiled(t, tb)
			tt.change(tb)
			if rule, faults := budget.Compile(tb); len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), tt.want) || rule.Fault() == nil {
				t.Errorf("%v, want %s", faults, tt.want)
			}
		})
	}
}

// TestCompileRepeatsLittle: a fault repeats no more of a manifest than a person
// can read.
func TestCompileRepeatsLittle(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	_, faults := budget.Compile(daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.Action, s.Period.Type, s.GroupBy = budgetv1alpha1.Action(long), long, []string{long}
		s.TaskSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": long}}
	}))
	if len(faults) < 4 {
		t.Errorf("%d faults", len(faults))
	}
	for _, fault := range faults {
		if len(fault.Error()) > 2048 {
			t.Errorf("%d bytes: %.200s", len(fault.Error()), fault)
		}
	}
}
