package usage

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Memory is a [Ledger] in memory. A record costs what the scopes that match it
// cost, and an answer does not depend on the number of records. Labels are kept
// once for all records that share them.
//
// A scope is tracked from the first query about it on, which looks at all
// records of its namespace once; [Memory.Forget] ends that.
//
// It is safe for concurrent use. The zero Memory is an empty ledger.
type Memory struct {
	mu   sync.Mutex
	book *book // nil before the first use
}

var _ Ledger = (*Memory)(nil)

// NewMemory makes an empty ledger that tracks the given scopes from the start.
// A scope that nothing can be summed for is left out: queries about it say why.
func NewMemory(scopes ...*Scope) *Memory {
	m := &Memory{book: newBook()}
	for _, s := range scopes {
		if s.validate() == nil {
			m.book.track(s)
		}
	}
	return m
}

// lock takes the ledger, and makes it ready for its first use.
func (m *Memory) lock() {
	m.mu.Lock()
	if m.book == nil {
		m.book = newBook()
	}
}

// Do runs f with the ledger to itself: nothing else happens to it between f's
// questions and f's entries. That makes a check and the hold that rests on it
// one step. f must use the Ledger it is given, only while it runs and from one
// goroutine, and must not touch m.
func (m *Memory) Do(f func(Ledger)) {
	m.lock()
	defer m.mu.Unlock()
	f(m.book)
}

// Add implements [Ledger].
func (m *Memory) Add(r Record) error {
	m.lock()
	defer m.mu.Unlock()
	return m.book.Add(r)
}

// AddAll adds records as [Memory.Add] does one by one, in less time: it is for
// whoever fills a ledger from a list, when a controller starts. A record that
// can't be added keeps no other from it; the error joins what Add says of each
// such record, in the order of the list.
func (m *Memory) AddAll(records []Record) error {
	m.lock()
	defer m.mu.Unlock()
	return m.book.addAll(records)
}

// Recorded implements [Ledger].
func (m *Memory) Recorded(uid types.UID) bool {
	m.lock()
	defer m.mu.Unlock()
	return m.book.Recorded(uid)
}

// Hold implements [Ledger].
func (m *Memory) Hold(h Hold) (Hold, error) {
	m.lock()
	defer m.mu.Unlock()
	return m.book.Hold(h)
}

// Held implements [Ledger].
func (m *Memory) Held(uid types.UID) (Hold, bool) {
	m.lock()
	defer m.mu.Unlock()
	return m.book.Held(uid)
}

// Release implements [Ledger].
func (m *Memory) Release(uid types.UID) {
	m.lock()
	defer m.mu.Unlock()
	m.book.Release(uid)
}

// Used implements [Ledger].
func (m *Memory) Used(q Query) (Balance, error) {
	m.lock()
	defer m.mu.Unlock()
	return m.book.Used(q)
}

// Turns implements [Ledger].
func (m *Memory) Turns(q Query) (Turns, error) {
	m.lock()
	defer m.mu.Unlock()
	return m.book.Turns(q)
}

// Renew enters a hold in the place of the one that its UID has, whatever that
// one says; the hold of a task that has a record is left out. It is how a ledger
// follows holds that are kept elsewhere.
func (m *Memory) Renew(h Hold) error {
	m.lock()
	defer m.mu.Unlock()
	return m.book.renew(h)
}

// Remove takes the record of a UID out: it counts no more, as if it had never
// been. Without a record it does nothing.
func (m *Memory) Remove(uid types.UID) {
	m.lock()
	defer m.mu.Unlock()
	m.book.remove(uid)
}

// Forget stops to track a scope.
func (m *Memory) Forget(s *Scope) {
	m.lock()
	defer m.mu.Unlock()
	m.book.forget(s)
}

// Len gives the number of records and of holds, those that have expired and
// were not released included.
func (m *Memory) Len() (records, holds int) {
	m.lock()
	defer m.mu.Unlock()
	return m.book.records.count, len(m.book.holds)
}

// Groups lists the groups of a scope that a record or a hold fell into, sorted;
// "" is the only group of a scope without GroupBy. [Scope.GroupLabels] gives the
// labels that a name stands for.
func (m *Memory) Groups(s *Scope) []string {
	m.lock()
	defer m.mu.Unlock()
	if s.validate() != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(m.book.track(s).groups))
}
