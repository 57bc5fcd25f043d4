package policy_test

import (
	"encoding"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bursar-dev/bursar/policy"
)

// name is a value that is written in configuration by a name.
type name interface {
	encoding.TextMarshaler
	String() string
}

func TestNamesAreReadAsTheyAreWritten(t *testing.T) {
	names := map[string]name{
		"Deny": policy.Deny, "Hold": policy.Hold, "Allow": policy.Allow,
		"enforce": policy.Enforce, "warn": policy.Warn, "dryrun": policy.DryRun,
	}
	for want, value := range names {
		if text, err := value.MarshalText(); err != nil || string(text) != want || value.String() != want {
			t.Errorf("%s: got %s, %v and %s", want, text, err, value)
		}
	}
	for want, value := range map[string]policy.OnError{"deny": policy.OnErrorDeny, "warn": policy.OnErrorWarn} {
		var read policy.OnError
		text, err := value.MarshalText()
		if err != nil || string(text) != want || value.String() != want || read.UnmarshalText(text) != nil || read != value {
			t.Errorf("%s: got %s, %v, read as %s", want, text, err, read)
		}
	}
}

func TestANameThatDoesNotExistIsAnError(t *testing.T) {
	for want, value := range map[string]name{
		"Outcome(3)": policy.Outcome(3), "7": policy.Enforcement(7), "9": policy.OnError(9),
	} {
		if text, err := value.MarshalText(); err == nil {
			t.Errorf("%s was written as %s", want, text)
		}
		if value.String() != want {
			t.Errorf("got %s, want %s", value, want)
		}
	}
	var b policy.Binding
	for _, text := range []string{`{"enforcement":"Enforce"}`, `{"enforcement":""}`, `{"onError":"ignore"}`} {
		if err := json.Unmarshal([]byte(text), &b); err == nil || !strings.Contains(err.Error(), "is not one of") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	o := policy.Hold
	if err := o.UnmarshalText([]byte("allow")); err == nil || o != policy.Hold || err.Error() != `"allow" is not one of Deny, Hold, Allow` {
		t.Errorf("got %s, %v", o, err)
	}
}
