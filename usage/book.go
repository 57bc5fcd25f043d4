package usage

import (
	"hash/maphash"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// book is a [Memory] without its lock.
type book struct {
	seed     maphash.Seed
	meters   map[Meter]meterID
	records  map[types.UID]*item
	holds    map[types.UID]*held
	spaces   map[string]*space
	accounts map[*Scope]*account
	scratch  []itemFigure // of the record that is being read
}

// held is a hold that was entered. It has no item while a record supersedes it.
type held struct {
	hold Hold
	item *item
}

func newBook() book {
	return book{
		seed:     maphash.MakeSeed(),
		meters:   map[Meter]meterID{},
		records:  map[types.UID]*item{},
		holds:    map[types.UID]*held{},
		spaces:   map[string]*space{},
		accounts: map[*Scope]*account{},
	}
}

// Add implements [Ledger].
func (b *book) Add(r Record) error {
	if err := validateRecord(&r); err != nil {
		return err
	}
	labels := hashLabels(b.seed, r.Labels)
	b.scratch = b.figures(b.scratch[:0], r.Usage, 1)
	b.scratch = b.figures(b.scratch, r.Replaces, -1)
	digest := digestOf(b.seed, &r, labels, b.scratch)
	if known, ok := b.records[r.UID]; ok {
		if known.digest != digest {
			return &ConflictError{Namespace: r.Namespace, Name: r.Name, UID: r.UID}
		}
		return nil
	}
	if h, ok := b.holds[r.UID]; ok {
		b.detach(h.item)
		h.item = nil
	}
	it := newRecordItem(&r, digest, b.scratch)
	b.records[r.UID] = it
	b.attach(it, r.Namespace, labels, r.Labels)
	return nil
}

// figures appends the figures of a record.
func (b *book) figures(to []itemFigure, from Figures, sign int8) []itemFigure {
	for meter, f := range from {
		to = append(to, itemFigure{amount: f.Amount, meter: b.meter(meter), code: f.Basis.code(), sign: sign})
	}
	return to
}

// Hold implements [Ledger]. Which hold a UID has does not depend on whether it
// has a record: that only decides whether the hold counts.
func (b *book) Hold(h Hold) (Hold, error) {
	if err := h.Validate(); err != nil {
		return Hold{}, err
	}
	known, ok := b.holds[h.UID]
	if !ok || !known.hold.Live(h.AdmittedAt) {
		b.replace(h)
		known = b.holds[h.UID]
	}
	if known.item == nil {
		return Hold{}, ErrRecorded
	}
	return known.hold.Clone(), nil
}

// renew enters a hold, whatever hold its UID has.
func (b *book) renew(h Hold) error {
	if err := h.Validate(); err != nil {
		return err
	}
	b.replace(h)
	return nil
}

// replace enters a valid hold in the place of the one that its UID has.
func (b *book) replace(h Hold) {
	b.Release(h.UID)
	entered := &held{hold: h.Clone()}
	b.holds[h.UID] = entered
	if _, recorded := b.records[h.UID]; !recorded {
		b.revive(entered)
	}
}

// revive makes a hold count.
func (b *book) revive(h *held) {
	h.item = newHoldItem(&h.hold)
	for meter, amount := range h.hold.Amounts {
		h.item.figures = append(h.item.figures, itemFigure{
			amount: amount, meter: b.meter(meter), code: codeReported, sign: 1,
		})
	}
	b.attach(h.item, h.hold.Namespace, hashLabels(b.seed, h.hold.Labels), h.hold.Labels)
}

// Held implements [Ledger].
func (b *book) Held(uid types.UID) (Hold, bool) {
	h, ok := b.holds[uid]
	if !ok || h.item == nil {
		return Hold{}, false
	}
	return h.hold.Clone(), true
}

// Release implements [Ledger].
func (b *book) Release(uid types.UID) {
	if h, ok := b.holds[uid]; ok {
		b.detach(h.item)
		delete(b.holds, uid)
	}
}

func (b *book) remove(uid types.UID) {
	it, ok := b.records[uid]
	if !ok {
		return
	}
	b.detach(it)
	delete(b.records, uid)
	if h, ok := b.holds[uid]; ok {
		b.revive(h)
	}
}

// Used implements [Ledger].
func (b *book) Used(q Query) (Balance, error) {
	c, meter, err := b.lookUp(&q)
	if err != nil {
		return Balance{}, err
	}
	var own *item
	if h, ok := b.holds[q.Except]; ok && h.item != nil && slices.Contains(h.item.set.class.counters, c) {
		own = h.item
	}
	return c.balance(&q, meter, own)
}

// Turns implements [Ledger].
func (b *book) Turns(q Query) (Turns, error) {
	c, _, err := b.lookUp(&q)
	if err != nil {
		return Turns{}, err
	}
	return c.turns(q.At), nil
}

// lookUp finds the counter that a query is about and the index of its meter.
func (b *book) lookUp(q *Query) (*counter, int, error) {
	a, ok := b.accounts[q.Scope]
	if !ok {
		if err := q.Scope.validate(); err != nil {
			return nil, 0, err
		}
		a = b.track(q.Scope)
	}
	meter := slices.Index(q.Scope.Meters, q.Meter)
	if meter < 0 {
		return nil, 0, q.validate()
	}
	return a.find(q.Labels), meter, nil
}

// meter gives the number of a meter, made new if it has none.
func (b *book) meter(name Meter) meterID {
	id, ok := b.meters[name]
	if !ok {
		id = meterID(len(b.meters)) //nolint:gosec // far fewer than 2^32 names fit into memory
		b.meters[name] = id
	}
	return id
}

func (b *book) space(name string) *space {
	s, ok := b.spaces[name]
	if !ok {
		s = newSpace(name)
		b.spaces[name] = s
	}
	return s
}

// attach makes an item count in every scope that its labels match.
func (b *book) attach(it *item, namespace string, hash uint64, labels map[string]string) {
	set := b.space(namespace).set(hash, labels)
	set.insert(it)
	for _, c := range set.class.counters {
		c.add(it, 1)
	}
}

// detach undoes attach; a nil item is none.
func (b *book) detach(it *item) {
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
func (b *book) track(s *Scope) *account {
	if a, ok := b.accounts[s]; ok {
		return a
	}
	a := newAccount(s)
	for _, meter := range s.Meters {
		a.meters = append(a.meters, b.meter(meter))
	}
	b.accounts[s] = a
	space := b.space(s.Namespace)
	space.learn(s)
	space.admit(a)
	return a
}

func (b *book) forget(s *Scope) {
	a, ok := b.accounts[s]
	if !ok {
		return
	}
	delete(b.accounts, s)
	b.spaces[s.Namespace].dismiss(a)
}
