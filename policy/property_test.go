package policy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/policy"
)

// anyBinding draws a hook that says anything at all, well-formed or not.
func anyBinding(t *rapid.T, name string) policy.Binding {
	reason := rapid.Custom(func(t *rapid.T) policy.Reason {
		return policy.Reason{
			Code:    rapid.SampledFrom([]string{"a", "b", "NOT VALID", ""}).Draw(t, "code"),
			Message: rapid.SampledFrom([]string{"m", "n\n", ""}).Draw(t, "message"),
			Outcome: policy.Outcome(rapid.IntRange(0, 3).Draw(t, "reason outcome")),
		}
	})
	limit := func(label string) *int64 {
		if rapid.Bool().Draw(t, label+" set") {
			return new(rapid.Int64Range(-1, 5).Draw(t, label))
		}
		return nil
	}
	v := policy.Verdict{
		Outcome:    policy.Outcome(rapid.IntRange(0, 3).Draw(t, "outcome")),
		Reasons:    rapid.SliceOfN(reason, 0, 3).Draw(t, "reasons"),
		Warnings:   rapid.SliceOfN(reason, 0, 2).Draw(t, "warnings"),
		RetryAfter: time.Duration(rapid.Int64Range(-1, 3).Draw(t, "retry")) * time.Second,
		Caps:       policy.Caps{MaxTokens: limit("tokens"), MemoryBytes: limit("memory")},
		Labels:     rapid.SampledFrom([]map[string]string{nil, {"k": "1"}, {"k": "2", "l": "3"}, {"bad key": ""}}).Draw(t, "labels"),
	}
	err := rapid.SampledFrom([]error{nil, errors.New("x"), context.DeadlineExceeded}).Draw(t, "err")
	b := says(name, v, err)
	b.Enforcement = policy.Enforcement(rapid.IntRange(0, 2).Draw(t, "enforcement"))
	b.OnError = policy.OnError(rapid.IntRange(0, 1).Draw(t, "onError"))
	return b
}

func draw(t *rapid.T) []policy.Binding {
	n := rapid.IntRange(0, 6).Draw(t, "hooks")
	out := make([]policy.Binding, n)
	for i := range out {
		out[i] = anyBinding(t, fmt.Sprintf("p%d", i))
	}
	return out
}

func verdictOf(t *rapid.T, bindings []policy.Binding) policy.Verdict {
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, bindings...)
	if err != nil {
		t.Fatal(err)
	}
	in := base()
	v, err := set.Evaluate(context.Background(), &in)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestShufflingPoliciesNeverChangesTheVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bindings := draw(t)
		want := verdictOf(t, bindings)
		got := verdictOf(t, rapid.Permutation(bindings).Draw(t, "order"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("verdict (-first +shuffled):\n%s", diff)
		}
	})
}

func TestAddingAPolicyNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bindings := draw(t)
		before := verdictOf(t, bindings)
		after := verdictOf(t, append(slices.Clone(bindings), anyBinding(t, "more")))
		if after.Outcome > before.Outcome {
			t.Fatalf("%s became %s", before.Outcome, after.Outcome)
		}
		if merged := before.Caps.Merge(after.Caps); !cmp.Equal(merged, after.Caps) {
			t.Fatalf("a cap was raised: %v became %v", before.Caps, after.Caps)
		}
		if after.Outcome == policy.Hold && before.Outcome == policy.Hold && after.RetryAfter < before.RetryAfter {
			t.Fatalf("the hold became shorter: %s, %s", before.RetryAfter, after.RetryAfter)
		}
	})
}
