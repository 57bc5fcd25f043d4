package usage_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/usage"
)

func mustRecord(tb testing.TB, c usage.Completion) usage.Record {
	tb.Helper()
	r, err := usage.RecordUsage(c)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestRecordValidate(t *testing.T) {
	zero := time.Duration(0)
	for reason, change := range map[string]func(*usage.Record){
		"usage: a meter needs a name":                     func(r *usage.Record) { r.Usage[""] = reported(1) },
		`usage: pages: unknown basis "Guessed"`:           func(r *usage.Record) { r.Usage["pages"] = usage.Figure{Basis: "Guessed"} },
		`usage: pages: unknown basis ""`:                  func(r *usage.Record) { r.Usage["pages"] = usage.Figure{} },
		"usage: pages -1: must not be negative":           func(r *usage.Record) { r.Usage["pages"] = reported(-1) },
		"usage: costUSD: basis Unknown with the amount 1": func(r *usage.Record) { r.Usage[usage.CostUSD] = usage.Figure{Amount: usage.USD, Basis: usage.Unknown} },
		"usage: a -1": func(r *usage.Record) {
			r.Usage["z"], r.Usage["a"], r.Usage["m"] = reported(-1), reported(-1), reported(-1)
		},
		"reason: 1025 bytes long, at most 1024":                      func(r *usage.Record) { r.Reason = strings.Repeat("x", 1025) },
		"ttl: 0s is not positive":                                    func(r *usage.Record) { r.TTL = &zero },
		"replaces: only a correction replaces":                       func(r *usage.Record) { r.Replaces = usage.Figures{usage.Tasks: reported(1)} },
		`uid: the correction of "uid-1" must have the UID "uid-1-c"`: func(r *usage.Record) { r.Corrects = r.UID },
		"replaces: pages has no new figure":                          func(r *usage.Record) { r.UID, r.Corrects, r.Replaces = "x-c", "x", usage.Figures{"pages": reported(1)} },
		"replaces: tasks -1: must not be negative": func(r *usage.Record) {
			r.UID, r.Corrects, r.Replaces = "x-c", "x", usage.Figures{usage.Tasks: reported(-1)}
		},
		`record of task team-a/fix-bug (uid "uid-1"): phase: "x"`:    func(r *usage.Record) { r.Phase = "x" },
		`record of task with uid "uid-1" in namespace team-a: phase`: func(r *usage.Record) { r.Phase, r.Name = "x", "" },
		`record of task team-a/"a\nb" (uid`:                          func(r *usage.Record) { r.Phase, r.Name = "x", "a\nb" },
	} {
		r := mustRecord(t, finished())
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&r)
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want an error with %q", err, reason)
		}
	}
}

