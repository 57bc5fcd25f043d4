package budget_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

func TestObserve(t *testing.T) {
	rule := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.MaxInputTokens, s.Thresholds, s.GroupBy = new(int64(1000)), []int32{80, 50, 100}, []string{"user"}
		s.UnknownUsage = "Ignore"
	}))
	u1 := map[string]string{"user": "u1"}
	memory := usage.NewMemory()
	record, err := usage.RecordUsage(usage.Completion{
		Task: usage.Task{UID: "a", Namespace: "team-a"}, Phase: usage.Failed, Labels: u1, CompletionTime: noon,
		Reported: usage.Amounts{usage.CostUSD: usage.MustUSD("0.5"), usage.OutputTokens: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := memory.Add(record); err != nil {
		t.Fatal(err)
	}
	if err := memory.Renew(usage.Hold{
		UID: "b", Namespace: "team-a", Labels: u1, ExpiresAt: noon.Add(time.Hour),
		Amounts: usage.Amounts{usage.CostUSD: usage.MustUSD("0.3")},
	}); err != nil {
		t.Fatal(err)
	}
	midnight := time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC)
	got := budget.Observe(rule, memory, u1, noon)
	if !got.Window.Start.Equal(midnight) {
		t.Errorf("the window starts at %s", got.Window.Start)
	}
	want := budget.Observation{
		Group: "user=u1", Window: got.Window, Unknown: 1, Percent: 80, Reached: []int32{50, 80},
		Used: usage.Amounts{usage.CostUSD: usage.MustUSD("0.5"), usage.InputTokens: 0, usage.OutputTokens: 3, usage.Tasks: 1},
		Held: usage.Amounts{usage.CostUSD: usage.MustUSD("0.3"), usage.InputTokens: 0, usage.OutputTokens: 0, usage.Tasks: 1},
		Figures: []budget.Figure{
			{
				Meter: usage.CostUSD, Limit: usage.USD, Used: usage.MustUSD("0.5"), Held: usage.MustUSD("0.3"),
				Remaining: usage.MustUSD("0.2"),
			},
			{Meter: usage.InputTokens, Limit: 1000, Remaining: 1000, Unknown: 1, Uncharged: 1},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if other := budget.Observe(rule, memory, nil, noon); other.Group != "!user" || other.Percent != 0 {
		t.Errorf("the group without a user stands at %+v", other)
	}
}

func TestObserveWhatCannotBeEvaluated(t *testing.T) {
	faulty, _ := budget.Compile(nil)
	if o := budget.Observe(faulty, usage.NewMemory(), nil, noon); o.Fault == nil || o.Fault.Reason != "InvalidSelector" {
		t.Errorf("%+v", o)
	}
	rule := compiled(t, daily(nil))
	if o := budget.Observe(rule, nil, nil, noon); o.Fault == nil || o.Fault.Reason != "ListError" {
		t.Errorf("without a ledger: %+v", o)
	}
	life := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.Period = budgetv1alpha1.Period{Type: "Lifetime", EndsAt: someTime(noon)}
	}))
	if o := budget.Observe(life, usage.NewMemory(), nil, noon); o.Fault != nil || o.Outside != budget.Ended {
		t.Errorf("after its life: %+v", o)
	}
}

func TestPercent(t *testing.T) {
	const most = 1<<63 - 1
	tests := map[string]struct {
		used, limit int64
		want        int32
	}{
		"nothing":                      {0, 10, 0},
		"it is rounded down":           {999, 1000, 99},
		"the limit":                    {1000, 1000, 100},
		"more than the limit":          {2500, 1000, 250},
		"a zero limit is reached":      {0, 0, 100},
		"no limit is too large":        {most, most, 100},
		"no percentage is too large":   {most, 1, 1<<31 - 1},
		"a large one that just fits":   {2147483647, 100, 2147483647},
		"the first that does not fit":  {2147483648, 100, 1<<31 - 1},
		"the largest under the limit":  {most - 1, most, 99},
		"a percentage of a huge limit": {most / 2, most, 49},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rule := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
				s.MaxCostUSD, s.MaxInputTokens = nil, &tt.limit
			}))
			record, err := usage.RecordUsage(usage.Completion{
				Task: usage.Task{UID: "a", Namespace: "team-a"}, Phase: usage.Failed, CompletionTime: noon,
				Reported: usage.Amounts{usage.InputTokens: tt.used},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := budget.Observe(rule, usage.History{Records: []usage.Record{record}}, nil, noon).Percent; got != tt.want {
				t.Errorf("%d of %d is %d percent, want %d", tt.used, tt.limit, got, tt.want)
			}
		})
	}
}

