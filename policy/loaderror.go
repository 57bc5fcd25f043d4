package policy

import (
	"fmt"
	"strconv"
	"strings"
)

// LoadError is one fault of a policy that was found when it was loaded.
type LoadError struct {
	// File that the policy was read from; empty for policies given inline.
	File string
	// Line and Column in the file, or in the expression if File is empty;
	// counted from 1, 0 if not known.
	Line, Column int
	// Path of the field within the policy, say rules[2].when; empty in Rego.
	Path string
	// Rule that the fault is in; empty if it is in none.
	Rule string
	// Text of the fault.
	Text string
}

// Error is file:line:column, path and text, as far as they are known.
func (e LoadError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ":")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:", e.Line)
	}
	if e.Line > 0 && e.Column > 0 {
		fmt.Fprintf(&b, "%d:", e.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	if e.Rule != "" {
		fmt.Fprintf(&b, "rule %s: ", e.Rule)
	}
	return b.String() + e.Text
}

// LoadErrors is every fault of a policy that was found when it was loaded. It
// is never empty when it is returned as an error.
type LoadErrors []LoadError

// Error is one line per fault.
func (e LoadErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Err is the list as an error, nil if it is empty.
func (e LoadErrors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

func quoted(text string) string { return strconv.Quote(clip(text)) }
