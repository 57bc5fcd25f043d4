package usage_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/bursar-dev/bursar/period"
)

func mustSelector(tb testing.TB, text string) labels.Selector {
	tb.Helper()
	selector, err := labels.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return selector
}

func mustPeriod(tb testing.TB, spec period.Spec) *period.Period {
	tb.Helper()
	compiled, err := period.Compile(spec)
	if err != nil {
		tb.Fatal(err)
	}
	return compiled
}