// TestThresholdsFireOncePerWindow plays two days.
func TestThresholdsFireOncePerWindow(t *testing.T) {
	rule := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) { s.Thresholds = []int32{50, 80, 100} }))
	memory := usage.NewMemory()
	add := func(uid, cost string, at time.Time) {
		record, err := usage.RecordUsage(usage.Completion{
			Task: usage.Task{UID: types.UID(uid), Namespace: "team-a"}, Phase: usage.Succeeded, CompletionTime: at,
			Results: map[string]string{"cost-usd": cost},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := memory.Add(record); err != nil {
			t.Fatal(err)
		}
	}
	var told []int32
	var since time.Time
	look := func(now time.Time) []int32 {
		o := budget.Observe(rule, memory, nil, now)
		var news []int32
		news, told = o.Fire(told, since)
		since = o.Window.Start
		return news
	}
	check := func(what string, now time.Time, want ...int32) {
		t.Helper()
		if diff := cmp.Diff(want, look(now), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	day := 24 * time.Hour
	check("nothing is used", noon)
	add("a", "0.6", noon)
	check("half is used", noon, 50)
	check("nothing new", noon)
	add("b", "0.5", noon)
	check("two at once", noon, 80, 100)
	memory.Remove("b")
	check("less again", noon)
	add("c", "0.5", noon)
	check("and more again, which was told", noon)
	check("a new day", noon.Add(day))
	add("d", "0.5", noon.Add(day))
	check("half of the new day is used", noon.Add(day), 50)
}

func TestThresholdsOfASlidingWindowFireAgain(t *testing.T) {
	rule := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.Period, s.Thresholds = budgetv1alpha1.Period{Type: "Sliding", Duration: "1h"}, []int32{50}
	}))
	record, err := usage.RecordUsage(usage.Completion{
		Task: usage.Task{UID: "a", Namespace: "team-a"}, Phase: usage.Succeeded, CompletionTime: noon,
		Results: map[string]string{"cost-usd": "0.5"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ledger := usage.History{Records: []usage.Record{record}}
	var told []int32
	for i, want := range [][]int32{{50}, nil, nil, nil} {
		o := budget.Observe(rule, ledger, nil, noon.Add(time.Duration(i)*30*time.Minute))
		var news []int32
		news, told = o.Fire(told, o.Window.Start)
		if diff := cmp.Diff(want, news, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("after %d half hours: %s", i, diff)
		}
	}
	if len(told) != 0 {
		t.Errorf("after the record left, %v is still told", told)
	}
	o := budget.Observe(rule, ledger, nil, noon)
	if news, _ := o.Fire(told, o.Window.Start); len(news) != 1 {
		t.Error("a threshold that was left and is reached again is not told")
	}
}

func TestAFaultForgetsNoThreshold(t *testing.T) {
	faulty, _ := budget.Compile(nil)
	o := budget.Observe(faulty, usage.NewMemory(), nil, noon)
	if news, told := o.Fire([]int32{50}, noon); news != nil || len(told) != 1 {
		t.Errorf("tells %v and keeps %v", news, told)
	}
}

// TestThresholdsOfFirstUsesFireOnce: a hold that outlives its window is no new
// window at each look, and a window that opened within a second is the same one
// when its start comes back from a status in whole seconds.
func TestThresholdsOfFirstUsesFireOnce(t *testing.T) {
	rule := compiled(t, daily(func(s *budgetv1alpha1.TaskBudgetSpec) {
		s.Period, s.Thresholds = budgetv1alpha1.Period{Type: "FirstUse", Duration: "1h"}, []int32{80}
	}))
	ledger := usage.NewMemory()
	in := ask("long", rule)
	in.Task.Estimate[usage.CostUSD] = usage.MustUSD("0.9")
	in.Now = noon.Add(700 * time.Millisecond)
	if d := budget.Reserve(ledger, in, 10*time.Hour); !d.Allowed {
		t.Fatal(d.Message())
	}
	var told []int32
	var since time.Time
	fired := 0
	for i := range 20 {
		o := budget.Observe(rule, ledger, nil, in.Now.Add(time.Duration(i)*10*time.Minute))
		if i > 6 && (!o.Closed || !o.Window.Start.IsZero()) {
			t.Errorf("after %d minutes the window %s is open", 10*i, o.Window)
		}
		var news []int32
		news, told = o.Fire(told, since)
		fired += len(news)
		if !o.Closed {
			since = o.Window.Start.Truncate(time.Second)
		}
	}
	if fired != 1 {
		t.Errorf("told %d times, want once", fired)
	}
}

func TestObserveWhatWasNotCompiled(t *testing.T) {
	for _, rule := range []*budget.Rule{nil, {}} {
		if o := budget.Observe(rule, usage.NewMemory(), nil, noon); o.Fault == nil {
			t.Errorf("%+v", o)
		}
	}
}
