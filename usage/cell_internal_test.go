package usage

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// value is what a wide sum stands for.
func (w *wide) value() *big.Int {
	v := new(big.Int).Lsh(big.NewInt(w.high), 64)
	return v.Add(v, new(big.Int).SetUint64(w.low))
}

// A wide sum is the sum, whatever is added and taken away, in any order.
func TestWideSumsAreExact(t *testing.T) {
	amount := rapid.OneOf(rapid.Int64Min(0), rapid.SampledFrom([]int64{0, 1, math.MaxInt64 - 1, math.MaxInt64}))
	rapid.Check(t, func(t *rapid.T) {
		var sums [2]wide
		exact := [2]*big.Int{new(big.Int), new(big.Int)}
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			i := rapid.IntRange(0, 1).Draw(t, "which")
			sign := int64(rapid.SampledFrom([]int{1, -1}).Draw(t, "sign"))
			if rapid.Bool().Draw(t, "merge") {
				exact[i].Add(exact[i], new(big.Int).Mul(exact[1-i], big.NewInt(sign)))
				sums[i].merge(sums[1-i], sign)
			} else {
				n := amount.Draw(t, "amount")
				exact[i].Add(exact[i], new(big.Int).Mul(big.NewInt(n), big.NewInt(sign)))
				sums[i].add(n, sign)
			}
			if exact[i].BitLen() > 120 {
				return // far beyond what 2^63 entries can reach
			}
			if sums[i].value().Cmp(exact[i]) != 0 {
				t.Fatalf("%v, want %v", sums[i].value(), exact[i])
			}
			if got, want := sums[i].clamp(), clamp(exact[i]); got != want {
				t.Fatalf("clamp of %v: %d, want %d", exact[i], got, want)
			}
		}
	})
}
