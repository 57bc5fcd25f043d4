package policy

import (
	"fmt"
	"strings"
)

// Enforcement says what becomes of a policy's refusals.
type Enforcement uint8

// The ways to enforce a policy. The zero value enforces.
const (
	Enforce Enforcement = iota // refusals and caps count
	Warn                       // refusals and errors become warnings, caps do not count
	DryRun                     // all is recorded in Verdict.DryRun and Errors, nothing acts
)

var enforcementNames = [...]string{"enforce", "warn", "dryrun"}

// String names the enforcement as it is written in configuration.
func (e Enforcement) String() string { return nameOf(e, enforcementNames[:]) }

// MarshalText writes the name.
func (e Enforcement) MarshalText() ([]byte, error) { return marshalName(e, enforcementNames[:]) }

// UnmarshalText reads enforce, warn or dryrun; anything else is an error.
func (e *Enforcement) UnmarshalText(text []byte) error {
	return unmarshalName(e, text, enforcementNames[:])
}

// OnError says what becomes of a policy that could not be evaluated.
type OnError uint8

// The ways to take an error. The zero value denies.
const (
	OnErrorDeny OnError = iota // the task is refused
	OnErrorWarn                // the error becomes a warning
)

var onErrorNames = [...]string{"deny", "warn"}

// String names the choice as it is written in configuration.
func (e OnError) String() string { return nameOf(e, onErrorNames[:]) }

// MarshalText writes the name.
func (e OnError) MarshalText() ([]byte, error) { return marshalName(e, onErrorNames[:]) }

// UnmarshalText reads deny or warn; anything else is an error.
func (e *OnError) UnmarshalText(text []byte) error { return unmarshalName(e, text, onErrorNames[:]) }

func nameOf[T ~uint8](value T, names []string) string {
	if int(value) < len(names) {
		return names[value]
	}
	return fmt.Sprintf("%d", value)
}

func marshalName[T ~uint8](value T, names []string) ([]byte, error) {
	if int(value) >= len(names) {
		return nil, fmt.Errorf("%d is not one of %s", value, strings.Join(names, ", "))
	}
	return []byte(names[value]), nil
}

func unmarshalName[T ~uint8](value *T, text []byte, names []string) error {
	for i, name := range names {
		if name == string(text) {
			*value = T(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not one of %s", clip(string(text)), strings.Join(names, ", "))
}
