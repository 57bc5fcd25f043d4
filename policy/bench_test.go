package policy_test

import (
	"testing"

	"github.com/bursar-dev/bursar/policy"
)

func BenchmarkCheck(b *testing.B) {
	in := base()
	b.ReportAllocs()
	for b.Loop() {
		if err := in.Check(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSetOfNothing(b *testing.B) {
	set, err := policy.NewSet(policy.Options{})
	if err != nil {
		b.Fatal(err)
	}
	in := base()
	b.ReportAllocs()
	for b.Loop() {
		if v, err := set.Evaluate(b.Context(), &in); err != nil || !v.Allowed() {
			b.Fatal(v, err)
		}
	}
}
