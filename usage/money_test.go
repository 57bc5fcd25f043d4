package usage_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/usage"
)

func TestParseUSD(t *testing.T) {
	for text, want := range map[string]int64{
		"0":                                      0,
		"0.00":                                   0,
		"000":                                    0,
		"0e99999999999999999999":                 0,
		"0e-99999999999999999999":                0,
		"0.25":                                   250_000_000,
		"12":                                     12 * usage.USD,
		"0012.50":                                12_500_000_000,
		".5":                                     500_000_000,
		"5.":                                     5 * usage.USD,
		"1e-05":                                  10_000,
		"1E-5":                                   10_000,
		"1e+3":                                   1000 * usage.USD,
		"1e3":                                    1000 * usage.USD,
		"1e0009":                                 usage.USD * usage.USD,
		"1.5e0":                                  1_500_000_000,
		"0.000000001":                            1,
		"0.0000000001":                           1,
		"0.0000000010000000000000000000000001":   2,
		"1e-99999999999999999999":                1,
		"0.1234567891":                           123_456_790,
		"9223372036.854775807":                   math.MaxInt64,
		"9223372036.8547758070000":               math.MaxInt64,
		"9223372036.8547758060000000000000001":   math.MaxInt64,
		"922337203685477580.7e-8":                math.MaxInt64,
		"\t0.12\n":                               120_000_000,
		"\t\v\f\r1\u00a0\u2003\u3000\u0085":      usage.USD,
		strings.Repeat("0", 1<<20) + "1":         usage.USD,
		"0." + strings.Repeat("0", 1<<20) + "1":  1,
		"1." + strings.Repeat("0", 1<<20):        usage.USD,
		"1" + strings.Repeat("0", 200) + "e-200": usage.USD,
		"0." + strings.Repeat("0", 200) + "1e201": usage.USD,
	} {
		got, err := usage.ParseUSD(text)
		if err != nil || got != want {
			t.Errorf("ParseUSD(%s) = %d, %v, want %d", usage.Quote(text), got, err, want)
		}
	}
}

func TestParseUSDRefuses(t *testing.T) {
	for text, reason := range map[string]string{
		"":                                    "it is empty",
		" \n":                                 "it is empty",
		".":                                   "want a plain decimal",
		"e5":                                  "want a plain decimal",
		".e5":                                 "want a plain decimal",
		"1e":                                  "want a plain decimal",
		"1e+":                                 "want a plain decimal",
		"1e-+5":                               "want a plain decimal",
		"1e+-5":                               "want a plain decimal",
		"1e5.":                                "want a plain decimal",
		"1e5e5":                               "want a plain decimal",
		"1e 5":                                "want a plain decimal",
		"1.2.3":                               "want a plain decimal",
		"1 000":                               "want a plain decimal",
		"1_000":                               "want a plain decimal",
		"0x10":                                "want a plain decimal",
		"1k":                                  "want a plain decimal",
		"1Ki":                                 "want a plain decimal",
		"5m":                                  "want a plain decimal",
		"1n":                                  "want a plain decimal",
		"NaN":                                 "want a plain decimal",
		"Inf":                                 "want a plain decimal",
		"true":                                "want a plain decimal",
		"１２":                                  "want a plain decimal",
		"٣":                                   "want a plain decimal",
		"1\u200b":                             "want a plain decimal",
		"\ufeff1":                             "want a plain decimal",
		"1\x00":                               "want a plain decimal",
		"\xff":                                `"\xff"`,
		"+1.5":                                "a sign",
		"-1.5":                                "a sign",
		"--1":                                 "a sign",
		"-0":                                  "a sign",
		"0,5":                                 "a comma",
		"1,000.5":                             "a comma",
		"$0.30":                               "a currency sign",
		"9223372036.854775808":                "more than 9223372036.854775807",
		"9223372036.8547758071":               "more than 9223372036.854775807",
		"18446744073.709551616":               "more than 9223372036.854775807",
		"18446744073.709551615":               "more than 9223372036.854775807",
		"0.000000000922337203685477580712e19": "more than 9223372036.854775807",
		"1e10":                                "more than 9223372036.854775807",
		"1e99999999999999999999":              "more than 9223372036.854775807",
		strings.Repeat("9", 1<<20):            "(1048576 bytes)",
	} {
		got, err := usage.ParseUSD(text)
		if err == nil || !strings.Contains(err.Error(), reason) || got != 0 {
			t.Errorf("ParseUSD(%s) = %d, %v, want an error with %q", usage.Quote(text), got, err, reason)
			continue
		}
		if len(err.Error()) > 400 {
			t.Errorf("ParseUSD(%s): the error is %d bytes long", usage.Quote(text), len(err.Error()))
		}
		if len(text) < 60 && !strings.Contains(err.Error(), usage.Quote(text)) {
			t.Errorf("ParseUSD(%q): %v does not quote the text", text, err)
		}
	}
}

func TestMustUSD(t *testing.T) {
	if got := usage.MustUSD("1.5"); got != 1_500_000_000 {
		t.Errorf("got %d", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("MustUSD did not panic")
		}
	}()
	usage.MustUSD("free")
}

func TestFormatUSD(t *testing.T) {
	for nano, want := range map[int64]string{
		0: "0", 1: "0.000000001", usage.USD: "1", 1_500_000_000: "1.5", 10: "0.00000001", -2 * usage.USD: "-2", -1: "-0.000000001",
		100 * usage.USD: "100", math.MaxInt64: "9223372036.854775807", math.MinInt64: "-9223372036.854775808",
	} {
		if got := usage.FormatUSD(nano); got != want {
			t.Errorf("FormatUSD(%d) = %q, want %q", nano, got, want)
		}
	}
}

func TestFormattedUSDIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nano := rapid.Int64Min(0).Draw(t, "nano")
		if got, err := usage.ParseUSD(usage.FormatUSD(nano)); err != nil || got != nano {
			t.Fatalf("ParseUSD(%q) = %d, %v", usage.FormatUSD(nano), got, err)
		}
		q := usage.USDQuantity(nano)
		if got, err := usage.USDFromQuantity(q); err != nil || got != nano {
			t.Fatalf("USDFromQuantity(%s) = %d, %v, want %d", q.String(), got, err, nano)
		}
	})
}

func TestUSDFromQuantity(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": usage.USD, "0.25": 250_000_000, "1000m": usage.USD, "250m": 250_000_000, "1k": 1000 * usage.USD,
		"1M": 1_000_000 * usage.USD, "1n": 1, "0.1n": 1, "1u": 1000, "1e3": 1000 * usage.USD, "1e-05": 10_000, "0Ki": 0,
		"9223372036.854775807": math.MaxInt64, "9.223372036854775807G": math.MaxInt64,
	} {
		q := resource.MustParse(text)
		before := q.String()
		if got, err := usage.USDFromQuantity(q); err != nil || got != want {
			t.Errorf("USDFromQuantity(%s) = %d, %v, want %d", text, got, err, want)
		}
		if q.String() != before {
			t.Errorf("USDFromQuantity(%s) changed it to %s", before, q.String())
		}
	}
	var zero resource.Quantity
	if got, err := usage.USDFromQuantity(zero); err != nil || got != 0 {
		t.Errorf("the zero quantity = %d, %v, want 0", got, err)
	}
}

func TestUSDFromQuantityRefuses(t *testing.T) {
	for text, reason := range map[string]string{
		"-1": "negative", "-1n": "negative", "1Ki": "binary suffix", "1Mi": "binary suffix", "9223372037": "at most", "1E": "at most",
		"9223372036.854775808": "at most", "1e30": "at most",
	} {
		if got, err := usage.USDFromQuantity(resource.MustParse(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("USDFromQuantity(%s) = %d, %v, want an error with %q", text, got, err, reason)
		}
	}
}

// A quantity that was not parsed can have any scale.
func TestUSDFromQuantityOfAnyScale(t *testing.T) {
	decimal := func(unscaled int64, scale inf.Scale) resource.Quantity {
		return *resource.NewDecimalQuantity(*inf.NewDec(unscaled, scale), resource.DecimalSI)
	}
	for name, c := range map[string]struct {
		q    resource.Quantity
		want int64
	}{
		"a nano-USD and a trifle":  {decimal(1_000_000_001, 18), 2},
		"a trifle":                 {decimal(1, 30), 1},
		"next to nothing":          {decimal(7, 1_000_000), 1},
		"nothing, at a wild scale": {decimal(0, -1_000_000), 0},
	} {
		if got, err := usage.USDFromQuantity(c.q); err != nil || got != c.want {
			t.Errorf("%s: got %d, %v, want %d", name, got, err, c.want)
		}
	}
	if got, err := usage.USDFromQuantity(decimal(1, -20)); err == nil {
		t.Errorf("1e20 dollars: got %d, want an error", got)
	}
}

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "00": 0, "7": 7, "0007": 7, "\u00a01": 1, "9223372036854775807": math.MaxInt64,
		strings.Repeat("0", 1<<20) + "5": 5,
	} {
		if got, err := usage.ParseCount(text); err != nil || got != want {
			t.Errorf("ParseCount(%s) = %d, %v, want %d", usage.Quote(text), got, err, want)
		}
	}
	if got, err := usage.ParseCount(" 1500\n"); err != nil || got != 1500 {
		t.Errorf("with blanks around it: %d, %v, want 1500", got, err)
	}
	for _, text := range []string{
		"", " ", "-1", "+1", "--1", "1.0", "1.", ".5", "1e3", "1,000", "1_000", "1 000", "0x1F", "1k", "abc", "１２", "٣", "\xff",
		"1\x00", "9223372036854775808", "99999999999999999999", strings.Repeat("9", 1<<20),
	} {
		got, err := usage.ParseCount(text)
		if err == nil || got != 0 {
			t.Errorf("ParseCount(%s) = %d, %v, want an error", usage.Quote(text), got, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), usage.Quote(text)) || len(err.Error()) > 400 {
			t.Errorf("ParseCount(%s): the error %.400q does not quote the text, cut", usage.Quote(text), err)
		}
	}
}

// exactUSD is the naive twin of ParseUSD: the text as a fraction, rounded up.
func exactUSD(text string) (int64, bool) {
	s := strings.TrimSpace(text)
	if strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.eE+-", r) }) || s == "" || s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	rat, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, false
	}
	rat.Mul(rat, new(big.Rat).SetInt64(usage.USD))
	nano, rest := new(big.Int).QuoRem(rat.Num(), rat.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		nano.Add(nano, big.NewInt(1))
	}
	return nano.Int64(), nano.IsInt64()
}

// decimals draws texts that are or nearly are decimals.
func decimals() *rapid.Generator[string] {
	return rapid.StringMatching(`[ ]?[0-9]{0,12}(\.[0-9]{0,24})?([eE][+-]?[0-9]{0,2})?[ ]?`)
}

// TestParseUSDIsExact is row C3: texts are read as big integers read them, rounded up once.
func TestParseUSDIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		compareUSD(t, decimals().Draw(t, "text"))
	})
}

func compareUSD(t interface {
	Fatalf(format string, args ...any)
}, text string) {
	want, ok := exactUSD(text)
	got, err := usage.ParseUSD(text)
	if ok != (err == nil) || ok && got != want {
		t.Fatalf("ParseUSD(%q) = %d, %v, want %d, %v", text, got, err, want, ok)
	}
}
