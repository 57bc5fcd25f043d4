package usage

import "math"

// decimal is a plain decimal: (digits + rest) times ten to the exponent, where
// 0 <= rest < 1 and digits are all there are or the first 19.
type decimal struct {
	digits   uint64
	rest     bool // rest is not zero
	exponent int
}

// mostDigits is how many digits always fit into a uint64.
const mostDigits = 19

// parseDecimal reads a plain decimal, false if the text is none.
func parseDecimal(s string) (d decimal, ok bool) {
	point, kept := false, 0
	for i := range len(s) {
		c := s[i]
		switch {
		case isDigit(c):
			ok = true
			kept += d.push(c-'0', kept)
			if point {
				d.exponent--
			}
		case c == '.' && !point:
			point = true
		case ok && (c == 'e' || c == 'E'):
			exponent, legal := parseExponent(s[i+1:])
			d.exponent += exponent
			return d, legal
		default:
			return decimal{}, false
		}
	}
	return d, ok
}

// push appends a digit and gives how many more digits are kept: leading zeros
// are not, nor is what comes after the last that fits.
func (d *decimal) push(digit byte, kept int) int {
	switch {
	case kept == mostDigits:
		d.exponent++
		d.rest = d.rest || digit > 0
		return 0
	case kept == 0 && digit == 0:
		return 0
	default:
		d.digits = d.digits*10 + uint64(digit)
		return 1
	}
}

// parseExponent reads the signed integer after an 'e'. An exponent beyond any
// amount stays beyond any amount: it is cut, not wrapped.
func parseExponent(s string) (int, bool) {
	digits := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
	}
	const beyond = 1 << 30
	n := 0
	for i := range len(digits) {
		if !isDigit(digits[i]) {
			return 0, false
		}
		n = min(n*10+int(digits[i]-'0'), beyond/10)
	}
	if digits != s && s[0] == '-' {
		n = -n
	}
	return n, digits != ""
}

// scaled gives the decimal times ten to the places as an integer, rounded up;
// false if that is more than an int64.
func (d *decimal) scaled(places int) (int64, bool) {
	n, up := d.digits, d.rest
	shift := d.exponent + places
	switch {
	case n == 0:
		return 0, true
	case shift > mostDigits:
		return 0, false
	case shift < -mostDigits:
		return 1, true
	}
	for ; shift > 0; shift-- {
		if n > math.MaxInt64/10 {
			return 0, false
		}
		n *= 10
	}
	if shift < 0 {
		power := uint64(1)
		for ; shift < 0; shift++ {
			power *= 10
		}
		up = up || n%power > 0
		n /= power
	}
	if up && n <= math.MaxInt64 {
		n++
	}
	if n > math.MaxInt64 {
		return 0, false
	}
	return int64(n), true
}
