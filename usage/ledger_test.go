package usage_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/usage"
	"github.com/bursar-dev/bursar/usage/ledgertest"
)

func TestMemoryIsALedger(t *testing.T) {
	ledgertest.Run(t, func() usage.Ledger { return usage.NewMemory() })
}

// FuzzLedger lets the fuzzer choose what is played on a ledger in memory.
func FuzzLedger(f *testing.F) {
	f.Add([]byte("bursar"))
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { ledgertest.Property(t, usage.NewMemory()) }))
}
