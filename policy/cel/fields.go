package cel

import (
	"strings"

	"github.com/bursar-dev/bursar/policy"
)

// needs says which fields an effect requires and which others it may have.
// name, description, match, when and effect are everyone's.
var needs = map[policy.Effect]struct{ required, allowed []string }{
	policy.EffectDeny:  {nil, []string{"code", "message", "messageExpression"}},
	policy.EffectHold:  {nil, []string{"code", "message", "messageExpression", "retryAfterSeconds"}},
	policy.EffectWarn:  {nil, []string{"code", "message", "messageExpression"}},
	policy.EffectCap:   {[]string{"field", "value"}, []string{"field", "value"}},
	policy.EffectLabel: {[]string{"key", "value"}, []string{"key", "value"}},
}

// checkFields says which fields are missing, or do not belong to the effect.
func (c *compiler) checkFields(path string, r policy.Rule) {
	need, ok := needs[r.Effect]
	if !ok {
		c.fail(path+".effect", r.Name, "%q is not one of deny, hold, warn, cap, label", short(string(r.Effect)))
		return
	}
	given := map[string]string{
		"code": r.Code, "message": r.Message, "messageExpression": r.MessageExpression,
		"retryAfterSeconds": r.RetryAfterSeconds, "field": r.Field, "key": r.Key, "value": r.Value,
	}
	for _, name := range []string{"code", "message", "messageExpression", "retryAfterSeconds", "field", "key", "value"} {
		switch {
		case given[name] != "" && !contains(need.allowed, name):
			c.fail(path+"."+name, r.Name, "does not belong to the effect %s", r.Effect)
		case given[name] == "" && contains(need.required, name):
			c.fail(path+"."+name, r.Name, "is required for the effect %s", r.Effect)
		}
	}
	c.checkReason(path, r)
	c.checkTarget(path, r)
}

func (c *compiler) checkReason(path string, r policy.Rule) {
	if !contains(needs[r.Effect].allowed, "message") {
		return
	}
	if (r.Message == "") == (r.MessageExpression == "") {
		c.fail(path+".message", r.Name, "exactly one of message and messageExpression is required")
	}
	if r.Code != "" && !policy.ValidCode(r.Code) {
		c.fail(path+".code", r.Name, "%q: want 1 to 63 of a-z, 0-9 and -", short(r.Code))
	}
	if len(r.Message) > policy.MaxMessage {
		c.fail(path+".message", r.Name, "has %d bytes, at most %d are allowed", len(r.Message), policy.MaxMessage)
	}
}

func (c *compiler) checkTarget(path string, r policy.Rule) {
	switch {
	case r.Effect == policy.EffectCap && r.Field != "" && !contains(policy.CapFields(), r.Field):
		c.fail(path+".field", r.Name, "%q is not one of %s", short(r.Field), strings.Join(policy.CapFields(), ", "))
	case r.Effect == policy.EffectLabel && r.Key != "" && !policy.ValidLabel(r.Key, ""):
		c.fail(path+".key", r.Name, "%q is not a valid label key", short(r.Key))
	}
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}
