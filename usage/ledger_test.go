package usage_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/usage"
	"github.com/bursar-dev/bursar/usage/ledgertest"
)

func TestMemoryIsALedger(t *testing.T) {
	ledgertest.Run(t, func() usage.Ledger { return usage.NewMemory() })
}

func TestConflictNamesTheTask(t *testing.T) {
	ledger := usage.NewMemory()
	r := mustRecord(t, finished())
	fill(t, ledger, []usage.Record{r})
	r.Phase = usage.Failed
	want := `record of task team-a/fix-bug (uid "uid-1"): there is one already with other content; the first one stands, a correction can put it right`
	if err := ledger.Add(r); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// FuzzLedger lets the fuzzer choose what is played on a ledger in memory.
func FuzzLedger(f *testing.F) {
	random := rand.NewChaCha8([32]byte{7}) // the same seeds every time
	for _, size := range []int{64, 1 << 10, 4 << 10, 16 << 10, 64 << 10} {
		seed := make([]byte, size)
		_, _ = random.Read(seed)
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { ledgertest.Property(t, usage.NewMemory()) }))
}
