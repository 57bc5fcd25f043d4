package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// groupWorld is a budget of 1 USD for each user, its ledger and its status.
type groupWorld struct {
	t      *testing.T
	rule   *budget.Rule
	shelf  *shelf
	status budgetv1alpha1.TaskBudgetStatus
	now    time.Time
	made   int
}

func newGroupWorld(t *testing.T, period budgetv1alpha1.Period) *groupWorld {
	t.Helper()
	tb := &budgetv1alpha1.TaskBudget{}
	tb.Namespace, tb.Name = "team-a", "per-user"
	tb.Spec.Period, tb.Spec.GroupBy, tb.Spec.Thresholds = period, []string{"user"}, []int32{50, 80}
	tb.Spec.TaskSelector = &metav1.LabelSelector{}
	tb.Spec.Limits = []budgetv1alpha1.Limit{{Meter: "builds", Max: 100}}
	rule, faults := budget.Compile(tb)
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	return &groupWorld{t: t, rule: rule, shelf: newShelf("team-a", nil), now: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)}
}

func (w *groupWorld) spend(user string, builds int64) types.UID {
	w.t.Helper()
	w.made++
	uid := types.UID(fmt.Sprint("uid-", w.made))
	if err := w.shelf.ledger.Add(usage.Record{
		Task: usage.Task{UID: uid, Namespace: "team-a"}, Phase: usage.Succeeded, CompletionTime: w.now,
		Labels: map[string]string{"user": user},
		Usage:  usage.Figures{"builds": {Amount: builds, Basis: usage.Reported}},
	}); err != nil {
		w.t.Fatal(err)
	}
	return uid
}

// told gives what is told now, in short: "ada 50".
func (w *groupWorld) told() []string {
	w.t.Helper()
	s := w.shelf.standingOf(w.rule, w.status.GroupThresholds, w.now)
	var short []string
	for _, note := range fire(&w.status, &s) {
		var user string
		var percent, threshold int
		if _, err := fmt.Sscanf(note, "Group user=%s %d%% of the limit are used or held, the threshold is %d%%.", &user, &percent, &threshold); err != nil {
			short = append(short, note)
			continue
		}
		short = append(short, fmt.Sprintf("%s %d", strings.TrimSuffix(user, ":"), threshold))
	}
	w.status.PeriodStart, _ = bounds(&s.observation)
	if again := w.shelf.standingOf(w.rule, w.status.GroupThresholds, w.now); fire(w.status.DeepCopy(), &again) != nil {
		w.t.Error("told twice")
	}
	return short
}

func (w *groupWorld) want(sentence string, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.told()); diff != "" {
		w.t.Errorf("%s: %s", sentence, diff)
	}
}

// TestC6_C7_EachGroupIsToldOncePerWindow plays two days.
func TestC6_C7_EachGroupIsToldOncePerWindow(t *testing.T) {
	t.Parallel()
	w := newGroupWorld(t, budgetv1alpha1.Period{Type: "Daily"})
	w.want("nothing is used")
	w.spend("ada", 60)
	w.want("one threshold", "ada 50")
	all := w.spend("bob", 90)
	w.want("another group, and both at once", "bob 50", "bob 80")
	w.spend("ada", 30)
	w.want("what is left of the first", "ada 80")
	w.shelf.ledger.Remove(all)
	w.want("a group that nothing is left of")
	w.spend("bob", 90)
	w.want("it was told in this window")
	w.now = w.now.Add(24 * time.Hour)
	w.want("a new day")
	if w.status.GroupThresholds != nil || w.status.ThresholdsReached != nil {
		t.Errorf("what is over is kept: %v", w.status.GroupThresholds)
	}
	w.spend("bob", 50)
	w.want("in the new window", "bob 50")
	if got := w.status.ThresholdsReached; !slices.Equal(got, []int32{50}) {
		t.Errorf("thresholdsReached of the fullest group: %v", got)
	}
}

// TestC6_C7_WindowsOfTheirOwnAreToldApart: those that open at a first use start
// at another instant for each group, and those that slide at none.
func TestC6_C7_WindowsOfTheirOwnAreToldApart(t *testing.T) {
	t.Parallel()
	for kind, again := range map[string][]string{"FirstUse": {"ada 50"}, "Sliding": {"ada 50", "ada 80"}} {
		w := newGroupWorld(t, budgetv1alpha1.Period{Type: kind, Duration: "1h"})
		w.spend("ada", 60)
		w.want(kind+": one", "ada 50")
		w.now = w.now.Add(20 * time.Minute)
		w.spend("bob", 85)
		w.want(kind+": another, which is fuller", "bob 50", "bob 80")
		w.now = w.now.Add(20 * time.Minute)
		w.spend("ada", 35)
		w.want(kind+": the first is the fullest again", "ada 80")
		w.now = w.now.Add(21 * time.Minute)
		w.want(kind + ": the window of the first is over, or what it used first has left it")
		w.spend("ada", 50)
		w.want(kind+": it has reached a threshold again", again...)
	}
}

// TestC7_NoMoreGroupsAreToldThanAreKept: one that was told is never told again
// because others came.
func TestC7_NoMoreGroupsAreToldThanAreKept(t *testing.T) {
	t.Parallel()
	w := newGroupWorld(t, budgetv1alpha1.Period{Type: "Daily"})
	for i := range budgetv1alpha1.MaxGroupThresholds + 20 {
		w.spend(fmt.Sprintf("user-%03d", i), 50)
	}
	told := w.told()
	if last := told[len(told)-1]; len(told) != budgetv1alpha1.MaxGroupThresholds+1 || told[99] != "user-099 50" ||
		last != "Thresholds of 100 groups were told: no other group is told until one of them makes room." {
		t.Errorf("%d are told, at last %q and %q", len(told), told[len(told)-2], last)
	}
	w.spend("user-000", 40)
	w.spend("user-110", 40)
	w.want("one that was told, and one for which there is no room", "user-000 80")
	w.now = w.now.Add(24 * time.Hour)
	w.spend("user-110", 50)
	w.want("there is room in a new window", "user-110 50")
}
