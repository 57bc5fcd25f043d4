package ledgertest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// laws are the promises of the interface, each by itself, so that a ledger that
// breaks one is told which.
var laws = []struct {
	name string
	test func(t *testing.T, ledger usage.Ledger)
}{
	{"a record counts in the window of its completion", lawWindow},
	{"the same record again changes nothing", lawTwice},
	{"another record of the same task is a conflict and the first one stays", lawConflict},
	{"a record that is not valid is refused", lawInvalidRecord},
	{"a record supersedes the hold of its task, whichever came first", lawSupersede},
	{"a hold counts until it expires, not at that instant", lawExpiry},
	{"a live hold stays when its task is held again", lawHeldAgain},
	{"an expired hold gives way when its task is held again", lawHeldAfterExpiry},
	{"a hold that is not valid is refused", lawInvalidHold},
	{"a released hold counts no more, and releasing twice is once", lawRelease},
	{"a correction puts the sum right", lawCorrection},
	{"a query that can't be answered is an error", lawBadQuery},
	{"what a caller does to its maps later changes nothing", lawCopies},
	{"a record that is removed counts no more", lawRemove},
	{"a window opens at the first use, at whatever instant that is", lawFirstUse},
	{"a window that ends when no period has any is an error", lawEndOfTime},
}

func dailyScope(t *testing.T) *usage.Scope {
	t.Helper()
	compiled, err := period.Compile(period.Spec{Type: period.Daily})
	if err != nil {
		t.Fatal(err)
	}
	return &usage.Scope{Name: "team-a/daily", Namespace: "team-a", Selector: labels.Everything(), Period: compiled, Meters: meters}
}

func spent(uid types.UID, hours float64, amount int64) usage.Record {
	return usage.Record{
		Task:           usage.Task{UID: uid, Namespace: "team-a", Name: "task"},
		Phase:          usage.Succeeded,
		Labels:         map[string]string{"team": "red"},
		CompletionTime: at(hours),
		Usage:          usage.Figures{usage.CostUSD: {Amount: amount, Basis: usage.Reported}},
	}
}

func aside(uid types.UID, admitted, expires float64, amount int64) usage.Hold {
	return usage.Hold{
		UID: uid, Namespace: "team-a", Labels: map[string]string{"team": "red"},
		Amounts: usage.Amounts{usage.CostUSD: amount}, AdmittedAt: at(admitted), ExpiresAt: at(expires),
	}
}

// taken checks what is used and held at an instant.
func taken(t *testing.T, ledger usage.Ledger, scope *usage.Scope, when time.Time, used, held int64) {
	t.Helper()
	b, err := ledger.Used(usage.Query{Scope: scope, Meter: usage.CostUSD, At: when})
	if err != nil {
		t.Fatal(err)
	}
	if b.Known != used || b.Held != held {
		t.Errorf("at %s: known %d and held %d, want %d and %d", when.Format(time.RFC3339Nano), b.Known, b.Held, used, held)
	}
}

func add(t *testing.T, ledger usage.Ledger, records ...usage.Record) {
	t.Helper()
	for _, r := range records {
		if err := ledger.Add(r); err != nil {
			t.Fatal(err)
		}
	}
}

func hold(t *testing.T, ledger usage.Ledger, h usage.Hold) usage.Hold {
	t.Helper()
	got, err := ledger.Hold(h)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func lawWindow(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	scope := dailyScope(t)
	add(t, ledger, spent("a", 0, 1), spent("b", 23.5, 10), spent("c", 24, 100), spent("d", -0.5, 1000))
	taken(t, ledger, scope, at(0), 11, 0)
	taken(t, ledger, scope, at(24).Add(-1), 11, 0)
	taken(t, ledger, scope, at(24), 100, 0)
	taken(t, ledger, scope, at(0).Add(-1), 1000, 0)
	taken(t, ledger, scope, at(72), 0, 0)
}

func lawTwice(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	for range 5 {
		add(t, ledger, spent("a", 1, 3))
	}
	taken(t, ledger, dailyScope(t), at(2), 3, 0)
}

func lawConflict(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	add(t, ledger, spent("a", 1, 3))
	err := ledger.Add(spent("a", 1, 4))
	var conflict *usage.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("got %v, want a ConflictError", err)
	}
	if conflict.UID != "a" || conflict.Namespace != "team-a" || conflict.Name != "task" {
		t.Errorf("the conflict names %s/%s %s", conflict.Namespace, conflict.Name, conflict.UID)
	}
	taken(t, ledger, dailyScope(t), at(2), 3, 0)
}

func lawInvalidRecord(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	bad := spent("a", 1, -1)
	if err := ledger.Add(bad); err == nil {
		t.Error("a negative amount was accepted")
	}
	if err := ledger.Add(usage.Record{}); err == nil {
		t.Error("an empty record was accepted")
	}
	add(t, ledger, spent("a", 1, 1)) // what was refused has left nothing behind
	taken(t, ledger, dailyScope(t), at(2), 1, 0)
}

