package policy_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/policy"
)

// TestMergeIsASetThatWasAskedApart: two sets whose verdicts are merged answer
// as one set of all their hooks, and the order of verdicts plays no part.
func TestMergeIsASetThatWasAskedApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bindings := draw(t)
		cut := rapid.IntRange(0, len(bindings)).Draw(t, "cut")
		whole := verdictOf(t, bindings)
		one, two := verdictOf(t, bindings[:cut]), verdictOf(t, bindings[cut:])
		merged := policy.Merge(one, two)
		if diff := cmp.Diff(merged, policy.Merge(two, one)); diff != "" {
			t.Fatalf("the order plays a part:\n%s", diff)
		}
		whole.Revision, merged.Revision = "", ""
		if diff := cmp.Diff(whole, merged); diff != "" {
			t.Fatalf("(-one set +merged):\n%s", diff)
		}
	})
}

func TestMergeOfNothingAllows(t *testing.T) {
	if diff := cmp.Diff(policy.Pass(), policy.Merge()); diff != "" {
		t.Error(diff)
	}
	v := policy.Merge(policy.Pass(), policy.Verdict{})
	if v.Allowed() {
		t.Errorf("the zero verdict was lost: %+v", v)
	}
}

func TestMergeKeepsRevisionsAndCountsWhatItCuts(t *testing.T) {
	a, b := policy.Verdict{Outcome: policy.Allow, Revision: "2"}, policy.Verdict{Outcome: policy.Allow, Revision: "1", Omitted: 3}
	for i := range policy.MaxReasons + 1 {
		a.Warnings = append(a.Warnings, policy.Reason{Policy: "p", Code: "c", Message: string(rune('a' + i)), Outcome: policy.Allow})
	}
	v := policy.Merge(a, b, a)
	if v.Revision != "1+2" || v.Omitted != 4 || len(v.Warnings) != policy.MaxReasons {
		t.Errorf("revision %q, %d omitted, %d warnings", v.Revision, v.Omitted, len(v.Warnings))
	}
}

func TestCheckRulesLooksAtTheShape(t *testing.T) {
	good := policy.Rule{Name: "a", When: "true", Effect: policy.EffectDeny, Message: "m"}
	if faults := policy.CheckRules([]policy.Rule{good}); faults != nil {
		t.Errorf("a good rule: %v", faults)
	}
	bad := good
	bad.Message, bad.When, bad.Match.Models = "", "", []string{"a*b"}
	long := good
	long.Name, long.Code, long.Message, long.Value = "long", "Not A Code", strings.Repeat("m", policy.MaxMessage+1), "1"
	for _, c := range []struct {
		rule policy.Rule
		want string
	}{
		{long, "value: rule long: does not belong to the effect deny"},
		{long, `code: rule long: "Not A Code": want 1 to 63 of a-z, 0-9 and -`},
		{long, "message: rule long: has 1025 bytes, at most 1024 are allowed"},
		{policy.Rule{Name: "c", When: "true", Effect: policy.EffectCap, Value: "1"}, "field: rule c: is required for the effect cap"},
		{policy.Rule{Name: "c", When: "true", Effect: policy.EffectCap, Field: "wishes", Value: "1"}, `field: rule c: "wishes" is not one of maxTokens`},
		{policy.Rule{Name: "l", When: "true", Effect: policy.EffectLabel, Key: "-", Value: "1"}, `key: rule l: "-" is not a valid label key`},
	} {
		if text := policy.CheckRules([]policy.Rule{c.rule}).Error(); !strings.Contains(text, "rules[0]."+c.want) {
			t.Errorf("%s\nwant %s", text, c.want)
		}
	}
	var got []string
	for _, e := range policy.CheckRules([]policy.Rule{good, good, bad, {Effect: "allow"}, {Effect: "allow"}}) {
		got = append(got, e.Error())
	}
	want := []string{
		"rules[1].name: rule a: is given twice",
		`rules[2].match.models: rule a: "a*b": * may only be the last character`,
		"rules[2].message: rule a: exactly one of message and messageExpression is required",
		"rules[2].name: rule a: is given twice",
		"rules[2].when: rule a: is required",
		`rules[3].name: "": want 1 to 63 of a-z, 0-9 and -`,
		`rules[3].effect: "allow" is not one of deny, hold, warn, cap, label`,
		"rules[3].when: is required",
		`rules[4].name: "": want 1 to 63 of a-z, 0-9 and -`,
		`rules[4].effect: "allow" is not one of deny, hold, warn, cap, label`,
		"rules[4].when: is required",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func BenchmarkMerge(b *testing.B) {
	in := base()
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, policy.Binding{Hook: policy.Func("p", func(context.Context, *policy.Input) (policy.Verdict, error) {
		return policy.Refuse("no", "no"), nil
	})})
	if err != nil {
		b.Fatal(err)
	}
	v, err := set.Evaluate(b.Context(), &in)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if merged := policy.Merge(v, v); merged.Allowed() {
			b.Fatal("a refusal was lost")
		}
	}
}
