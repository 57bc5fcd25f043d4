package policy

import (
	"slices"
	"strings"
)

// Rule is one rule of a policy in CEL, as it is written in YAML and inline in
// a budget. It is plain data: package policy/cel compiles it.
type Rule struct {
	// Name of the rule, unique in its policy: 1 to 63 of a-z, 0-9 and "-". It
	// is the code of its reasons if Code is empty.
	Name string `json:"name"`
	// Description for people; not used.
	Description string `json:"description,omitempty"`
	// Match narrows the calls that the rule looks at, before any expression.
	Match Match `json:"match,omitzero"`
	// When is a bool expression: the effect applies if it is true.
	When string `json:"when"`
	// Effect is deny, hold, warn, cap or label.
	Effect Effect `json:"effect"`
	// Code of the reason; for deny, hold and warn.
	Code string `json:"code,omitempty"`
	// Message of the reason. Exactly one of Message and MessageExpression is
	// given for deny, hold and warn.
	Message string `json:"message,omitempty"`
	// MessageExpression is a string expression.
	MessageExpression string `json:"messageExpression,omitempty"`
	// RetryAfterSeconds is an int expression; for hold, optional.
	RetryAfterSeconds string `json:"retryAfterSeconds,omitempty"`
	// Field that a cap bounds: one of CapFields.
	Field string `json:"field,omitempty"`
	// Key of the label that a label rule sets.
	Key string `json:"key,omitempty"`
	// Value is an int expression for cap and a string expression for label.
	Value string `json:"value,omitempty"`
}

// Effect is what a rule does when it applies.
type Effect string

// The effects of rules.
const (
	EffectDeny  Effect = "deny"
	EffectHold  Effect = "hold"
	EffectWarn  Effect = "warn"
	EffectCap   Effect = "cap"
	EffectLabel Effect = "label"
)

// Variable names an expression that rules read as variables.NAME. It is
// evaluated at most once per call, and only if a rule reads it.
type Variable struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

// Match narrows the calls that a rule looks at. Every field that is given must
// agree; a field that is empty agrees with all. A pattern that ends in "*"
// agrees with what starts alike.
type Match struct {
	Operations []Operation       `json:"operations,omitempty"`
	Namespaces []string          `json:"namespaces,omitempty"`
	Models     []string          `json:"models,omitempty"`
	Priorities []string          `json:"priorities,omitempty"`
	Profiles   []string          `json:"profiles,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
}

// Matches says whether a rule looks at the call.
func (m *Match) Matches(in *Input) bool {
	if len(m.Operations) > 0 && !slices.Contains(m.Operations, in.Operation) {
		return false
	}
	if len(m.Labels) > 0 && !m.labelsAgree(in.Task.Labels) {
		return false
	}
	return agrees(m.Namespaces, in.Task.Namespace) && agrees(m.Models, in.Task.Model) &&
		agrees(m.Priorities, in.Task.Priority) && agrees(m.Profiles, in.Pod.Profile)
}

func (m *Match) labelsAgree(labels map[string]string) bool {
	for key, value := range m.Labels {
		if have, ok := labels[key]; !ok || have != value {
			return false
		}
	}
	return true
}

// Validate says what is wrong with a match: an unknown operation or a "*" that
// is not at the end. Paths are relative to the match.
func (m *Match) Validate() []LoadError {
	var faults []LoadError
	for _, o := range m.Operations {
		if !o.known() {
			faults = append(faults, LoadError{Path: "operations", Text: quoted(string(o)) + " is not an operation: want Admit, Renew, BuildPod or RecordUsage"})
		}
	}
	lists := []struct {
		path   string
		values []string
	}{{"namespaces", m.Namespaces}, {"models", m.Models}, {"priorities", m.Priorities}, {"profiles", m.Profiles}}
	for _, l := range lists {
		for _, value := range l.values {
			if i := strings.IndexByte(value, '*'); i >= 0 && i < len(value)-1 {
				faults = append(faults, LoadError{Path: l.path, Text: quoted(value) + ": * may only be the last character"})
			}
		}
	}
	return faults
}

// agrees is small enough to cost nothing where no pattern is given, which is
// most often so.
func agrees(patterns []string, value string) bool {
	return len(patterns) == 0 || oneAgrees(patterns, value)
}

func oneAgrees(patterns []string, value string) bool {
	for _, p := range patterns {
		if prefix, open := strings.CutSuffix(p, "*"); p == value || open && strings.HasPrefix(value, prefix) {
			return true
		}
	}
	return false
}
