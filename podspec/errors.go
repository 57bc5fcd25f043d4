package podspec

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sentinels of this package. Every error that concerns a size is a *[SizeError] that wraps one of them, so that callers
// branch with errors.Is and people read the rest.
var (
	// ErrSyntax: the text is not a number or quantity of its dimension.
	ErrSyntax = errors.New("not a valid amount")
	// ErrZero: the amount is zero where zero was not declared to mean something (see [ZeroPolicy]).
	ErrZero = errors.New("is zero")
	// ErrNegative: the amount is below zero.
	ErrNegative = errors.New("is negative")
	// ErrNotFinite: the amount is NaN or infinite.
	ErrNotFinite = errors.New("is not a finite number")
	// ErrBelowMinimum: the amount is smaller than the dimension's floor.
	ErrBelowMinimum = errors.New("is below the minimum")
	// ErrAboveMaximum: the amount is larger than the dimension's cap.
	ErrAboveMaximum = errors.New("is above the maximum")
	// ErrFraction: the amount is no whole number of the dimension's unit (bytes, devices).
	ErrFraction = errors.New("is not a whole number")
	// ErrIncomplete: a required dimension is not set.
	ErrIncomplete = errors.New("is not set")
	// ErrRequestExceedsLimit: a request is larger than its limit; an API server refuses such a pod.
	ErrRequestExceedsLimit = errors.New("request exceeds limit")
	// ErrUnequal: two amounts that must be equal differ.
	ErrUnequal = errors.New("amounts differ")
	// ErrConflict: two declarations of the same thing contradict each other.
	ErrConflict = errors.New("contradicting declarations")
	// ErrResourceName: the name is not that of a resource that a container can request.
	ErrResourceName = errors.New("not a resource of a container")
	// ErrContainer: a container is missing, ambiguous, or has no size of its own where it needs one.
	ErrContainer = errors.New("container")
	// ErrPodLevel: the pod has pod-level resources and the plan does not say which level to size.
	ErrPodLevel = errors.New("pod-level resources present")
	// ErrLabel: a label key or value is not valid.
	ErrLabel = errors.New("not a valid label")
	// ErrProfile: a profile is unknown or declared wrongly.
	ErrProfile = errors.New("profile")
	// ErrOption: an option or argument is out of its range.
	ErrOption = errors.New("not a valid option")
)

// SizeError is a fault in a size: where it stands, what was written there, why it is refused and what to write instead.
type SizeError struct {
	// Field is the place: a dimension ("cpu"), an environment variable or a path in a pod. Never empty.
	Field string
	// Text is what was written, clipped to 64 bytes; empty where nothing was written.
	Text string
	// Reason is the fault in a sentence without its subject.
	Reason string
	// Hint is what to write instead; empty where there is no better advice than the reason.
	Hint string
	// Err is the sentinel that errors.Is finds; never nil.
	Err error
}

// Error gives place, text, reason and hint on one line.
func (e *SizeError) Error() string {
	var b strings.Builder
	b.WriteString(e.Field)
	b.WriteString(": ")
	if e.Text != "" {
		fmt.Fprintf(&b, "%q ", e.Text)
	}
	b.WriteString(e.Reason)
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap gives the sentinel.
func (e *SizeError) Unwrap() error { return e.Err }

const maxText = 64

// clip shortens foreign text for an error, at a rune boundary.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// fault builds a SizeError; the sentinel's own text is the reason unless a better one is given.
func fault(sentinel error, field, text, reason, hint string) *SizeError {
	if reason == "" {
		reason = sentinel.Error()
	}
	return &SizeError{Field: field, Text: clip(text), Reason: reason, Hint: hint, Err: sentinel}
}

// faults collects errors so that all of them are reported at once.
type faults []error

func (f *faults) add(err error) {
	if err != nil {
		*f = append(*f, err)
	}
}

// err is the one error for all: nil, the fault itself, or the join.
func (f faults) err() error {
	switch len(f) {
	case 0:
		return nil
	case 1:
		return f[0]
	}
	return errors.Join(f...)
}
