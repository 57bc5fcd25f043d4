package podspec

import (
	"math/big"
	"strings"
)

// number is a decimal text taken apart: an exact value before its suffix, and the suffix.
type number struct {
	value  *big.Rat // with the exponent, without the suffix; its sign included
	suffix string   // one of the keys of multipliers
}

// multipliers gives every suffix of the Kubernetes quantity grammar as numerator and denominator.
var multipliers = map[string][2]int64{
	"n": {1, 1e9}, "u": {1, 1e6}, "m": {1, 1e3}, "": {1, 1},
	"k": {1e3, 1}, "M": {1e6, 1}, "G": {1e9, 1}, "T": {1e12, 1}, "P": {1e15, 1}, "E": {1e18, 1},
	"Ki": {1 << 10, 1}, "Mi": {1 << 20, 1}, "Gi": {1 << 30, 1}, "Ti": {1 << 40, 1}, "Pi": {1 << 50, 1}, "Ei": {1 << 60, 1},
}

// maxExponent bounds the work that a text can cause. With at most 64 characters of digits, anything beyond it is past
// every cap or below every floor, whatever the digits say.
const maxExponent = 200

// scan cuts text into its parts. It says no (ok false) to everything outside the grammar
//
//	[+-] digits [. digits] [suffix | e[+-]digits | E[+-]digits]
//
// with ASCII digits only, at least one digit, and no inner blanks. An exponent excludes a suffix, as in a quantity.
func scan(text string) (n number, ok bool) {
	rest := text
	negative := strings.HasPrefix(rest, "-")
	if negative || strings.HasPrefix(rest, "+") {
		rest = rest[1:]
	}
	whole, rest := digits(rest)
	fraction := ""
	if strings.HasPrefix(rest, ".") {
		fraction, rest = digits(rest[1:])
	}
	if whole+fraction == "" {
		return number{}, false
	}
	exponent, suffix, ok := tail(rest)
	if !ok {
		return number{}, false
	}
	mantissa, _ := new(big.Int).SetString(whole+fraction, 10)
	if negative {
		mantissa.Neg(mantissa)
	}
	return number{value: shift(mantissa, exponent-len(fraction)), suffix: suffix}, true
}

// scaled is the value with its suffix applied.
func (n number) scaled() *big.Rat {
	m := multipliers[n.suffix]
	return new(big.Rat).Mul(n.value, big.NewRat(m[0], m[1]))
}

// digits splits off the leading ASCII digits.
func digits(text string) (head, rest string) {
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return text[:i], text[i:]
}

// tail reads what follows the digits: a suffix or an exponent ("E" alone is the suffix, "E3" the exponent).
func tail(rest string) (exponent int, suffix string, ok bool) {
	if _, known := multipliers[rest]; known {
		return 0, rest, true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return 0, "", false
	}
	rest = rest[1:]
	negative := strings.HasPrefix(rest, "-")
	if negative || strings.HasPrefix(rest, "+") {
		rest = rest[1:]
	}
	power, rest := digits(rest)
	if power == "" || rest != "" {
		return 0, "", false
	}
	for _, digit := range power {
		exponent = min(exponent*10+int(digit-'0'), maxExponent)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, "", true
}

// shift gives mantissa times ten to the power of exponent, exactly.
func shift(mantissa *big.Int, exponent int) *big.Rat {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	if exponent >= 0 {
		return new(big.Rat).SetInt(power.Mul(power, mantissa))
	}
	return new(big.Rat).SetFrac(mantissa, power)
}

// ceil rounds up to a whole number.
func ceil(r *big.Rat) *big.Int {
	quotient, remainder := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if remainder.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}

// snap rounds to a whole number: to the nearest one when it is closer than one part in 10^9, which undoes binary
// fractions such as 0.1+0.2, and up otherwise, which is what the API server does with fractions of a millicore.
func snap(r *big.Rat) *big.Int {
	half := big.NewRat(1, 2)
	up := ceil(new(big.Rat).Sub(r, half)) // the nearest whole number, halves down
	distance := new(big.Rat).Sub(r, new(big.Rat).SetInt(up))
	tolerance := new(big.Rat).Mul(r, big.NewRat(1, 1e9))
	if distance.Abs(distance).Cmp(tolerance) <= 0 {
		return up
	}
	return ceil(r)
}
