package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on what a verdict carries.
const (
	// MaxMessage bounds a message, in bytes.
	MaxMessage = 1024
	// MaxReasons bounds the reasons of a verdict, and its warnings; the rest is
	// counted in Omitted.
	MaxReasons = 16
	// MaxLabels bounds the labels of a verdict; more are an error.
	MaxLabels = 16
)

// Clean makes text fit to be shown to a person: one line, valid UTF-8, no
// control or formatting characters (which could hide or reorder what is
// read), no white space around, at most MaxMessage bytes.
func Clean(text string) string {
	if isClean(text) {
		return text
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.TrimSpace(clipTo(strings.TrimSpace(text), MaxMessage))
}

func isClean(text string) bool {
	if len(text) > MaxMessage {
		return false
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return text == "" || (text[0] != ' ' && text[len(text)-1] != ' ')
}

// clip shortens text that an error quotes.
func clip(text string) string { return clipTo(text, 64) }

// clipTo cuts text to at most n bytes, between characters, and marks the cut.
func clipTo(text string, n int) string {
	const mark = "…"
	if len(text) <= n {
		return text
	}
	n -= len(mark)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + mark
}

// ValidCode says whether text may be the code of a reason: 1 to 63 of a-z,
// 0-9 and "-".
func ValidCode(text string) bool {
	if text == "" || len(text) > 63 {
		return false
	}
	for i := range len(text) {
		if c := text[i]; c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// ValidLabel says whether a label that a policy sets has the syntax of
// Kubernetes: an optional DNS prefix and a name of at most 63 as key, at most
// 63 as value.
func ValidLabel(key, value string) bool {
	prefix, name, found := strings.Cut(key, "/")
	if !found {
		prefix, name = "", key
	}
	if found && (prefix == "" || len(prefix) > 253 || strings.ToLower(prefix) != prefix || !validName(prefix, ".-")) {
		return false
	}
	return name != "" && len(name) <= 63 && validName(name, "-_.") &&
		len(value) <= 63 && (value == "" || validName(value, "-_."))
}

// validName says that text is of letters, digits and the extra characters,
// and starts and ends with a letter or digit.
func validName(text, extra string) bool {
	for i := range len(text) {
		c := text[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		edge := i == 0 || i == len(text)-1
		if !alnum && (edge || strings.IndexByte(extra, c) < 0) {
			return false
		}
	}
	return text != ""
}
