package rego_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursar-dev/bursar/rego"
)

// TestValuesWithinValuesAreRefusedInOneRule: x1 is [x0, x0], x2 is [x1, x1] and
// so on would keep the type checker busy for ever.
func TestValuesWithinValuesAreRefusedInOneRule(t *testing.T) {
	load := func(depth int, of string) error {
		var body strings.Builder
		body.WriteString("package bursar.p\ndeny contains {\"code\": \"c\", \"msg\": \"m\"} if {\n\tx0 := input.task.model\n")
		for i := range depth {
			fmt.Fprintf(&body, "\tx%d := "+of+"\n", i+1, i)
		}
		fmt.Fprintf(&body, "\tx%d == 1\n}\n", depth)
		_, err := rego.Compile(map[string]string{"p.rego": body.String()}, rego.Options{})
		return err
	}
	if err := load(60, "[x%d, x%[2]d]"); err == nil || !strings.Contains(err.Error(), "puts values into values too many times over") {
		t.Errorf("doubled 60 times: %v", err)
	}
	if err := load(60, "{\"a\": x%d, \"b\": [x%[2]d]}"); err == nil || !strings.Contains(err.Error(), "too many times over") {
		t.Errorf("doubled 60 times in objects: %v", err)
	}
	if err := load(60, "[x%d]"); err != nil && strings.Contains(err.Error(), "too many times over") {
		t.Errorf("60 lists of one: %v", err)
	}
	if err := load(4, "[x%d, x%[2]d]"); err != nil && strings.Contains(err.Error(), "too many times over") {
		t.Errorf("doubled four times: %v", err)
	}
}
