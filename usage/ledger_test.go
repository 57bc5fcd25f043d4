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
	f.Add([]byte("bursar"))
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { ledgertest.Property(t, usage.NewMemory()) }))
}
