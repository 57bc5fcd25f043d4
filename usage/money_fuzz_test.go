package usage_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar-dev/bursar/usage"
)

// longExponent is what the naive twin would take for ever to compute.
var longExponent = regexp.MustCompile(`[eE][+-]?0*\d{4}`)

func FuzzParseUSD(f *testing.F) {
	for _, text := range []string{
		"0.25", "1e-05", " 12\n", ".5", "5.", "1e+3", "9223372036.854775807", "9223372036.854775808", "0.0000000001", "１", "-1", "1Ki", "\xff",
		"00000000000000000001", "0.99999999999999999999", "18446744073709551616e-9",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		nano, err := usage.ParseUSD(text)
		if err == nil {
			if again, err := usage.ParseUSD(usage.FormatUSD(nano)); err != nil || again != nano {
				t.Fatalf("%q is %d, which is read back as %d, %v", text, nano, again, err)
			}
		}
		if !longExponent.MatchString(text) {
			compareUSD(t, text)
		}
	})
}

func FuzzParseCount(f *testing.F) {
	for _, text := range []string{"0", "1500", " 7 ", "-1", "1e3", "9223372036854775807", "9223372036854775808", "１", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := usage.ParseCount(text)
		trimmed := strings.TrimSpace(text)
		unsigned, wantErr := strconv.ParseUint(trimmed, 10, 63)
		want := int64(unsigned)
		if (err == nil) != (wantErr == nil) || err == nil && got != want {
			t.Fatalf("ParseCount(%q) = %d, %v, want %d, %v", text, got, err, want, wantErr)
		}
	})
}
