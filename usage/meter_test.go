package usage_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bursar-dev/bursar/usage"
)

func TestValidateMeter(t *testing.T) {
	for _, m := range []usage.Meter{
		usage.CostUSD, usage.InputTokens, usage.OutputTokens, usage.CacheReadTokens, usage.CacheWriteTokens, usage.ReasoningTokens,
		usage.Tasks, usage.Seconds, usage.GPUSeconds, "a", "A9", "example.com/gpu_minutes-2", usage.Meter(strings.Repeat("a", 63)),
	} {
		if err := usage.ValidateMeter(m); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
	for m, reason := range map[usage.Meter]string{
		"":                                      "needs a name",
		"9a":                                    "start with a letter",
		"-a":                                    "start with a letter",
		"a-":                                    "end with a letter or a digit",
		"a/":                                    "end with a letter or a digit",
		"a b":                                   "only letters",
		"a\nb":                                  "only letters",
		"größe":                                 "only letters",
		"a\xffb":                                "only letters",
		"é":                                     "start with a letter",
		usage.Meter(strings.Repeat("a", 64)):    "64 bytes long",
		usage.Meter(strings.Repeat("a", 1<<20)): "1048576 bytes long",
	} {
		err := usage.ValidateMeter(m)
		if err == nil || !strings.Contains(err.Error(), reason) || len(err.Error()) > 400 {
			t.Errorf("%s: %v, want an error with %q", usage.Quote(string(m)), err, reason)
		}
	}
}

func TestMeterFormatsAndParsesInItsUnit(t *testing.T) {
	for _, c := range []struct {
		meter  usage.Meter
		amount int64
		text   string
	}{
		{usage.CostUSD, 250_000_000, "0.25"},
		{usage.InputTokens, 250_000_000, "250000000"},
		{"pages", math.MaxInt64, "9223372036854775807"},
	} {
		if got := c.meter.Format(c.amount); got != c.text {
			t.Errorf("%s.Format(%d) = %q, want %q", c.meter, c.amount, got, c.text)
		}
		if got, err := c.meter.Parse(c.text); err != nil || got != c.amount {
			t.Errorf("%s.Parse(%q) = %d, %v, want %d", c.meter, c.text, got, err, c.amount)
		}
	}
	if got, err := usage.InputTokens.Parse("0.25"); err == nil {
		t.Errorf("a quarter of a token: got %d, want an error", got)
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                       `"plain"`,
		"":                            `""`,
		"a\nb\x00\xff":                `"a\nb\x00\xff"`,
		strings.Repeat("a", 64):       `"` + strings.Repeat("a", 64) + `"`,
		strings.Repeat("a", 65):       `"` + strings.Repeat("a", 64) + `"… (65 bytes)`,
		strings.Repeat("é", 32) + "é": `"` + strings.Repeat("é", 32) + `"… (66 bytes)`,
		"a" + strings.Repeat("é", 32): `"a` + strings.Repeat("é", 31) + `"… (65 bytes)`,
	} {
		got := usage.Quote(text)
		if got != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
		if !utf8.ValidString(got) {
			t.Errorf("Quote(%q) is no UTF-8", text)
		}
	}
	if got := usage.Quote(strings.Repeat("\xbf", 100)); len(got) > 400 {
		t.Errorf("bytes that begin nothing: %s", got)
	}
}
