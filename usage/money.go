package usage

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// USD is one dollar in the unit of [CostUSD].
const USD int64 = 1_000_000_000

// nanoDigits is the number of decimal places of a nano-USD.
const nanoDigits = 9

// maxUSD is the largest amount of money there is, as people read it.
const maxUSD = "9223372036.854775807"

// ParseUSD reads a dollar amount as agents and people write it and gives
// nano-USD: a plain decimal, an exponent allowed ("0.25", "12", "1e-05"), with
// white space around it ignored. What is finer than a nano-USD is rounded up,
// here and never again, so a text costs at most one nano-USD more than it says.
//
// Everything else is an error that quotes the text: an empty text, a sign, a
// currency, a suffix ("1Ki", "5m"), a decimal comma, NaN, more than
// 9223372036.854775807 dollars.
func ParseUSD(text string) (int64, error) {
	s := strings.TrimSpace(text)
	d, ok := parseDecimal(s)
	if !ok {
		return 0, fmt.Errorf("%s is no dollar amount: %s", Quote(text), whyNoDecimal(s))
	}
	nano, ok := d.scaled(nanoDigits)
	if !ok {
		return 0, fmt.Errorf("%s is no dollar amount: more than %s", Quote(text), maxUSD)
	}
	return nano, nil
}

// FormatUSD gives nano-USD as plain dollars without trailing zeros: "1.5",
// "0.000000001", "0", "-2". ParseUSD(FormatUSD(n)) is n for every n >= 0.
func FormatUSD(nano int64) string {
	sign, magnitude := "", uint64(nano) //nolint:gosec // negated below where it is negative
	if nano < 0 {
		sign, magnitude = "-", -magnitude
	}
	whole, part := magnitude/uint64(USD), magnitude%uint64(USD)
	if part == 0 {
		return sign + strconv.FormatUint(whole, 10)
	}
	return sign + strings.TrimRight(fmt.Sprintf("%d.%09d", whole, part), "0")
}

// USDFromQuantity gives the nano-USD of a dollar amount in a manifest. Decimal
// suffixes keep the meaning that Kubernetes gives them (1000m is one dollar, 1k
// a thousand), a binary suffix has none for money and is an error, as are a
// negative amount and one above 9223372036.854775807 dollars. q is only read.
func USDFromQuantity(q resource.Quantity) (int64, error) {
	switch {
	case q.Sign() < 0:
		return 0, fmt.Errorf("%s: a dollar amount must not be negative", Quote(q.String()))
	case q.Format == resource.BinarySI && q.Sign() != 0:
		return 0, fmt.Errorf("%s: a binary suffix has no meaning for dollars, write a plain decimal", Quote(q.String()))
	}
	exact := q.DeepCopy()
	dec := exact.AsDec()
	unscaled := dec.UnscaledBig()
	shift := int64(nanoDigits) - int64(dec.Scale())
	switch digits := int64(len(unscaled.Text(10))); {
	case unscaled.Sign() == 0:
		return 0, nil
	case digits+shift > mostDigits:
		return 0, errTooMuch(&q)
	case digits+shift <= 0:
		return 1, nil // far below a nano-USD; nor is the power of ten ever huge
	}
	nano, remainder := new(big.Int), new(big.Int)
	if shift >= 0 {
		nano.Mul(unscaled, pow10(shift))
	} else {
		nano.QuoRem(unscaled, pow10(-shift), remainder)
		nano.Add(nano, big.NewInt(int64(remainder.Sign())))
	}
	if !nano.IsInt64() {
		return 0, errTooMuch(&q)
	}
	return nano.Int64(), nil
}

func errTooMuch(q *resource.Quantity) error {
	return fmt.Errorf("%s: a dollar amount is at most %s", Quote(q.String()), maxUSD)
}

// USDQuantity gives nano-USD as the quantity that a manifest shows.
func USDQuantity(nano int64) resource.Quantity {
	q := resource.NewScaledQuantity(nano, resource.Nano)
	return *q
}

// ParseCount reads a plain non-negative integer, white space around it
// ignored. Signs, points, exponents, separators, suffixes and figures above
// 9223372036854775807 are errors that quote the text.
func ParseCount(text string) (int64, error) {
	s := strings.TrimSpace(text)
	if s == "" {
		return 0, fmt.Errorf("%s is no count: it is empty", Quote(text))
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, fmt.Errorf("%s is no count: want digits only, such as 1500", Quote(text))
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is no count: more than %d", Quote(text), int64(math.MaxInt64))
	}
	return n, nil
}

// whyNoDecimal says what is wrong with a text that is no plain decimal.
func whyNoDecimal(s string) string {
	switch {
	case s == "":
		return "it is empty"
	case s[0] == '-' || s[0] == '+':
		return "a sign is not allowed"
	case strings.Contains(s, ","):
		return "a comma is not allowed, write a decimal point and no separators"
	case strings.HasPrefix(s, "$"):
		return "a currency sign is not allowed"
	default:
		return "want a plain decimal such as 0.25 or 1e-05, without suffix or separator"
	}
}

func pow10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// errNegative is the reason that a negative amount is refused with.
var errNegative = errors.New("must not be negative")
