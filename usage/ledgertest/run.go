package ledgertest

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/usage"
)

// Remover is a ledger that can take a record out again, as if it had never
// been.
type Remover interface {
	Remove(uid types.UID)
}

// Renewer is a ledger that can put a hold in the place of another, whatever
// that one says.
type Renewer interface {
	Renew(h usage.Hold) error
}

// Forgetter is a ledger that can drop what it knows of a scope. A query about
// the scope still gets the right answer.
type Forgetter interface {
	Forget(s *usage.Scope)
}

// Filler is a ledger that can be filled from a list: that adds each record, in
// the order of the list, and joins the errors.
type Filler interface {
	AddAll(records []usage.Record) error
}

// Exclusive is a ledger that one can have to oneself for a moment.
type Exclusive interface {
	Do(f func(usage.Ledger))
}

// Run tests a ledger. newLedger gives a new and empty one at each call.
func Run(t *testing.T, newLedger func() usage.Ledger) {
	t.Helper()
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) { law.test(t, newLedger()) })
	}
	t.Run("every answer equals the naive one", rapid.MakeCheck(func(t *rapid.T) {
		Property(t, newLedger())
	}))
	t.Run("answers do not depend on the order of entries", rapid.MakeCheck(func(t *rapid.T) {
		orderFree(t, newLedger)
	}))
	t.Run("entries made at the same time all count", func(t *testing.T) {
		concurrent(t, newLedger())
	})
}
