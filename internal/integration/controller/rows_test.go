package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// The rows of the mission that had no test of their own on the real API server.

func TestA1_ASelectorPicksTasksByTheirLabelsInItsNamespace(t *testing.T) {
	t.Parallel()
	elsewhere := newWorld(t, clock.RealClock{})
	elsewhere.budget("foreign", "0", nil) // of another namespace: it blocks nothing here
	for sentence, c := range map[string]struct {
		selector metav1.LabelSelector
		blocked  []string
	}{
		"an empty selector is for every task": {metav1.LabelSelector{}, []string{"bare", "gold", "silver"}},
		"matchLabels":                         {metav1.LabelSelector{MatchLabels: gold}, []string{"gold"}},
		"matchExpressions":                    {metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "NotIn", Values: []string{"gold"}}}}, []string{"bare", "silver"}},
		"both together": {metav1.LabelSelector{
			MatchLabels: gold, MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "DoesNotExist"}},
		}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, clock.RealClock{})
			w.budget("closed", "0", nil, func(s *budgetv1alpha1.TaskBudgetSpec) { s.TaskSelector = &c.selector })
			r := w.start(settings{idle: true})
			var refused []string
			for _, task := range []*AgentTask{w.task("bare", "", nil), w.task("gold", "", gold), w.task("silver", "", map[string]string{"team": "silver"})} {
				answer, err := r.gate.Admit(t.Context(), task)
				must(t, err)
				if !answer.Admitted {
					refused = append(refused, task.Name)
				}
			}
			if diff := cmp.Diff(c.blocked, refused); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A2, A18: the zone says when a day begins, the completion time in which day a record counts, and an injected clock what day it is.
func TestA2_A18_TheCompletionTimeDecidesInTheZoneOfTheBudget(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Date(2026, 7, 1, 22, 30, 0, 0, time.UTC)) // 2 July, 0:30, in Berlin
	w := newWorld(t, c)
	w.budget("berlin", "5", gold, func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.Timezone = "Europe/Berlin" })
	w.budget("utc", "5", gold)
	w.start(settings{})
	spendAt := func(name, cost string, at time.Time) {
		record, err := usage.RecordUsage(usage.Completion{
			Task:  usage.Task{UID: types.UID(name), Namespace: w.namespace, Name: name},
			Phase: usage.Succeeded, Labels: gold, CompletionTime: at, Results: map[string]string{"cost-usd": cost},
		})
		must(t, err)
		must(t, shared.Client.Create(t.Context(), budget.NewTaskRecord(record)))
	}
	midnight := time.Date(2026, 7, 1, 22, 0, 0, 0, time.UTC)
	spendAt("before", "1", midnight.Add(-time.Second))
	spendAt("at", "0.5", midnight)
	spendAt("yesterday", "2", time.Date(2026, 6, 30, 23, 59, 59, 0, time.UTC))
	for name, want := range map[string]string{"berlin": "0.5", "utc": "1.5"} {
		status := w.awaitStatus(name, "counts "+want, func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.Display != nil && s.Display.Used == want })
		start := map[string]time.Time{"berlin": midnight, "utc": time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)}[name]
		if !status.PeriodStart.Time.Equal(start) || !status.PeriodEnd.Time.Equal(start.Add(24*time.Hour)) {
			t.Errorf("%s: window from %v to %v", name, status.PeriodStart, status.PeriodEnd)
		}
	}
}

