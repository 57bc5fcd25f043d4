// Package policyfixture holds the input that the tests of all policy engines
// start from.
package policyfixture

import (
	"time"

	"github.com/bursar-dev/bursar/policy"
)

// Noon is the instant of Base: noon UTC on a Monday.
func Noon() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

// Base returns a complete input: model opus, label team=a, 100 USD of which 50
// are used, half of the day gone.
func Base() policy.Input { return Draft().Complete() }

// Draft is Base before Complete, for tests that change it first.
func Draft() policy.Input {
	noon := Noon()
	return policy.Input{
		Operation: policy.Admit,
		Now:       noon,
		Task: policy.Task{
			Namespace: "agents", Name: "refactor-1", UID: "u-1", Kind: "Task", Agent: "coder", Model: "opus", Provider: "acme",
			Priority: "normal", Attempt: 1, RequestedTokens: 20_000, Labels: map[string]string{"team": "a"},
		},
		Actor:    policy.Actor{User: "ci", Groups: []string{"devs", "ops"}},
		Estimate: policy.Amount{CostMicros: 2_000_000, InputTokens: 15_000, OutputTokens: 5_000, Known: true, CostKnown: true, TokensKnown: true, Source: "Priced"},
		Pod:      policy.Pod{Profile: "agent-worker", CPUMilli: 2000, MemoryBytes: 4 << 30, ActiveDeadlineSeconds: 3600},
		Budgets: []policy.Budget{{
			Name: "team-a", Namespace: "agents", Action: "Block",
			Period: policy.Period{
				Kind: "Daily", Zone: "UTC", Bounded: true,
				StartUnixMs: noon.Add(-12 * time.Hour).UnixMilli(), EndUnixMs: noon.Add(12 * time.Hour).UnixMilli(),
			},
			Cost:        policy.Limited(100_000_000, 50_000_000, 0),
			InputTokens: policy.Unlimited(10, 0), OutputTokens: policy.Unlimited(10, 0),
		}},
	}
}
