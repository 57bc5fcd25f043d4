package usage_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

func mustCorrect(tb testing.TB, original usage.Record, right usage.Amounts) usage.Record {
	tb.Helper()
	c, err := usage.Correct(original, right, "the invoice says so")
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestCorrect(t *testing.T) {
	c := finished()
	c.Results = map[string]string{"cost-usd": "3", "input-tokens": "x"}
	original := mustRecord(t, c)
	want := original.Clone()
	want.UID, want.Corrects, want.Reason, want.Problems = "uid-1-c", "uid-1", "the invoice says so", nil
	want.Usage = usage.Figures{usage.CostUSD: reported(4), usage.InputTokens: reported(5), usage.OutputTokens: reported(6), usage.Tasks: reported(2), usage.Seconds: reported(90)}
	want.Replaces = usage.Figures{
		usage.CostUSD: reported(3 * usage.USD), usage.InputTokens: {Basis: usage.Unknown}, usage.OutputTokens: {Basis: usage.Unknown}, usage.Tasks: reported(1),
		usage.Seconds: reported(90), // it stays, and is named so that it can be put right later
	}
	got := mustCorrect(t, original, usage.Amounts{usage.CostUSD: 4, usage.InputTokens: 5, usage.OutputTokens: 6, usage.Tasks: 2})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

func TestCorrectOfARecordThatSaysNothing(t *testing.T) {
	original := mustRecord(t, finished())
	original.Usage = nil
	got := mustCorrect(t, original, usage.Amounts{usage.CostUSD: 4})
	if diff := cmp.Diff(usage.Figures{usage.CostUSD: reported(4)}, got.Usage); diff != "" || original.Usage != nil {
		t.Errorf("usage of the correction (-want +got):\n%s\nof the original: %v", diff, original.Usage)
	}
}

func TestCorrectRefuses(t *testing.T) {
	original := mustRecord(t, finished())
	right := usage.Amounts{usage.CostUSD: 1}
	for reason, correct := range map[string]func() (usage.Record, error){
		"reason: required":   func() (usage.Record, error) { return usage.Correct(original, right, " \n") },
		"at least one meter": func() (usage.Record, error) { return usage.Correct(original, nil, "why") },
		"costUSD -0.000000001: must not": func() (usage.Record, error) {
			return usage.Correct(original, usage.Amounts{usage.CostUSD: -1}, "why")
		},
		"only letters":               func() (usage.Record, error) { return usage.Correct(original, usage.Amounts{"a b": 1}, "why") },
		"the record to be corrected": func() (usage.Record, error) { return usage.Correct(usage.Record{}, right, "why") },
	} {
		got, err := correct()
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want an error with %q", err, reason)
		}
		if diff := cmp.Diff(usage.Record{}, got); diff != "" {
			t.Errorf("%s: a record beside the error (-want +got):\n%s", reason, diff)
		}
	}
}

// everything is the scope of all that is recorded in team-a.
func everything(tb testing.TB, meters ...usage.Meter) *usage.Scope {
	tb.Helper()
	return &usage.Scope{
		Name: "team-a/all", Namespace: "team-a", Selector: labels.Everything(),
		Period: mustPeriod(tb, period.Spec{Type: period.Lifetime}), Meters: meters,
	}
}

func TestCorrectionsPutTheSumRightInAnyOrder(t *testing.T) {
	c := finished()
	c.Results = map[string]string{"cost-usd": "x"}
	c.Reported = usage.Amounts{usage.InputTokens: 100}
	unknown := mustRecord(t, c)
	first := mustCorrect(t, unknown, usage.Amounts{usage.CostUSD: 4, usage.InputTokens: 90})
	second := mustCorrect(t, first, usage.Amounts{usage.CostUSD: 5})
	third := mustCorrect(t, second, usage.Amounts{usage.Tasks: 0}) // a meter that nobody had put right
	all := []usage.Record{unknown, first, second, third}
	scope := everything(t, usage.CostUSD, usage.InputTokens, usage.Tasks, usage.OutputTokens)
	scope.Default = usage.Amounts{usage.CostUSD: 70}
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.Permutation(all).Draw(t, "records")
		for m, want := range map[usage.Meter]usage.Balance{
			usage.CostUSD:      {Known: 5},
			usage.InputTokens:  {Known: 90},
			usage.Tasks:        {Known: 0},
			usage.OutputTokens: {Unknown: 1, Uncharged: 1},
		} {
			got, err := usage.Sum(records, nil, usage.Query{Scope: scope, Meter: m, At: noon})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("%s: %v (-want +got):\n%s", m, err, diff)
			}
		}
	})
	uncorrected, err := usage.Sum(all[:1], nil, usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon})
	if diff := cmp.Diff(usage.Balance{Charged: 70, Unknown: 1}, uncorrected); diff != "" || err != nil {
		t.Errorf("without the corrections: %v (-want +got):\n%s", err, diff)
	}
}

// Whatever is deleted, no balance is negative, and what is left is as if the
// deleted had never been.
func TestDeletedRecordsOfACorrection(t *testing.T) {
	original := mustRecord(t, usage.Completion{Task: finished().Task, Phase: usage.Failed, CompletionTime: noon, Reported: usage.Amounts{usage.CostUSD: 9}})
	correction := mustCorrect(t, original, usage.Amounts{usage.CostUSD: 4})
	scope := everything(t, usage.CostUSD)
	for name, c := range map[string]struct {
		remove types.UID
		want   int64
	}{
		"the correction": {"uid-1-c", 9},
		"the original":   {"uid-1", 4},
	} {
		ledger := usage.NewMemory(scope)
		fill(t, ledger, []usage.Record{original, correction})
		ledger.Remove(c.remove)
		if got, err := ledger.Used(usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon}); err != nil || got.Known != c.want {
			t.Errorf("%s is deleted: got %v, %v, want %d", name, got, err, c.want)
		}
	}
}

// TestACorrectionThatIsMadeTwiceIsTakenOnce: in a retry it is the same record,
// and by two people a conflict.
func TestACorrectionThatIsMadeTwiceIsTakenOnce(t *testing.T) {
	original := mustRecord(t, usage.Completion{Task: finished().Task, Phase: usage.Failed, CompletionTime: noon, Reported: usage.Amounts{usage.CostUSD: 12}})
	other := original.Clone()
	other.UID, other.Usage[usage.CostUSD] = "uid-2", reported(9)
	ledger, scope := usage.NewMemory(), everything(t, usage.CostUSD)
	fill(t, ledger, []usage.Record{original, other})
	for range 2 {
		if err := ledger.Add(mustCorrect(t, original, usage.Amounts{usage.CostUSD: 1})); err != nil {
			t.Fatal(err)
		}
	}
	var conflict *usage.ConflictError
	if err := ledger.Add(mustCorrect(t, original, usage.Amounts{usage.CostUSD: 2})); !errors.As(err, &conflict) {
		t.Errorf("another correction of the same record gives %v", err)
	}
	if got, err := ledger.Used(usage.Query{Scope: scope, Meter: usage.CostUSD, At: noon}); err != nil || got.Known != 10 {
		t.Errorf("got %v, %v, want 1 + 9", got, err)
	}
	forged := mustCorrect(t, original, usage.Amounts{usage.CostUSD: 1})
	forged.UID = "another"
	if err := ledger.Add(forged); err == nil {
		t.Error("a second correction under a UID of its own was taken")
	}
}
