package policy

import (
	"fmt"
	"slices"
	"strings"
)

// needs says which fields an effect requires and which others it may have.
// name, description, match, when and effect are everyone's.
var needs = map[Effect]struct{ required, allowed []string }{
	EffectDeny:  {nil, []string{"code", "message", "messageExpression"}},
	EffectHold:  {nil, []string{"code", "message", "messageExpression", "retryAfterSeconds"}},
	EffectWarn:  {nil, []string{"code", "message", "messageExpression"}},
	EffectCap:   {[]string{"field", "value"}, []string{"field", "value"}},
	EffectLabel: {[]string{"key", "value"}, []string{"key", "value"}},
}

// RuleCompiler makes one hook of rules that are given inline, as a budget
// carries them. cel.CompileRules is one; whoever compiles budgets injects it,
// so that who never does links no engine. The name is for messages and any
// text. The error is a LoadErrors whose paths start with rules[i].
type RuleCompiler func(name string, rules []Rule) (Hook, error)

// CheckRules says what is wrong with the shape of rules: everything but their
// expressions, which only an engine can read. Paths start with rules[i].
func CheckRules(rules []Rule) LoadErrors {
	var faults LoadErrors
	for i := range rules {
		r := &rules[i]
		found := r.Validate()
		if ValidCode(r.Name) && slices.ContainsFunc(rules[:i], func(o Rule) bool { return o.Name == r.Name }) {
			found = append(found, LoadError{Path: "name", Rule: r.Name, Text: "is given twice"})
		}
		if r.When == "" {
			found = append(found, LoadError{Path: "when", Rule: r.Name, Text: "is required"})
		}
		for _, e := range found {
			e.Path = fmt.Sprintf("rules[%d].%s", i, e.Path)
			faults = append(faults, e)
		}
	}
	return faults
}

// Validate says what is wrong with the fields of one rule, but for its
// expressions. Paths are relative to the rule.
func (r *Rule) Validate() []LoadError {
	c := ruleCheck{rule: r}
	if !ValidCode(r.Name) {
		c.fail("name", "%q: want 1 to 63 of a-z, 0-9 and -", clip(r.Name))
	}
	for _, e := range r.Match.Validate() {
		c.fail("match."+e.Path, "%s", e.Text)
	}
	c.fields()
	return c.faults
}

// ruleCheck gathers the faults of one rule.
type ruleCheck struct {
	rule   *Rule
	faults []LoadError
}

func (c *ruleCheck) fail(path, format string, args ...any) {
	name := c.rule.Name
	if path == "name" {
		name = ""
	}
	c.faults = append(c.faults, LoadError{Path: path, Rule: name, Text: fmt.Sprintf(format, args...)})
}

// fields says which fields are missing, or do not belong to the effect.
func (c *ruleCheck) fields() {
	r := c.rule
	need, ok := needs[r.Effect]
	if !ok {
		c.fail("effect", "%q is not one of deny, hold, warn, cap, label", clip(string(r.Effect)))
		return
	}
	for _, given := range []struct{ name, text string }{
		{"code", r.Code},
		{"message", r.Message},
		{"messageExpression", r.MessageExpression},
		{"retryAfterSeconds", r.RetryAfterSeconds},
		{"field", r.Field},
		{"key", r.Key},
		{"value", r.Value},
	} {
		switch {
		case given.text != "" && !slices.Contains(need.allowed, given.name):
			c.fail(given.name, "does not belong to the effect %s", r.Effect)
		case given.text == "" && slices.Contains(need.required, given.name):
			c.fail(given.name, "is required for the effect %s", r.Effect)
		}
	}
	if slices.Contains(need.allowed, "message") {
		c.reason()
	}
	c.target()
}

func (c *ruleCheck) reason() {
	r := c.rule
	if (r.Message == "") == (r.MessageExpression == "") {
		c.fail("message", "exactly one of message and messageExpression is required")
	}
	if r.Code != "" && !ValidCode(r.Code) {
		c.fail("code", "%q: want 1 to 63 of a-z, 0-9 and -", clip(r.Code))
	}
	if len(r.Message) > MaxMessage {
		c.fail("message", "has %d bytes, at most %d are allowed", len(r.Message), MaxMessage)
	}
}

func (c *ruleCheck) target() {
	r := c.rule
	switch {
	case r.Effect == EffectCap && r.Field != "" && !slices.Contains(CapFields(), r.Field):
		c.fail("field", "%q is not one of %s", clip(r.Field), strings.Join(CapFields(), ", "))
	case r.Effect == EffectLabel && r.Key != "" && !ValidLabel(r.Key, ""):
		c.fail("key", "%q is not a valid label key", clip(r.Key))
	}
}
