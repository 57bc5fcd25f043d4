package policy

import (
	"fmt"
	"strings"
	"time"
)

// Outcome is the gist of a verdict. The zero value denies; greater is milder.
type Outcome uint8

// The outcomes, from the strictest to the mildest.
const (
	Deny  Outcome = iota // no, and time alone will not change it
	Hold                 // not now: ask again after RetryAfter
	Allow                // no objection
)

var outcomeNames = [...]string{"Deny", "Hold", "Allow"}

// String names the outcome: Deny, Hold or Allow.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("Outcome(%d)", o)
}

// MarshalText writes the name; an outcome that does not exist is an error.
func (o Outcome) MarshalText() ([]byte, error) { return marshalName(o, outcomeNames[:]) }

// UnmarshalText reads a name; anything else is an error, never Allow.
func (o *Outcome) UnmarshalText(text []byte) error { return unmarshalName(o, text, outcomeNames[:]) }

// Verdict is what a hook says. The zero value denies.
//
// A hook fills Outcome, Reasons, Warnings, Caps, RetryAfter and Labels; the
// rest is filled by Set.
type Verdict struct {
	// Outcome of all policies: the strictest.
	Outcome Outcome `json:"outcome"`
	// Reasons of the refusal, sorted by policy, code and message.
	Reasons []Reason `json:"reasons,omitempty"`
	// Warnings for the person who created the task; they refuse nothing.
	Warnings []Reason `json:"warnings,omitempty"`
	// Caps on what the task may use, each the least that any policy named.
	Caps Caps `json:"caps,omitzero"`
	// RetryAfter is when to ask again after a Hold: the longest that any
	// policy named, 0 if none did. It is 0 unless the outcome is Hold.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Labels that policies put on the record or the decision.
	Labels map[string]string `json:"labels,omitempty"`
	// Revision of the set that answered.
	Revision string `json:"revision,omitempty"`
	// DryRun is what policies in dry run would have said.
	DryRun []Reason `json:"dryRun,omitempty"`
	// Skipped policies and rules, whose match did not include this call.
	Skipped []Skip `json:"skipped,omitempty"`
	// Errors of policies, for the operator.
	Errors []Failure `json:"errors,omitempty"`
	// Omitted counts the reasons and warnings beyond MaxReasons of each.
	Omitted int `json:"omitted,omitempty"`
}

// Allowed says that no policy objects.
func (v *Verdict) Allowed() bool { return v.Outcome == Allow }

// Pass is the verdict of a hook that has no objection.
func Pass() Verdict { return Verdict{Outcome: Allow} }

// Refuse is the verdict of a hook that denies.
func Refuse(code, message string) Verdict {
	return Verdict{Outcome: Deny, Reasons: []Reason{{Code: code, Message: message}}}
}

// HoldFor is the verdict of a hook that wants to be asked again later. A
// duration of 0 leaves the time to the host.
func HoldFor(after time.Duration, code, message string) Verdict {
	return Verdict{Outcome: Hold, RetryAfter: after, Reasons: []Reason{{Outcome: Hold, Code: code, Message: message}}}
}

// Reason is one sentence of a verdict.
type Reason struct {
	// Policy that says it. Set fills it with the hook's name.
	Policy string `json:"policy"`
	// Code for machines: 1 to 63 of a-z, 0-9 and "-".
	Code string `json:"code"`
	// Message for a person, one line of at most MaxMessage bytes.
	Message string `json:"message"`
	// Outcome that this reason alone asks for: Deny or Hold. In a warning it is Allow.
	Outcome Outcome `json:"outcome"`
}

// Skip names a policy, or one rule of it, that was not evaluated.
type Skip struct {
	Policy string `json:"policy"`
	Rule   string `json:"rule,omitempty"`
	Why    string `json:"why"`
}

// Failure is the error of one policy.
type Failure struct {
	Policy string `json:"policy"`
	Rule   string `json:"rule,omitempty"`
	Code   string `json:"code"`
	// Message is the text of the error, cleaned like any message.
	Message string `json:"message"`
}

// Caps bound what a task may use. Nil means no cap; 0 is a cap of nothing.
// A cap above what is asked for changes nothing.
type Caps struct {
	MaxTokens       *int64 `json:"maxTokens,omitempty"`
	MaxCostMicros   *int64 `json:"maxCostMicros,omitempty"`
	CPUMilli        *int64 `json:"cpuMilli,omitempty"`
	MemoryBytes     *int64 `json:"memoryBytes,omitempty"`
	DeadlineSeconds *int64 `json:"deadlineSeconds,omitempty"`
}

// CapFields lists the names that Set knows, as policies write them.
func CapFields() []string {
	return []string{"maxTokens", "maxCostMicros", "cpuMilli", "memoryBytes", "deadlineSeconds"}
}

// Set lowers one cap, by its name, to value; a value above the present cap
// changes nothing. An unknown name or a negative value is an error.
func (c *Caps) Set(name string, value int64) error {
	field := c.field(name)
	if field == nil {
		return fmt.Errorf("cap %q: not one of %s", clip(name), strings.Join(CapFields(), ", "))
	}
	if value < 0 {
		return fmt.Errorf("cap %s: %d is negative", name, value)
	}
	lower(field, &value)
	return nil
}

// Merge returns the lesser of each cap.
func (c Caps) Merge(o Caps) Caps {
	for _, name := range CapFields() {
		lower(c.field(name), *o.field(name))
	}
	return c
}

func (c *Caps) field(name string) **int64 {
	switch name {
	case "maxTokens":
		return &c.MaxTokens
	case "maxCostMicros":
		return &c.MaxCostMicros
	case "cpuMilli":
		return &c.CPUMilli
	case "memoryBytes":
		return &c.MemoryBytes
	case "deadlineSeconds":
		return &c.DeadlineSeconds
	}
	return nil
}

// lower replaces *field by other if that is less. Values are copied: no two
// caps share memory.
func lower(field **int64, other *int64) {
	if other == nil || (*field != nil && **field <= *other) {
		return
	}
	value := *other
	*field = &value
}
