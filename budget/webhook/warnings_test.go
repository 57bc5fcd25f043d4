package webhook_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/budget/webhook"
)

var now = time.Date(2026, time.March, 14, 12, 0, 0, 0, time.UTC)

// usd reads dollars.
func usd(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

// newBudget is a budget that nothing is wrong with.
func newBudget(change func(*budgetv1alpha1.TaskBudgetSpec)) *budgetv1alpha1.TaskBudget {
	tb := &budgetv1alpha1.TaskBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "bursar.dev/v1alpha1", Kind: "TaskBudget"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "daily"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{},
			Period:       budgetv1alpha1.Period{Type: "Daily"},
			MaxCostUSD:   usd("10"),
		},
	}
	if change != nil {
		change(&tb.Spec)
	}
	return tb
}

func expression(key string, operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: values}
}

// Each warning has a spec that earns it and the nearest one that does not.
func TestWarnings(t *testing.T) {
	type spec = budgetv1alpha1.TaskBudgetSpec
	const day = 24 * 60 * 60
	tests := map[string]struct {
		change func(*spec)
		want   []string
	}{
		"a plain budget": {nil, nil},
		"a label that must be there and must not": {
			func(s *spec) {
				s.TaskSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
					expression("team", "Exists"), expression("team", "DoesNotExist"),
				}
			},
			[]string{"spec.taskSelector: what it demands of label team contradicts itself, so that the budget selects no task"},
		},
		"two labels, one of which must not be there": {
			func(s *spec) {
				s.TaskSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
					expression("team", "Exists"), expression("crew", "DoesNotExist"),
				}
			}, nil,
		},
		"values that exclude each other": {
			func(s *spec) {
				s.TaskSelector.MatchLabels = map[string]string{"team": "a"}
				s.TaskSelector.MatchExpressions = []metav1.LabelSelectorRequirement{expression("team", "In", "b", "c")}
			},
			[]string{"spec.taskSelector: what it demands of label team contradicts itself, so that the budget selects no task"},
		},
		"every value is excluded": {
			func(s *spec) {
				s.TaskSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
					expression("team", "NotIn", "a"), expression("team", "In", "a", "b"), expression("team", "NotIn", "b"),
				}
			},
			[]string{"spec.taskSelector: what it demands of label team contradicts itself, so that the budget selects no task"},
		},
		"one value is left": {
			func(s *spec) {
				s.TaskSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
					expression("team", "NotIn", "a"), expression("team", "In", "a", "b"),
				}
			}, nil,
		},
		"a value is excluded and no label is one, too": {
			func(s *spec) {
				s.TaskSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
					expression("team", "NotIn", "a"), expression("team", "DoesNotExist"),
				}
			}, nil,
		},
		"groups by a label that has one value": {
			func(s *spec) {
				s.TaskSelector.MatchLabels = map[string]string{"team": "a"}
				s.GroupBy = []string{"user", "team"}
			},
			[]string{"spec.groupBy[1]: every task that the budget selects has the same team, so that it makes no groups"},
		},
		"groups by a label that is never there": {
			func(s *spec) {
				s.TaskSelector.MatchExpressions = []metav1.LabelSelectorRequirement{expression("team", "DoesNotExist")}
				s.GroupBy = []string{"team"}
			},
			[]string{"spec.groupBy[0]: every task that the budget selects has the same team, so that it makes no groups"},
		},
		"groups by a label that has two values": {
			func(s *spec) {
				s.TaskSelector.MatchExpressions = []metav1.LabelSelectorRequirement{expression("team", "In", "a", "b")}
				s.GroupBy = []string{"team"}
			}, nil,
		},
		"limits of 0": {
			func(s *spec) {
				s.MaxCostUSD, s.MaxOutputTokens = usd("0"), new(int64)
				s.Limits = []budgetv1alpha1.Limit{{Meter: "tasks"}, {Meter: "seconds", Max: 1}}
			},
			[]string{
				"spec.maxCostUSD: 0 refuses every task that the budget selects; leave it out for no limit",
				"spec.maxOutputTokens: 0 refuses every task that the budget selects; leave it out for no limit",
				"spec.limits[tasks]: 0 refuses every task that the budget selects; leave it out for no limit",
			},
		},
		"a limit of 0 that only warns": {
			func(s *spec) { s.MaxInputTokens, s.Action = new(int64), "Warn" },
			[]string{"spec.maxInputTokens: 0 warns of every task that the budget selects; leave it out for no limit"},
		},
		"the smallest limit": {func(s *spec) { s.MaxCostUSD = usd("1n") }, nil},
		"a meter that looks like a standard one": {
			func(s *spec) {
				s.Limits = []budgetv1alpha1.Limit{{Meter: "GPUseconds", Max: 1}, {Meter: "InputTokens", Max: 1}, {Meter: "tasks", Max: 1}}
			},
			[]string{
				"spec.limits[GPUseconds]: a meter of that name is not counted by itself; the standard meter is gpuSeconds",
				"spec.limits[InputTokens]: a meter of that name is not counted by itself; the standard meter is inputTokens",
			},
		},
		"an estimate above the limit": {
			func(s *spec) { s.DefaultEstimate = &budgetv1alpha1.Amounts{CostUSD: usd("10.000000001")} },
			[]string{"spec.defaultEstimate: 10.000000001 of costUSD is more than spec.maxCostUSD allows (10); " +
				"no task without an estimate of its own will be admitted"},
		},
		"an estimate that is the limit": {
			func(s *spec) { s.DefaultEstimate = &budgetv1alpha1.Amounts{CostUSD: usd("10")} }, nil,
		},
		"an estimate of what is not limited": {
			func(s *spec) { s.DefaultEstimate = &budgetv1alpha1.Amounts{InputTokens: new(int64(1 << 60))} }, nil,
		},
		"an estimate above a limit that only warns": {
			func(s *spec) {
				s.DefaultEstimate, s.Action = &budgetv1alpha1.Amounts{CostUSD: usd("11")}, "Warn"
			}, nil,
		},
		"records that go with their window": {
			func(s *spec) { s.RecordTTLSeconds = new(int64(day)) },
			[]string{"spec.recordTTLSeconds: records live 24h0m0s and a window lasts up to 24h0m0s; " +
				"keep them longer to see a whole window after its end"},
		},
		"records that stay a tenth longer, but for a second": {
			func(s *spec) { s.RecordTTLSeconds = new(int64(day + day/10 - 1)) },
			[]string{"spec.recordTTLSeconds: records live 26h23m59s and a window lasts up to 24h0m0s; " +
				"keep them longer to see a whole window after its end"},
		},
		"records that stay a tenth longer": {func(s *spec) { s.RecordTTLSeconds = new(int64(day + day/10)) }, nil},
		"thresholds of a budget that only warns": {
			func(s *spec) { s.Thresholds, s.Action = []int32{80}, "Warn" },
			[]string{"spec.thresholds: the thresholds are told, but a budget with action Warn refuses no task, not even at 100 percent"},
		},
		"thresholds of a budget that blocks": {func(s *spec) { s.Thresholds = []int32{80} }, nil},
		"a budget that only warns":           {func(s *spec) { s.Action = "Warn" }, nil},
		"a lifetime that is over": {
			func(s *spec) {
				s.Period = budgetv1alpha1.Period{Type: "Lifetime", EndsAt: &metav1.Time{Time: now}}
			},
			[]string{"spec.period.endsAt: 2026-03-14T12:00:00Z is over; the budget allows nothing any more"},
		},
		"the last second of a lifetime": {
			func(s *spec) {
				s.Period = budgetv1alpha1.Period{Type: "Lifetime", EndsAt: &metav1.Time{Time: now.Add(time.Second)}}
			}, nil,
		},
		"a zone with the sign of POSIX": {
			func(s *spec) { s.Period.Timezone = "Etc/GMT+3" },
			[]string{"spec.period.timezone: Etc/GMT+3 is 3 hours behind UTC; the sign in this name is that of POSIX"},
		},
		"such a zone in the east": {
			func(s *spec) { s.Period.Timezone = "Etc/GMT-14" },
			[]string{"spec.period.timezone: Etc/GMT-14 is 14 hours ahead of UTC; the sign in this name is that of POSIX"},
		},
		"such a zone without an offset": {func(s *spec) { s.Period.Timezone = "Etc/GMT+0" }, nil},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			tb := newBudget(test.change)
			rule, faults := budget.Compile(tb)
			if len(faults) > 0 {
				t.Fatalf("the budget is not legal: %v", faults)
			}
			if diff := cmp.Diff(test.want, webhook.Warnings(tb, rule, now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWarningsOfNothing(t *testing.T) {
	bad := newBudget(func(s *budgetv1alpha1.TaskBudgetSpec) { s.TaskSelector, s.MaxCostUSD = nil, usd("0") })
	rule, _ := budget.Compile(bad)
	for name, got := range map[string][]string{
		"no budget":     webhook.Warnings(nil, rule, now),
		"no rule":       webhook.Warnings(bad, nil, now),
		"a faulty rule": webhook.Warnings(bad, rule, now),
	} {
		if got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A selector that is told to select nothing selects nothing, and one that selects something is never told to.
func TestEmptySelectorAgreesWithSelection(t *testing.T) {
	pool := []metav1.LabelSelectorRequirement{
		expression("k", "Exists"), expression("k", "DoesNotExist"), expression("k", "In", "a"), expression("k", "In", "a", "b"),
		expression("k", "NotIn", "a"), expression("k", "NotIn", "a", "b"), expression("k", "In", "b", "c"),
	}
	for bits := range 1 << len(pool) {
		selector := &metav1.LabelSelector{}
		for i, e := range pool {
			if bits&(1<<i) != 0 {
				selector.MatchExpressions = append(selector.MatchExpressions, e)
			}
		}
		rule, faults := budget.Compile(newBudget(func(s *budgetv1alpha1.TaskBudgetSpec) { s.TaskSelector = selector }))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		selects := rule.Matches("team-a", nil)
		for _, value := range []string{"a", "b", "c", "d"} {
			selects = selects || rule.Matches("team-a", map[string]string{"k": value})
		}
		if warned := len(webhook.EmptySelector(selector)) > 0; warned == selects {
			t.Errorf("%s: selects %v, warned %v", metav1.FormatLabelSelector(selector), selects, warned)
		}
	}
}
