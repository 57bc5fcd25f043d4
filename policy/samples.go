package policy

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Sample is a plain input that every policy must be able to answer.
type Sample struct {
	// Name of the sample; rego/samples holds it as JSON under this name.
	Name string
	// Text says what is particular about it, for errors: "cannot be evaluated for …".
	Text string
	// Input is complete and passes Check.
	Input Input
}

// Samples are the inputs that an engine tries a policy on when it is loaded:
// one for each operation, a task that says nothing of itself, and a budget
// whose limits are 0. A policy that fails on one of them would refuse such a
// task without saying so, hence it is refused with its place instead. What a
// policy says of a sample does not matter.
func Samples() []Sample {
	admit := sampleInput()
	build, record := admit, admit
	build.Operation = BuildPod
	record.Operation = RecordUsage
	record.Usage = Amount{CostMicros: 1_750_000, InputTokens: 12_000, OutputTokens: 4_500, Source: "Reported", Known: true, CostKnown: true, TokensKnown: true}
	spent := admit
	spent.Operation = Renew
	spent.Budgets = slices.Clone(admit.Budgets)
	for i := range spent.Budgets {
		b := &spent.Budgets[i]
		b.Cost, b.InputTokens, b.OutputTokens = Limited(0, 50_000_000, 0), Limited(0, 10, 0), Limited(0, 10, 0)
	}
	bare := Input{
		Operation: Admit, Now: admit.Now,
		Task: Task{Namespace: "agents", Name: "bare", UID: "u-2", Kind: "Task"},
	}
	return []Sample{
		{"admit", "a usual task that wants to start", admit.Complete()},
		{"build-pod", "a usual pod that is built", build.Complete()},
		{"record-usage", "the usage of a usual task", record.Complete()},
		{"spent", "a running task in a budget whose limits are 0", spent.Complete()},
		{"bare", "a task without labels, model and estimate, that no budget matches", bare.Complete()},
	}
}

// sampleInput is a task that says everything of itself, at noon, half of a
// daily budget of 100 USD used.
func sampleInput() Input {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	return Input{
		Operation: Admit,
		Now:       noon,
		Task: Task{
			Namespace: "agents", Name: "refactor-1", UID: "u-1", Kind: "Task", Agent: "coder", Model: "opus", Provider: "acme",
			Priority: "normal", Attempt: 1, RequestedTokens: 20_000, Labels: map[string]string{"team": "a"},
		},
		Actor: Actor{User: "ci", Groups: []string{"devs", "ops"}},
		Estimate: Amount{
			CostMicros: 2_000_000, InputTokens: 15_000, OutputTokens: 5_000, Source: "Priced",
			Known: true, CostKnown: true, TokensKnown: true,
		},
		Pod: Pod{Profile: "agent-worker", CPUMilli: 2000, MemoryBytes: 4 << 30, ActiveDeadlineSeconds: 3600},
		Budgets: []Budget{{
			Name: "team-a", Namespace: "agents", Action: "Block",
			Period: Period{
				Kind: "Daily", Zone: "UTC", Bounded: true,
				StartUnixMs: noon.Add(-12 * time.Hour).UnixMilli(), EndUnixMs: noon.Add(12 * time.Hour).UnixMilli(),
			},
			Cost:        Limited(100_000_000, 50_000_000, 0),
			InputTokens: Unlimited(10, 0), OutputTokens: Unlimited(10, 0),
		}},
	}
}

// Fit returns the input changed so far that a match includes it: where a field
// does not agree, it takes the first pattern's text.
func (m *Match) Fit(in Input) Input {
	out := *in.Clone()
	if len(m.Operations) > 0 && !slices.Contains(m.Operations, out.Operation) {
		out.Operation = m.Operations[0]
	}
	fit(m.Namespaces, &out.Task.Namespace)
	fit(m.Models, &out.Task.Model)
	fit(m.Priorities, &out.Task.Priority)
	fit(m.Profiles, &out.Pod.Profile)
	maps.Copy(out.Task.Labels, m.Labels)
	return out
}

func fit(patterns []string, value *string) {
	if !agrees(patterns, *value) {
		*value = strings.TrimSuffix(patterns[0], "*")
	}
}
