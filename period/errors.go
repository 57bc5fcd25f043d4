package period

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sentinels, to be tested for with [errors.Is].
var (
	// ErrUnknownKind is the cause when Type is empty or none of the kinds.
	ErrUnknownKind = errors.New("unknown kind of period")
	// ErrUnknownTimezone is the cause when a zone is not an admissible name or
	// the zone source does not know it.
	ErrUnknownTimezone = errors.New("unknown time zone")
	// ErrNoTZData is the cause when the zone source knows no zone at all: the
	// program lacks its tz data and the manifest may well be right.
	ErrNoTZData = errors.New("no time zone data")
	// ErrBeforeStart is the cause when a Lifetime has not started yet.
	ErrBeforeStart = errors.New("the period has not started")
	// ErrAfterEnd is the cause when a Lifetime is over.
	ErrAfterEnd = errors.New("the period has ended")
	// ErrNotOpen is the cause when a FirstUse period has no window: nothing has
	// opened one, or the instant lies before the one that is open.
	ErrNotOpen = errors.New("no window is open")
	// ErrZeroTime is the cause when an instant is the zero time.Time.
	ErrZeroTime = errors.New("the time is zero")
	// ErrOutOfRange is the cause when an instant, or a window that would hold it,
	// lies outside of the years that RFC 3339 can write.
	ErrOutOfRange = errors.New("the time is out of range")
	// ErrNoNext is the cause when no boundary follows.
	ErrNoNext = errors.New("no boundary follows")
	// ErrNotCompiled is the cause when a Period is nil or its zero value.
	ErrNotCompiled = errors.New("the period was not compiled")
	// ErrInvalidWindow is the cause when a stored window cannot have come from a
	// period of this kind: a bound is missing, or it ends before it starts.
	ErrInvalidWindow = errors.New("the stored window is not valid")
)

// What Next answers where At has an error of its own.
var (
	errNoNextNotOpen  = fmt.Errorf("%w: %w", ErrNoNext, ErrNotOpen)
	errNoNextAfterEnd = fmt.Errorf("%w: %w", ErrNoNext, ErrAfterEnd)
)

// Error is one fault: in a Spec that was compiled, or in an instant that was
// asked about.
type Error struct {
	// Field is the JSON name of the field of the Spec at fault, "now" for an
	// instant that was asked about, "window" for a stored window, "period" for a
	// Period that was not compiled.
	Field string
	// Value is what the field holds, as valid UTF-8 and at most about 80 bytes
	// long. It is empty where the fault is that nothing is there.
	Value string
	// Reason says what is wrong and what to write instead.
	Reason string

	cause error
}

// Error gives field, value (quoted) and reason on one line.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	if e.Value == "" {
		return e.Field + ": " + e.Reason
	}
	return e.Field + " " + strconv.Quote(e.Value) + ": " + e.Reason
}

// Unwrap gives the sentinel that fits the fault, or nil.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// Errors gives every *Error in err's tree, in order, each once; nil when there
// is none. A caller maps them onto its own kind of field error.
func Errors(err error) []*Error {
	switch e := err.(type) { //nolint:errorlint // it walks the whole tree itself, where errors.As stops at the first
	case nil:
		return nil
	case *Error:
		if e == nil {
			return nil
		}
		return []*Error{e}
	case interface{ Unwrap() []error }:
		var all []*Error
		for _, inner := range e.Unwrap() {
			all = append(all, Errors(inner)...)
		}
		return all
	case interface{ Unwrap() error }:
		return Errors(e.Unwrap())
	}
	return nil
}

// fault builds an *Error with a value that is safe to print.
func fault(field, value string, cause error, format string, args ...any) *Error {
	return &Error{Field: field, Value: shorten(value), Reason: fmt.Sprintf(format, args...), cause: cause}
}

// longest text from input that a message repeats, in bytes
const maxQuoted = 64

// shorten makes text from input fit for a message: valid UTF-8, and short.
func shorten(s string) string {
	if len(s) <= maxQuoted {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	cut := maxQuoted
	for cut > maxQuoted-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.ToValidUTF8(s[:cut], "\uFFFD") + "... (" + strconv.Itoa(len(s)) + " bytes)"
}