func TestA3_TokensAreLimitedLikeCost(t *testing.T) {
	t.Parallel()
	for meter, change := range map[string]func(*budgetv1alpha1.TaskBudgetSpec){
		"costUSD":      func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = usd("100") },
		"inputTokens":  func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD, s.MaxInputTokens = nil, new(int64(100)) },
		"outputTokens": func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD, s.MaxOutputTokens = nil, new(int64(100)) },
	} {
		t.Run(meter, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, clock.RealClock{})
			w.budget("daily", "100", gold, change)
			r := w.start(settings{idle: true})
			spend := func(name string, amount int64) {
				reported := usage.Amounts{usage.CostUSD: 0, usage.InputTokens: 0, usage.OutputTokens: 0}
				if reported[usage.Meter(meter)] = amount; meter == "costUSD" {
					reported[usage.CostUSD] = amount * usage.USD
				}
				record, err := usage.RecordUsage(usage.Completion{
					Task:  usage.Task{UID: types.UID(name), Namespace: w.namespace, Name: name},
					Phase: usage.Succeeded, Labels: gold, CompletionTime: w.clock.Now(), Reported: reported,
				})
				must(t, err)
				must(t, shared.Client.Create(t.Context(), budget.NewTaskRecord(record)))
			}
			answer := func(name string, percent int32) controller.Result {
				w.awaitStatus("daily", fmt.Sprint(percent, "%"), func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.Percent != nil && *s.Percent == percent })
				answer, err := r.gate.Admit(t.Context(), w.task(name, "", gold))
				must(t, err)
				return answer
			}
			spend("one", 99)
			if a := answer("below", 99); !a.Admitted {
				t.Errorf("refused below the limit: %s", a.Decision.Message())
			}
			spend("two", 1)
			if a := answer("at", 100); a.Admitted || !strings.Contains(a.Decision.Message(), meter+" used 100 reaches the limit 100") {
				t.Errorf("used = limit does not block: %s", a.Decision.Message())
			}
		})
	}
}

func TestA4_AllMatchingBudgetsMustAdmitAndAllThatRefuseAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("zebra", "0.1", gold)
	w.budget("alpha", "0.1", nil)
	w.budget("wide", "100", nil)
	w.budget("other", "0", map[string]string{"team": "silver"})
	w.start(settings{})
	w.task("first", "1", gold)
	alpha, zebra := "TaskBudget "+w.namespace+"/alpha", "TaskBudget "+w.namespace+"/zebra"
	message := w.awaitBlocked("first").Message
	if a, z := strings.Index(message, alpha), strings.Index(message, zebra); a < 0 || z < a || strings.Contains(message, "/wide") || strings.Contains(message, "/other") {
		t.Errorf("want %s and then %s, and no other: %s", alpha, zebra, message)
	}
	w.raise("alpha", "5")
	w.eventually("one of two still refuses", func() error {
		if message := w.awaitBlocked("first").Message; strings.Contains(message, alpha) || !strings.Contains(message, zebra) {
			return fmt.Errorf("%s", message)
		}
		return nil
	})
	w.raise("zebra", "5")
	w.awaitRunning("first")
	w.task("ungated", "1000", map[string]string{"team": "none"}) // only alpha and wide match, with too little
	w.awaitBlocked("ungated")
	for _, name := range []string{"alpha", "wide"} {
		must(t, shared.Client.Delete(t.Context(), budgetOf(w, name)))
	}
	if task := w.awaitRunning("ungated"); len(task.Status.Conditions) > 0 { // no budget is no gate
		t.Errorf("%v", task.Status.Conditions)
	}
}

// A11: who looks for the records of a budget has the API server pick them by its selector. It knows nothing of windows: those
// are bursar's.
func TestA11_RecordsAreListedByLabelOnTheServer(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	w := newWorld(t, c)
	tb := w.budget("daily", "5", gold)
	w.start(settings{})
	run := func(name string, set map[string]string) {
		task := w.task(name, "0.5", set)
		w.awaitRunning(name)
		w.finish(name, "0.5")
		w.awaitRecord(task)
	}
	run("yesterday", gold)
	c.Step(24 * time.Hour)
	run("today", gold)
	run("other", map[string]string{"team": "silver"})
	selector, err := metav1.LabelSelectorAsSelector(tb.Spec.TaskSelector)
	must(t, err)
	list := func(by labels.Selector) (names []string) {
		found := &budgetv1alpha1.TaskRecordList{}
		must(t, shared.Client.List(t.Context(), found, client.InNamespace(w.namespace), client.MatchingLabelsSelector{Selector: by}))
		for _, record := range found.Items {
			names = append(names, record.Spec.TaskRef.Name)
		}
		return names
	}
	if got := list(selector); len(got) != 2 || strings.Contains(strings.Join(got, " "), "other") {
		t.Errorf("listed %v", got)
	}
	w.awaitStatus("daily", "counts today's alone", func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.Display != nil && s.Display.Used == "0.5" })
}