func TestRecordCloneSharesNothing(t *testing.T) {
	c := finished()
	ttl := time.Hour
	c.TTL, c.Results = &ttl, map[string]string{"cost-usd": "x"}
	original := mustRecord(t, c)
	correction, err := usage.Correct(original, usage.Amounts{usage.CostUSD: 1}, "why")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []usage.Record{original, correction} {
		want, clone := r.Clone(), r.Clone()
		clone.Labels["team"] = "other"
		clone.Usage[usage.CostUSD] = reported(9)
		*clone.TTL = 1
		if clone.Replaces != nil {
			clone.Replaces[usage.CostUSD] = reported(9)
		}
		if len(clone.Problems) > 0 {
			clone.Problems[0].Reason = "other"
		}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("the clone changed the original (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(usage.Record{}, usage.Record{}.Clone()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRecordAsJSON(t *testing.T) {
	c := finished()
	c.Results = map[string]string{"cost-usd": "0.25", "input-tokens": "x"}
	want := mustRecord(t, c)
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got usage.Record
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || !want.Equal(got) {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// changes are ways in which a record can say something else. The last ones say
// the same.
var changes = []struct {
	same   bool
	change func(*usage.Record)
}{
	{false, func(r *usage.Record) { r.Namespace += "x" }},
	{false, func(r *usage.Record) { r.Name += "x" }},
	{false, func(r *usage.Record) { r.Name, r.Type = r.Name+r.Type, "" }},
	{false, func(r *usage.Record) { r.APIVersion += "x" }},
	{false, func(r *usage.Record) { r.Kind += "x" }},
	{false, func(r *usage.Record) { r.Type += "x" }},
	{false, func(r *usage.Record) { r.Model += "x" }},
	{false, func(r *usage.Record) { r.Type, r.Model = r.Model+"-", r.Type }},
	{false, func(r *usage.Record) { r.Phase = usage.Failed }},
	{false, func(r *usage.Record) { r.Reason += "x" }},
	{false, func(r *usage.Record) { r.Corrects += "x" }},
	{false, func(r *usage.Record) { r.Labels = map[string]string{"team": "blue"} }},
	{false, func(r *usage.Record) { r.Labels = map[string]string{"red": "team"} }},
	{false, func(r *usage.Record) { r.Labels = nil }},
	{false, func(r *usage.Record) { r.CompletionTime = r.CompletionTime.Add(time.Second) }},
	{false, func(r *usage.Record) { r.CompletionTime = r.CompletionTime.Add(-1) }},
	{false, func(r *usage.Record) { r.StartTime = r.StartTime.Add(time.Second) }},
	{false, func(r *usage.Record) { r.AdmittedAt = r.CompletionTime }},
	{false, func(r *usage.Record) { r.AdmittedAt, r.StartTime = r.StartTime, r.AdmittedAt }},
	{false, func(r *usage.Record) { r.AdmittedAt = time.Unix(0, 0) }},
	{false, func(r *usage.Record) { r.Usage["pages"] = reported(1) }},
	{false, func(r *usage.Record) { r.Usage["pages"] = usage.Figure{Basis: usage.Unknown} }},
	{false, func(r *usage.Record) { r.Usage[usage.Tasks] = reported(2) }},
	{false, func(r *usage.Record) { delete(r.Usage, usage.Tasks) }},
	{false, func(r *usage.Record) {
		r.Usage[usage.CostUSD] = usage.Figure{Amount: r.Usage[usage.CostUSD].Amount, Basis: usage.Held}
	}},
	{false, func(r *usage.Record) {
		r.Usage[usage.CostUSD] = usage.Figure{Amount: r.Usage[usage.CostUSD].Amount, Basis: usage.Priced}
	}},
	{false, func(r *usage.Record) { r.Corrects, r.Replaces = "x", usage.Figures{usage.CostUSD: reported(1)} }},
	{false, func(r *usage.Record) {
		r.Corrects, r.Replaces = "x", usage.Figures{usage.CostUSD: {Amount: 1, Basis: usage.Priced}}
	}},
	{false, func(r *usage.Record) {
		r.Corrects, r.Replaces = "x", usage.Figures{usage.CostUSD: {Basis: usage.Unknown}}
	}},
	{false, func(r *usage.Record) { r.Corrects, r.Replaces = "x", usage.Figures{usage.Tasks: reported(1)} }},
	{false, func(r *usage.Record) { r.Usage["a"], r.Usage["b"] = reported(1), reported(2) }},
	{false, func(r *usage.Record) { r.Usage["a"], r.Usage["b"] = reported(2), reported(1) }},
	{false, func(r *usage.Record) { r.Usage["h"] = usage.Figure{Amount: 1 << 56, Basis: usage.Priced} }},
	{false, func(r *usage.Record) { r.Usage["h"] = usage.Figure{Amount: 0, Basis: usage.Held} }},
	{false, func(r *usage.Record) { r.Usage["h"] = usage.Figure{Amount: math.MaxInt64, Basis: usage.Held} }},
	{true, func(*usage.Record) {}},
	{true, func(r *usage.Record) { r.Problems = append(r.Problems, usage.Problem{Meter: "x"}) }},
	{true, func(r *usage.Record) { ttl := time.Minute; r.TTL = &ttl }},
	{true, func(r *usage.Record) { r.CompletionTime = r.CompletionTime.In(time.FixedZone("x", 3600)) }},
	{true, func(r *usage.Record) { r.CompletionTime = r.CompletionTime.Add(time.Second - 1) }},
	{true, func(r *usage.Record) { r.Replaces = usage.Figures{} }},
	{true, func(r *usage.Record) { *r = r.Clone() }},
}

// A ledger keeps a hash of a record: it must tell apart what Equal does.
func TestAddIsANoOpIfAndOnlyIfEqual(t *testing.T) {
	base := mustRecord(t, usage.Completion{
		Task: usage.Task{UID: "x-c", Namespace: "ns", Name: "n", Type: "t", Model: "m"}, Phase: usage.Succeeded,
		Labels: map[string]string{"team": "red"}, StartTime: noon, CompletionTime: noon, Reported: usage.Amounts{usage.CostUSD: 7},
	})
	for i, first := range changes {
		for j, second := range changes {
			a, b := base.Clone(), base.Clone()
			first.change(&a)
			second.change(&b)
			if same := i == j || first.same && second.same; a.Equal(b) != same || b.Equal(a) != same {
				t.Errorf("changes %d and %d: Equal is %v", i, j, a.Equal(b))
			}
			compareAdd(t, a, b)
		}
	}
}

func compareAdd(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, a, b usage.Record) {
	t.Helper()
	ledger := usage.NewMemory()
	if err := ledger.Add(a); err != nil {
		t.Fatalf("Add: %v", err)
	}
	err := ledger.Add(b)
	var conflict *usage.ConflictError
	if errors.As(err, &conflict) == a.Equal(b) || a.Equal(b) != (err == nil) {
		t.Fatalf("Add of a second record that is equal (%v): %v\n%s", a.Equal(b), err, cmp.Diff(a, b))
	}
}

func TestAddComparesRandomRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func() usage.Record {
			r := usage.Record{
				Task:  usage.Task{UID: "x-c", Namespace: "ns", Name: rapid.SampledFrom([]string{"", "x", "\xff"}).Draw(t, "name")},
				Phase: usage.Succeeded, CompletionTime: noon, Usage: usage.Figures{}, Labels: map[string]string{},
			}
			for _, m := range []usage.Meter{"a", "b", usage.Tasks} {
				if rapid.Bool().Draw(t, "named") {
					amount := rapid.OneOf(rapid.Int64Range(0, 2), rapid.Map(rapid.IntRange(0, 62), func(n int) int64 { return 1 << n })).Draw(t, "amount")
					r.Usage[m] = usage.Figure{Amount: amount, Basis: rapid.SampledFrom([]usage.Basis{usage.Reported, usage.Priced, usage.Held}).Draw(t, "basis")}
				}
			}
			for _, k := range []string{"a", "b"} {
				if rapid.Bool().Draw(t, "labeled") {
					r.Labels[k] = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "value")
				}
			}
			if rapid.Bool().Draw(t, "corrects") {
				r.Corrects = "x"
				r.Replaces = r.Usage.Clone()
			}
			return r
		}
		compareAdd(t, draw(), draw())
	})
}

func TestARecordSaysInOneLineWhatItIs(t *testing.T) {
	r := mustRecord(t, finished())
	r.Usage = usage.Figures{
		usage.CostUSD:      {Amount: usage.MustUSD("0.25"), Basis: usage.Priced},
		usage.InputTokens:  {Amount: 7, Basis: usage.Reported},
		usage.OutputTokens: {Basis: usage.Unknown},
	}
	want := `record of task team-a/fix-bug (uid "uid-1"), Succeeded at 2026-03-29T12:00:00Z: ` +
		"costUSD 0.25 (Priced), inputTokens 7 (Reported), outputTokens unknown"
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Errorf("String (-want +got):\n%s", diff)
	}
	if got := usage.Figures(nil).String(); got != "none" {
		t.Errorf("no figures: %q, want none", got)
	}
}
