package rego

import (
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bursar-dev/bursar/policy"
)

// maxMembers bounds what a set may hold.
const maxMembers = 64

// verdictOf reads the sets of a policy. A member that is malformed is an
// error; the others count all the same.
func verdictOf(names []string, sets *ast.Array) (policy.Verdict, error) {
	v := policy.Pass()
	var faults []error
	for i, name := range names {
		set, ok := sets.Elem(i).Value.(ast.Set)
		if !ok {
			return policy.Verdict{}, badResult("%s: want a set, have %s", name, ast.ValueName(sets.Elem(i).Value))
		}
		if set.Len() > maxMembers {
			faults = append(faults, badResult("%s: %d members, at most %d are allowed", name, set.Len(), maxMembers))
			continue
		}
		set.Foreach(func(member *ast.Term) {
			if err := addMember(name, member.Value, &v); err != nil {
				faults = append(faults, badResult("%s: %w", name, err))
			}
		})
	}
	if len(faults) > 0 && v.Outcome == policy.Allow {
		v.Outcome = policy.Deny
	}
	return v, errors.Join(faults...)
}

// addMember adds one member of a set to the verdict.
func addMember(set string, value ast.Value, v *policy.Verdict) error {
	switch set {
	case "deny":
		r, _, err := reasonOf(value, policy.CodeDenied, false)
		if err != nil {
			return err
		}
		v.Outcome = policy.Deny
		v.Reasons = append(v.Reasons, r)
	case "hold":
		return addHold(value, v)
	case "warn":
		r, _, err := reasonOf(value, "warning", false)
		if err != nil {
			return err
		}
		r.Outcome = policy.Allow
		v.Warnings = append(v.Warnings, r)
	case "cap":
		return addCap(value, v)
	case "label":
		return addLabel(value, v)
	}
	return nil
}

func addHold(value ast.Value, v *policy.Verdict) error {
	r, retry, err := reasonOf(value, "held", true)
	if err != nil {
		return err
	}
	r.Outcome = policy.Hold
	v.Outcome = min(v.Outcome, policy.Hold)
	v.Reasons = append(v.Reasons, r)
	v.RetryAfter = max(v.RetryAfter, retry)
	return nil
}

// reasonOf reads a string or {"code", "msg"}, and with hold also
// "retryAfterSeconds".
func reasonOf(value ast.Value, code string, hold bool) (policy.Reason, time.Duration, error) {
	if text, ok := value.(ast.String); ok {
		return policy.Reason{Code: code, Message: string(text)}, 0, nil
	}
	r := reasonReader{reason: policy.Reason{Code: code}, hold: hold}
	want := `a string or {"code": …, "msg": …}`
	if hold {
		want = `a string or {"code": …, "msg": …, "retryAfterSeconds": …}`
	}
	err := eachKey(value, want, r.read)
	if err == nil && !r.msg {
		err = errors.New("msg is missing")
	}
	return r.reason, r.retry, err
}

// reasonReader reads the keys of one reason.
type reasonReader struct {
	reason    policy.Reason
	retry     time.Duration
	hold, msg bool
}

func (r *reasonReader) read(key string, v ast.Value) (err error) {
	switch {
	case key == "code":
		if r.reason.Code, err = textOf(v); err == nil && !policy.ValidCode(r.reason.Code) {
			err = fmt.Errorf("%q: want 1 to 63 of a-z, 0-9 and -", policy.Clean(r.reason.Code))
		}
	case key == "msg":
		r.msg = true
		r.reason.Message, err = textOf(v)
	case key == "retryAfterSeconds" && r.hold:
		r.retry, err = secondsOf(v)
	case r.hold:
		err = errors.New("unknown key, want code, msg and retryAfterSeconds")
	default:
		err = errors.New("unknown key, want code and msg")
	}
	return err
}

func addCap(value ast.Value, v *policy.Verdict) error {
	field, limit, seen := "", int64(0), 0
	err := eachKey(value, `{"field": …, "value": …}`, func(key string, v ast.Value) (err error) {
		switch key {
		case "field":
			field, err = textOf(v)
		case "value":
			limit, err = intOf(v)
		default:
			return errors.New("unknown key, want field and value")
		}
		seen++
		return err
	})
	if err != nil {
		return err
	}
	if seen != 2 {
		return errors.New("field and value are required")
	}
	return v.Caps.Set(field, limit)
}

func addLabel(value ast.Value, v *policy.Verdict) error {
	label, text, seen := "", "", 0
	err := eachKey(value, `{"key": …, "value": …}`, func(key string, v ast.Value) (err error) {
		switch key {
		case "key":
			label, err = textOf(v)
		case "value":
			text, err = textOf(v)
		default:
			return errors.New("unknown key, want key and value")
		}
		seen++
		return err
	})
	switch {
	case err != nil:
		return err
	case seen != 2:
		return errors.New("key and value are required")
	case !policy.ValidLabel(label, text):
		return fmt.Errorf("%q: %q is not a valid label", policy.Clean(label), policy.Clean(text))
	}
	if old, taken := v.Labels[label]; taken && old != text {
		return fmt.Errorf("%s is set to %q and %q", label, old, text)
	}
	if v.Labels == nil {
		v.Labels = map[string]string{}
	}
	v.Labels[label] = text
	return nil
}

// eachKey visits the keys of an object in order; want describes it.
func eachKey(value ast.Value, want string, visit func(string, ast.Value) error) error {
	object, ok := value.(ast.Object)
	if !ok {
		return fmt.Errorf("a member is %s: want %s", named(value), want)
	}
	for _, key := range object.Keys() {
		name, err := textOf(key.Value)
		if err != nil {
			return fmt.Errorf("a key: %w", err)
		}
		if err := visit(name, object.Get(key).Value); err != nil {
			return fmt.Errorf("%s: %w", policy.Clean(name), err)
		}
	}
	return nil
}

// named is the kind of a value with its article.
func named(v ast.Value) string {
	name := ast.ValueName(v)
	if name == "array" || name == "object" {
		return "an " + name
	}
	return "a " + name
}

func textOf(v ast.Value) (string, error) {
	if s, ok := v.(ast.String); ok {
		return string(s), nil
	}
	return "", fmt.Errorf("want string, have %s", ast.ValueName(v))
}

func intOf(v ast.Value) (int64, error) {
	if n, ok := v.(ast.Number); ok {
		if i, ok := n.Int64(); ok {
			return i, nil
		}
		return 0, fmt.Errorf("%s is not a whole number of 64 bits: use floor", policy.Clean(n.String()))
	}
	return 0, fmt.Errorf("want number, have %s", ast.ValueName(v))
}

func secondsOf(v ast.Value) (time.Duration, error) {
	n, err := intOf(v)
	if err != nil {
		return 0, err
	}
	if most := int64(policy.MaxRetryAfter / time.Second); n < 0 || n > most {
		return 0, fmt.Errorf("%d is not between 0 and %d", n, most)
	}
	return time.Duration(n) * time.Second, nil
}
