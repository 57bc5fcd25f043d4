package usage

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Meter names one thing that a task spends or consumes. The unit of an amount
// follows from its meter: nano-USD for [CostUSD], a plain count for every
// other one.
//
// Beside the standard names a host may count whatever it likes ("builds",
// "example.com/minutes"); [ValidateMeter] says which names are legal.
type Meter string

// The standard meters.
const (
	// CostUSD is money, in nano-USD (1 USD = 1,000,000,000).
	CostUSD Meter = "costUSD"
	// InputTokens are the tokens that a model read. Whether they include the
	// cached ones is said by the caller of [RecordUsage], never guessed.
	InputTokens Meter = "inputTokens"
	// OutputTokens are the tokens that a model wrote.
	OutputTokens Meter = "outputTokens"
	// CacheReadTokens are input tokens that a provider served from its cache.
	CacheReadTokens Meter = "cacheReadTokens"
	// CacheWriteTokens are input tokens that a provider wrote to its cache.
	CacheWriteTokens Meter = "cacheWriteTokens"
	// ReasoningTokens are the tokens of a model's hidden reasoning.
	ReasoningTokens Meter = "reasoningTokens"
	// Tasks counts the tasks themselves. Every record and every hold is one
	// task unless it says otherwise, so this meter is unknown only where what
	// it says can't be believed.
	Tasks Meter = "tasks"
	// Seconds is the time that a task ran, in whole seconds. [RecordUsage]
	// derives it from start and completion where nobody reported it.
	Seconds Meter = "seconds"
	// GPUSeconds is the time that a task held GPUs, times their number.
	GPUSeconds Meter = "gpuSeconds"
)

// maxMeterLength is the longest legal name of a meter, in bytes.
const maxMeterLength = 63

// ValidateMeter reports why m is not a legal name of a meter, nil if it is:
// 1 to 63 ASCII letters, digits, '-', '_', '.' and '/', a letter first and a
// letter or a digit last.
func ValidateMeter(m Meter) error {
	switch {
	case m == "":
		return fmt.Errorf("a meter needs a name, such as %q or %q", InputTokens, GPUSeconds)
	case len(m) > maxMeterLength:
		return fmt.Errorf("meter %s: %d bytes long, at most %d are allowed", Quote(string(m)), len(m), maxMeterLength)
	case !isLetter(m[0]) || !isAlphanumeric(m[len(m)-1]):
		return fmt.Errorf("meter %s: must start with a letter and end with a letter or a digit", Quote(string(m)))
	}
	for i := range len(m) {
		if !isAlphanumeric(m[i]) && !strings.ContainsRune("-_./", rune(m[i])) {
			return fmt.Errorf("meter %s: only letters, digits, '-', '_', '.' and '/' are allowed", Quote(string(m)))
		}
	}
	return nil
}

// Format gives an amount of this meter as people read it: dollars as a plain
// decimal without trailing zeros for [CostUSD], the count itself otherwise.
func (m Meter) Format(amount int64) string {
	if m == CostUSD {
		return FormatUSD(amount)
	}
	return strconv.FormatInt(amount, 10)
}

// Parse reads an amount of this meter from text: [ParseUSD] for [CostUSD],
// [ParseCount] otherwise.
func (m Meter) Parse(text string) (int64, error) {
	if m == CostUSD {
		return ParseUSD(text)
	}
	return ParseCount(text)
}

// implicit is what a task counts for on a meter that nobody named.
func (m Meter) implicit() (int64, bool) { return 1, m == Tasks }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isAlphanumeric(c byte) bool { return isLetter(c) || isDigit(c) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// maxQuoted is how much of a foreign text an error message repeats, in bytes.
const maxQuoted = 64

// Quote gives a foreign text for an error message: quoted, control characters
// and invalid UTF-8 escaped, a long one cut with its length told.
func Quote(text string) string {
	if len(text) <= maxQuoted {
		return fmt.Sprintf("%q", text)
	}
	cut := maxQuoted
	for cut > maxQuoted-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:cut], len(text))
}
