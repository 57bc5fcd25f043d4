package policy_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursar-dev/bursar/policy"
)

// noon is the instant of every test.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// base is the input that tests start from: model opus, 100 USD of which 50 are
// used, half of the day gone.
func base() policy.Input {
	return policy.Input{
		Operation: policy.Admit,
		Now:       noon,
		Task: policy.Task{
			Namespace: "agents", Name: "refactor-1", UID: "u-1", Kind: "Task", Model: "opus", Provider: "acme",
			Priority: "normal", Attempt: 1, RequestedTokens: 20_000, Labels: map[string]string{"team": "a"},
		},
		Estimate: policy.Amount{CostMicros: 2_000_000, InputTokens: 15_000, OutputTokens: 5_000, Known: true, CostKnown: true, TokensKnown: true, Source: "Priced"},
		Budgets: []policy.Budget{{
			Name: "team-a", Namespace: "agents", Action: "Block",
			Period: policy.Period{
				Kind: "Daily", Zone: "UTC", Bounded: true,
				StartUnixMs: noon.Add(-12 * time.Hour).UnixMilli(), EndUnixMs: noon.Add(12 * time.Hour).UnixMilli(),
			},
			Cost:        policy.Limited(100_000_000, 50_000_000, 0),
			InputTokens: policy.Unlimited(10, 0), OutputTokens: policy.Unlimited(10, 0),
		}},
	}.Complete()
}

func says(name string, v policy.Verdict, err error) policy.Binding {
	return policy.Binding{Hook: policy.Func(name, func(context.Context, *policy.Input) (policy.Verdict, error) {
		return v, err
	})}
}

func evaluate(t *testing.T, in policy.Input, bindings ...policy.Binding) policy.Verdict {
	t.Helper()
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, bindings...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := set.Evaluate(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	v.Revision = ""
	return v
}