func lawSupersede(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	scope := dailyScope(t)
	hold(t, ledger, aside("a", 0, 10, 7))
	taken(t, ledger, scope, at(1), 0, 7)
	add(t, ledger, spent("a", 1, 3), spent("b", 1, 30))
	taken(t, ledger, scope, at(1), 33, 0)
	if _, err := ledger.Hold(aside("b", 0, 10, 70)); !errors.Is(err, usage.ErrRecorded) {
		t.Errorf("a hold of a recorded task: got %v, want ErrRecorded", err)
	}
	taken(t, ledger, scope, at(1), 33, 0)
	if _, ok := ledger.Held("a"); ok {
		t.Error("a superseded hold is still in force")
	}
}

func lawExpiry(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	scope := dailyScope(t)
	hold(t, ledger, aside("a", 0, 10, 7))
	taken(t, ledger, scope, at(-1), 0, 7) // it counts from the moment it exists
	taken(t, ledger, scope, at(10).Add(-1), 0, 7)
	taken(t, ledger, scope, at(10), 0, 0)
	if _, ok := ledger.Held("a"); !ok {
		t.Error("an expired hold that nobody released is gone")
	}
	turns, err := ledger.Turns(usage.Query{Scope: scope, Meter: usage.CostUSD, At: at(1)})
	if want := (usage.Turns{Next: at(10), Last: at(10)}); err != nil || !cmp.Equal(want, turns) {
		t.Errorf("Turns: got %v, %v, want %v", turns, err, want)
	}
}

func lawHeldAgain(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	first := hold(t, ledger, aside("a", 0, 10, 7))
	again := hold(t, ledger, aside("a", 5, 20, 9))
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the hold in force (-want +got):\n%s", diff)
	}
	taken(t, ledger, dailyScope(t), at(6), 0, 7)
}

func lawHeldAfterExpiry(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	hold(t, ledger, aside("a", 0, 10, 7))
	hold(t, ledger, aside("a", 10, 20, 9))
	taken(t, ledger, dailyScope(t), at(5), 0, 9)
	taken(t, ledger, dailyScope(t), at(15), 0, 9)
}

func lawInvalidHold(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	endless := aside("a", 0, 10, 7)
	endless.ExpiresAt = time.Time{}
	if _, err := ledger.Hold(endless); err == nil {
		t.Error("a hold without end was accepted")
	}
	if _, err := ledger.Hold(aside("a", 0, 10, -1)); err == nil {
		t.Error("a negative hold was accepted")
	}
	taken(t, ledger, dailyScope(t), at(1), 0, 0)
}

func lawRelease(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	hold(t, ledger, aside("a", 0, 10, 7))
	hold(t, ledger, aside("b", 0, 10, 70))
	for range 2 {
		ledger.Release("a")
		ledger.Release("nobody")
		taken(t, ledger, dailyScope(t), at(1), 0, 70)
	}
	if _, ok := ledger.Held("a"); ok {
		t.Error("a released hold is still in force")
	}
}

func lawCorrection(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	original := spent("a", 1, 300)
	correction, err := usage.Correct(original, usage.Amounts{usage.CostUSD: 4}, "the price was wrong")
	if err != nil {
		t.Fatal(err)
	}
	second, err := usage.Correct(correction, usage.Amounts{usage.CostUSD: 5}, "still wrong")
	if err != nil {
		t.Fatal(err)
	}
	add(t, ledger, second, correction, original) // in any order
	taken(t, ledger, dailyScope(t), at(2), 5, 0)
	b, err := ledger.Used(usage.Query{Scope: dailyScope(t), Meter: usage.Tasks, At: at(2)})
	if err != nil || b.Known != 1 {
		t.Errorf("tasks: got %v, %v, want one task", b, err)
	}
}

func lawBadQuery(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	scope := dailyScope(t)
	broken := *scope
	broken.Period = nil
	for name, q := range map[string]usage.Query{
		"no scope":           {Meter: usage.CostUSD, At: at(1)},
		"a scope of nothing": {Scope: &broken, Meter: usage.CostUSD, At: at(1)},
		"a foreign meter":    {Scope: scope, Meter: "pages", At: at(1)},
		"the zero time":      {Scope: scope, Meter: usage.CostUSD},
	} {
		if b, err := ledger.Used(q); err == nil {
			t.Errorf("%s: got %v, want an error", name, b)
		}
	}
}

func lawCopies(t *testing.T, ledger usage.Ledger) {
	t.Helper()
	scope := dailyScope(t)
	scope.Selector = labels.SelectorFromSet(labels.Set{"team": "red"})
	h, r := aside("a", 0, 10, 7), spent("b", 1, 3)
	got := hold(t, ledger, h)
	add(t, ledger, r)
	h.Labels["team"], r.Labels["team"], got.Labels["team"] = "blue", "blue", "blue"
	h.Amounts[usage.CostUSD], got.Amounts[usage.CostUSD] = 1000, 1000
	r.Usage[usage.CostUSD] = usage.Figure{Amount: 1000, Basis: usage.Reported}
	taken(t, ledger, scope, at(1), 3, 7)
	if held, ok := ledger.Held("a"); !ok || held.Amounts[usage.CostUSD] != 7 || held.Labels["team"] != "red" {
		t.Errorf("Held: got %v", held)
	}
}
