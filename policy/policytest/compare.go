package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursar-dev/bursar/policy"
)

// compare lists what differs from what is wanted, one line each.
func compare(want *Want, got *policy.Verdict) []string {
	if want == nil {
		want = &Want{Outcome: policy.Allow.String()}
	}
	var diff []string
	differ := func(name string, want, got any) {
		if w, g := fmt.Sprint(want), fmt.Sprint(got); w != g {
			diff = append(diff, fmt.Sprintf("%s: want %s, have %s", name, w, g))
		}
	}
	differ("outcome", want.Outcome, got.Outcome)
	differ("codes", sorted(want.Codes), sorted(codesOf(got.Reasons)))
	if len(want.Messages) > 0 {
		differ("messages", lines(want.Messages), lines(messagesOf(got.Reasons)))
	}
	differ("warnings", sorted(want.Warnings), sorted(codesOf(got.Warnings)))
	differ("caps", pairs(want.Caps), pairs(capsOf(got.Caps)))
	differ("retryAfterSeconds", want.RetryAfterSeconds, int64(got.RetryAfter/time.Second))
	differ("labels", pairs(want.Labels), pairs(got.Labels))
	if len(diff) > 0 {
		for _, e := range got.Errors {
			diff = append(diff, fmt.Sprintf("error: %s", e.Message))
		}
	}
	return diff
}

func codesOf(reasons []policy.Reason) []string {
	out := make([]string, len(reasons))
	for i, r := range reasons {
		out[i] = r.Code
	}
	return out
}

func messagesOf(reasons []policy.Reason) []string {
	out := make([]string, len(reasons))
	for i, r := range reasons {
		out[i] = r.Message
	}
	return out
}

func capsOf(c policy.Caps) map[string]int64 {
	out := map[string]int64{}
	for name, value := range map[string]*int64{
		"maxTokens": c.MaxTokens, "maxCostMicros": c.MaxCostMicros, "cpuMilli": c.CPUMilli,
		"memoryBytes": c.MemoryBytes, "deadlineSeconds": c.DeadlineSeconds,
	} {
		if value != nil {
			out[name] = *value
		}
	}
	return out
}

func sorted(values []string) []string {
	out := slices.Clone(values)
	slices.Sort(out)
	return out
}

func lines(values []string) string { return "\n  " + strings.Join(sorted(values), "\n  ") }

func pairs[V any](m map[string]V) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s=%v", key, m[key]))
	}
	return "{" + strings.Join(out, " ") + "}"
}
