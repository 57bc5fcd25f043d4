package usage

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/period"
)

// Memory is a [Ledger] in memory. A record costs what the scopes that match it
// cost, and an answer does not depend on the number of records. Labels are kept
// once for all records that share them.
//
// A scope is tracked from the first query about it on, which looks at all
// records of its namespace once; [Memory.Forget] ends that.
//
// It is safe for concurrent use. Build it with [NewMemory].
type Memory struct {
	mu    sync.Mutex
	state memory
}

var _ Ledger = (*Memory)(nil)

// NewMemory makes an empty ledger that tracks the given scopes from the start.
// A scope that nothing can be summed for is left out: queries about it say why.
func NewMemory(scopes ...*Scope) *Memory {
	m := &Memory{state: memory{
		seed:     maphash.MakeSeed(),
		meters:   map[Meter]meterID{},
		records:  map[types.UID]*item{},
		holds:    map[types.UID]*held{},
		spaces:   map[string]*space{},
		accounts: map[*Scope]*account{},
	}}
	for _, s := range scopes {
		if s.validate() == nil {
			m.state.track(s)
		}
	}
	return m
}

// Do runs f with the ledger to itself: nothing else happens to it between f's
// questions and f's entries. That makes a check and the hold that rests on it
// one step. f must use the Ledger it is given, only while it runs.
func (m *Memory) Do(f func(Ledger)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.state)
}

// Add implements [Ledger].
func (m *Memory) Add(r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Add(r)
}

// Hold implements [Ledger].
func (m *Memory) Hold(h Hold) (Hold, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Hold(h)
}

// Held implements [Ledger].
func (m *Memory) Held(uid types.UID) (Hold, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Held(uid)
}

// Release implements [Ledger].
func (m *Memory) Release(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.Release(uid)
}

// Used implements [Ledger].
func (m *Memory) Used(q Query) (Balance, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Used(q)
}

// Turns implements [Ledger].
func (m *Memory) Turns(q Query) (Turns, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Turns(q)
}

// Renew enters a hold in the place of the one that its UID has, whatever that
// one says. It is how a ledger follows holds that are kept elsewhere.
func (m *Memory) Renew(h Hold) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := h.Validate(); err != nil {
		return err
	}
	m.state.Release(h.UID)
	m.state.enter(h)
	return nil
}

// Remove takes the record of a UID out: it counts no more, as if it had never
// been. A hold of that UID that was not released counts again. Without a
// record it does nothing.
func (m *Memory) Remove(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.remove(uid)
}

// Forget stops to track a scope.
func (m *Memory) Forget(s *Scope) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.forget(s)
}

// Len gives the number of records and of holds, those that have expired and
// were not released included.
func (m *Memory) Len() (records, holds int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.state.records), len(m.state.holds)
}

// Groups lists the groups of a scope that a record or a hold fell into, sorted;
// "" is the only group of a scope without GroupBy.
func (m *Memory) Groups(s *Scope) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.validate() != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(m.state.track(s).groups))
}

// memory is a Memory without its lock.
type memory struct {
	seed     maphash.Seed
	meters   map[Meter]meterID
	records  map[types.UID]*item
	holds    map[types.UID]*held
	spaces   map[string]*space
	accounts map[*Scope]*account
}

// held is a hold that was entered. It has no item while a record supersedes it.
type held struct {
	hold Hold
	item *item
}

func (m *memory) Add(r Record) error {
	if err := r.Validate(); err != nil {
		return err
	}
	labels := hashLabels(m.seed, r.Labels)
	digest := r.digest(m.seed, labels)
	if known, ok := m.records[r.UID]; ok {
		if known.digest != digest {
			return &ConflictError{Namespace: r.Namespace, Name: r.Name, UID: r.UID}
		}
		return nil
	}
	if h, ok := m.holds[r.UID]; ok {
		m.detach(h.item)
		h.item = nil
	}
	it := &item{at: instantOf(r.CompletionTime), opened: instantOf(r.opened()), digest: digest}
	if r.Corrects != "" {
		it.kind = kindCorrection
	}
	it.figures = m.figures(make([]itemFigure, 0, len(r.Usage)+len(r.Replaces)), r.Usage, 1)
	it.figures = m.figures(it.figures, r.Replaces, -1)
	m.records[r.UID] = it
	m.attach(it, r.Namespace, labels, r.Labels)
	return nil
}

func (m *memory) figures(to []itemFigure, from Figures, sign int8) []itemFigure {
	for meter, f := range from {
		to = append(to, itemFigure{amount: f.Amount, meter: m.meter(meter), code: f.Basis.code(), sign: sign})
	}
	return to
}

func (m *memory) Hold(h Hold) (Hold, error) {
	if err := h.Validate(); err != nil {
		return Hold{}, err
	}
	if known, ok := m.holds[h.UID]; ok {
		if known.item != nil && known.hold.Live(h.AdmittedAt) {
			return known.hold.Clone(), nil
		}
		m.Release(h.UID)
	}
	m.enter(h)
	if _, ok := m.records[h.UID]; ok {
		return Hold{}, ErrRecorded
	}
	return h, nil
}

