package policy_test

import (
	"testing"

	"github.com/bursar-dev/bursar/policy"
)

func TestAFaultIsWrittenWithWhatIsKnownOfItsPlace(t *testing.T) {
	for want, e := range map[string]policy.LoadError{
		"text":                             {Text: "text"},
		"p.rego:3:7: text":                 {File: "p.rego", Line: 3, Column: 7, Text: "text"},
		"p.yaml: text":                     {File: "p.yaml", Text: "text"},
		"1:9: rules[0].when: rule r: text": {Line: 1, Column: 9, Path: "rules[0].when", Rule: "r", Text: "text"},
		"p.yaml:4:2: rules[1].when: rule r: text": {File: "p.yaml", Line: 4, Column: 2, Path: "rules[1].when", Rule: "r", Text: "text"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if err := (policy.LoadErrors{}).Err(); err != nil {
		t.Errorf("no fault is the error %v", err)
	}
	all := policy.LoadErrors{{Text: "a"}, {Text: "b"}}
	if err := all.Err(); err == nil || err.Error() != "a\nb" {
		t.Errorf("got %v", err)
	}
}

func TestADigestIsOfNamesAndContents(t *testing.T) {
	files := map[string][]byte{"a": []byte("1"), "b": []byte("2")}
	pin := policy.Digest(files)
	if err := policy.CheckDigest(files, pin); err != nil {
		t.Error(err)
	}
	if err := policy.CheckDigest(files, ""); err != nil {
		t.Error("an empty pin refuses:", err)
	}
	for name, other := range map[string]map[string][]byte{
		"a changed content":         {"a": []byte("1"), "b": []byte("3")},
		"another name":              {"a": []byte("1"), "c": []byte("2")},
		"a file more":               {"a": []byte("1"), "b": []byte("2"), "c": nil},
		"a file less":               {"a": []byte("1")},
		"bytes moved between files": {"a": []byte("12"), "b": nil},
		"contents exchanged":        {"a": []byte("2"), "b": []byte("1")},
	} {
		if err := policy.CheckDigest(other, pin); err == nil || err.Error() != "the policies have the digest "+policy.Digest(other)+", want "+pin {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCapsAreSetByName(t *testing.T) {
	var c policy.Caps
	for i, name := range policy.CapFields() {
		if err := c.Set(name, int64(i+1)); err != nil {
			t.Error(err)
		}
		if err := c.Set(name, int64(i+9)); err != nil { // does not raise it
			t.Error(err)
		}
	}
	got := []int64{*c.MaxTokens, *c.MaxCostMicros, *c.CPUMilli, *c.MemoryBytes, *c.DeadlineSeconds}
	for i, n := range got {
		if n != int64(i+1) {
			t.Errorf("%s: got %d", policy.CapFields()[i], n)
		}
	}
	if err := c.Set("memory", 1); err == nil || err.Error() != `cap "memory": not one of maxTokens, maxCostMicros, cpuMilli, memoryBytes, deadlineSeconds` {
		t.Errorf("got %v", err)
	}
	if err := c.Set("maxTokens", -1); err == nil || *c.MaxTokens != 1 {
		t.Errorf("got %v", err)
	}
}
