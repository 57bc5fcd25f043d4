package usage

import (
	"math"
	"math/bits"
)

// wide is a sum of int64s that cannot overflow: 128 bits in two's complement.
// Sums have to be exact, not saturating, or a record that is deleted would not
// take away what it had brought.
type wide struct {
	high int64
	low  uint64
}

// add adds n, or takes it away where sign is -1.
func (w *wide) add(n, sign int64) {
	n *= sign // amounts are never negative, so that MinInt64 does not occur
	var carry uint64
	w.low, carry = bits.Add64(w.low, uint64(n), 0) //nolint:gosec // the bits of two's complement
	w.high += n>>63 + int64(carry)                 //nolint:gosec // 0 or 1
}

// merge adds another sum, or takes it away where sign is -1.
func (w *wide) merge(other wide, sign int64) {
	var carry uint64
	if sign < 0 {
		w.low, carry = bits.Sub64(w.low, other.low, 0)
		w.high -= other.high + int64(carry) //nolint:gosec // 0 or 1
		return
	}
	w.low, carry = bits.Add64(w.low, other.low, 0)
	w.high += other.high + int64(carry) //nolint:gosec // 0 or 1
}

// clamp gives the sum as an amount: not negative, cut at the end of int64.
func (w *wide) clamp() int64 {
	switch {
	case w.high < 0:
		return 0
	case w.high > 0 || w.low > math.MaxInt64:
		return math.MaxInt64
	default:
		return int64(w.low)
	}
}

// cell is the running total of one meter.
type cell struct {
	known, charged     wide
	unknown, uncharged int64
}

// merge adds another total, or takes it away where sign is -1.
func (c *cell) merge(other *cell, sign int64) {
	c.known.merge(other.known, sign)
	c.charged.merge(other.charged, sign)
	c.unknown += sign * other.unknown
	c.uncharged += sign * other.uncharged
}

// charge adds a figure, or takes it away where sign is -1. standard stands in
// for a figure of which nothing is known.
func (c *cell) charge(code basisCode, amount int64, standard standIn, sign int64) {
	switch {
	case code == codeReported || code == codePriced:
		c.known.add(amount, sign)
		return
	case code == codeHeld:
		c.charged.add(amount, sign)
	case standard.ok:
		c.charged.add(standard.amount, sign)
	default:
		c.uncharged += sign
	}
	c.unknown += sign
}

// standIn is an amount that a scope charges by default, if it has one.
type standIn struct {
	amount int64
	ok     bool
}