// enter keeps a valid hold of a UID that has none.
func (m *memory) enter(h Hold) {
	h = h.Clone()
	m.holds[h.UID] = &held{hold: h}
	if _, recorded := m.records[h.UID]; !recorded {
		m.revive(m.holds[h.UID])
	}
}

// revive makes a hold count.
func (m *memory) revive(h *held) {
	h.item = &item{kind: kindHold, at: instantOf(h.hold.ExpiresAt)}
	if !h.hold.AdmittedAt.IsZero() {
		h.item.opened = instantOf(h.hold.AdmittedAt)
	}
	for meter, amount := range h.hold.Amounts {
		h.item.figures = append(h.item.figures, itemFigure{
			amount: amount, meter: m.meter(meter), code: codeReported, sign: 1,
		})
	}
	m.attach(h.item, h.hold.Namespace, hashLabels(m.seed, h.hold.Labels), h.hold.Labels)
}

func (m *memory) Held(uid types.UID) (Hold, bool) {
	h, ok := m.holds[uid]
	if !ok || h.item == nil {
		return Hold{}, false
	}
	return h.hold.Clone(), true
}

func (m *memory) Release(uid types.UID) {
	if h, ok := m.holds[uid]; ok {
		m.detach(h.item)
		delete(m.holds, uid)
	}
}

func (m *memory) remove(uid types.UID) {
	it, ok := m.records[uid]
	if !ok {
		return
	}
	m.detach(it)
	delete(m.records, uid)
	if h, ok := m.holds[uid]; ok {
		m.revive(h)
	}
}

func (m *memory) Used(q Query) (Balance, error) {
	c, meter, err := m.lookUp(&q)
	if err != nil {
		return Balance{}, err
	}
	var own *item
	if h, ok := m.holds[q.Except]; ok && h.item != nil && slices.Contains(h.item.set.class.counters, c) {
		own = h.item
	}
	return c.balance(&q, meter, own)
}

func (m *memory) Turns(q Query) (Turns, error) {
	c, _, err := m.lookUp(&q)
	if err != nil {
		return Turns{}, err
	}
	return c.turns(q.At), nil
}

// lookUp finds the counter that a query is about and the index of its meter.
func (m *memory) lookUp(q *Query) (*counter, int, error) {
	a, ok := m.accounts[q.Scope]
	if !ok {
		if err := q.Scope.validate(); err != nil {
			return nil, 0, err
		}
		a = m.track(q.Scope)
	}
	meter := slices.Index(q.Scope.Meters, q.Meter)
	if meter < 0 {
		return nil, 0, q.validate()
	}
	return a.find(q.Labels), meter, nil
}

// meter gives the number of a meter, made new if it has none.
func (m *memory) meter(name Meter) meterID {
	id, ok := m.meters[name]
	if !ok {
		id = meterID(len(m.meters))
		m.meters[name] = id
	}
	return id
}

func (m *memory) space(name string) *space {
	s, ok := m.spaces[name]
	if !ok {
		s = &space{name: name, sets: map[uint64]*labelSet{}, classes: map[string]*class{}}
		m.spaces[name] = s
	}
	return s
}

// attach makes an item count in every scope that its labels match.
func (m *memory) attach(it *item, namespace string, hash uint64, labels map[string]string) {
	space := m.space(namespace)
	set := space.sets[hash]
	for set != nil && !maps.Equal(set.labels, labels) {
		set = set.next
	}
	if set == nil {
		set = &labelSet{space: space, hash: hash, next: space.sets[hash], labels: cloneLabels(labels)}
		space.classify(set)
		space.sets[hash] = set
	}
	set.insert(it)
	for _, c := range set.class.counters {
		c.add(it, 1)
	}
}

// detach undoes attach; a nil item is none.
func (m *memory) detach(it *item) {
	if it == nil {
		return
	}
	set := it.set
	for _, c := range set.class.counters {
		c.add(it, -1)
	}
	set.remove(it)
	if len(set.items) == 0 {
		set.space.drop(set)
	}
}

// track gives the account of a scope. A new one is charged with all records
// and holds of its namespace.
func (m *memory) track(s *Scope) *account {
	if a, ok := m.accounts[s]; ok {
		return a
	}
	a := &account{scope: s, cursor: period.NewCursor(s.Period), groups: map[string]*counter{}}
	for _, meter := range s.Meters {
		amount, ok := s.Default[meter]
		one, implicit := meter.implicit()
		a.meters = append(a.meters, m.meter(meter))
		a.standard = append(a.standard, standIn{amount, ok})
		a.implicit = append(a.implicit, standIn{one, implicit})
	}
	a.firstUse = s.Period.Kind() == period.FirstUse
	a.lined = a.firstUse || s.Period.Kind() == period.Sliding
	a.length, _ = s.Period.Longest()
	a.empty = a.newCounter("")
	m.accounts[s] = a
	space := m.space(s.Namespace)
	space.learn(s)
	space.admit(a)
	return a
}

func (m *memory) forget(s *Scope) {
	a, ok := m.accounts[s]
	if !ok {
		return
	}
	delete(m.accounts, s)
	m.spaces[s.Namespace].dismiss(a)
}
