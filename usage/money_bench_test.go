package usage_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/bursar-dev/bursar/usage"
)

// BenchmarkParseUSD compares with the parser of floats, which is not exact.
func BenchmarkParseUSD(b *testing.B) {
	for _, text := range []string{"0.25", "1e-05", "12.345678901", " 0.0123456789012345 "} {
		b.Run(strconv.Quote(text), func(b *testing.B) {
			const batch = 1000
			trimmed := text
			for trimmed[0] == ' ' {
				trimmed = trimmed[1 : len(trimmed)-1]
			}
			var ours, floats time.Duration
			for b.Loop() {
				start := time.Now()
				for range batch {
					if _, err := usage.ParseUSD(text); err != nil {
						b.Fatal(err)
					}
				}
				between := time.Now()
				for range batch {
					if _, err := strconv.ParseFloat(trimmed, 64); err != nil {
						b.Fatal(err)
					}
				}
				floats += time.Since(between)
				ours += between.Sub(start)
			}
			b.ReportMetric(float64(ours)/float64(floats), "ratio-to-ParseFloat")
		})
	}
}
