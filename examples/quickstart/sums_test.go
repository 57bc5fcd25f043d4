package main

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// sums is what runs-expected.json says of one local day.
type sums struct {
	CostUSD      string
	InputTokens  int64
	OutputTokens int64
	Tasks        int
	UnknownCost  int
	NoUsage      int
}

func TestWhereNothingIsHeldBackTheSumsAreThoseOfTheFile(t *testing.T) {
	var want struct{ Sums map[string]map[string]sums }
	text, err := os.ReadFile("testdata/runs-expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, days := range want.Sums {
		for day, s := range days { // 22.128510 and 22.12851 are one amount
			s.CostUSD = usage.FormatUSD(usage.MustUSD(s.CostUSD))
			days[day] = s
		}
	}
	told, err := played(t, "-budgets", "testdata/unlimited.yaml").journal.report()
	if err != nil {
		t.Fatal(err)
	}
	if len(told.HeldBack) > 0 {
		t.Errorf("%d runs were held back", len(told.HeldBack))
	}
	got := map[string]map[string]sums{}
	for _, b := range told.Budgets {
		got[b.Name] = map[string]sums{}
		for _, w := range b.Windows {
			if w.Tasks == 0 { // a task ran in it, none completed
				continue
			}
			got[b.Name][w.Window.Start.In(b.zone).Format(time.DateOnly)] = sums{
				usage.FormatUSD(w.Known[usage.CostUSD]), w.Known[usage.InputTokens], w.Known[usage.OutputTokens],
				w.Tasks, w.UnknownCost, w.NoUsage,
			}
		}
	}
	if diff := cmp.Diff(want.Sums, got); diff != "" {
		t.Errorf("sums (-want +got):\n%s", diff)
	}
}

func TestEveryRunIsRecordedExactlyOnceAndAsLongAsItWas(t *testing.T) {
	runs, err := readRuns("demo:runs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want := map[types.UID][]time.Duration{}
	for _, r := range runs {
		want[r.UID] = []time.Duration{r.CompletionTime.Sub(r.StartTime)}
	}
	got := map[types.UID][]time.Duration{}
	c := played(t)
	for _, r := range c.journal.records {
		got[r.UID] = append(got[r.UID], r.CompletionTime.Sub(r.StartTime))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if records, holds := c.ledger.Len(); records != len(runs) || holds != 0 {
		t.Errorf("the ledger has %d records and %d holds, want %d and 0", records, holds, len(runs))
	}
}

// The bound of the design: what tasks spend beyond what was held for them, and
// nothing else, can take a budget over its limit.
func TestNoWindowExceedsItsLimitByMoreThanTasksExceedTheirHolds(t *testing.T) {
	c := played(t)
	full := 0
	for _, w := range c.journal.order {
		if w.rule.Action() != budgetv1alpha1.ActionBlock {
			continue
		}
		told, err := c.journal.reportWindow(w)
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range told.Limits {
			excess := c.journal.excess(w, limit.Meter)
			if limit.Used > limit.Limit+excess {
				t.Errorf("%s %s %s: used %d, limit %d, tasks exceeded their holds by %d",
					w.rule.Name(), w.group, limit.Meter, limit.Used, limit.Limit, excess)
			}
			if limit.Used >= limit.Limit {
				full++
			}
		}
	}
	if full < 3 {
		t.Errorf("only %d limits were reached: the demo proves nothing", full)
	}
}

// excess sums what the tasks of a window spent beyond what was held for them.
func (j *journal) excess(w *window, m usage.Meter) int64 {
	held := w.rule.Scope().Default[m]
	if m == usage.Tasks {
		held = 1
	}
	var sum int64
	for i := range j.records {
		if r := &j.records[i]; w.holds(r) && r.Usage.Of(m).Basis.Known() {
			sum += max(0, r.Usage.Of(m).Amount-held)
		}
	}
	return sum
}

func TestNobodyWaitsWhereThereIsRoom(t *testing.T) { checkWaits(t, played(t)) }

// played plays the demo, or what the arguments say, and gives what is left.
func played(t *testing.T, args ...string) *controller {
	t.Helper()
	o, err := parseOptions(args, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	c, runs, err := o.load()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.play(runs); err != nil {
		t.Fatal(err)
	}
	return c
}
