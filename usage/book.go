package usage

import (
	"errors"
	"hash/maphash"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// book is a [Memory] without its lock.
type book struct {
	seed     maphash.Seed
	meters   meterTable
	tasks    meterID // of Tasks
	records  recordIndex
	holds    map[types.UID]*held
	spaces   map[string]*space
	accounts map[*Scope]*account
	items    itemPool
	scratch  []itemFigure         // of the record that is being read
	sorted   []label              // the labels of what is being entered
	corrects map[types.UID]itemID // corrections, by the UID of what they correct
}

// held is a hold that was entered, of a task that has no record.
type held struct {
	hold Hold
	id   itemID
	item *item
}

func newBook() *book {
	b := &book{
		seed:   maphash.MakeSeed(),
		meters: meterTable{ids: map[Meter]meterID{}},

		holds:    map[types.UID]*held{},
		spaces:   map[string]*space{},
		accounts: map[*Scope]*account{},
		corrects: map[types.UID]itemID{},
	}
	b.records.items = &b.items
	b.tasks = b.meters.number(Tasks)
	return b
}

// Add implements [Ledger].
func (b *book) Add(r Record) error { return b.add(&r, b.hash(r.UID)) }

// addAll adds records one by one, some at a time.
func (b *book) addAll(records []Record) error {
	var found faults
	var uids [lookAhead]uint64
	for some := range slices.Chunk(records, lookAhead) {
		for i := range some {
			uids[i] = b.hash(some[i].UID)
		}
		b.records.warm(uids[:len(some)])
		for i := range some {
			found.note(b.add(&some[i], uids[i]))
		}
	}
	return errors.Join(found...)
}

// lookAhead is for how many records addAll fetches the slots in one go.
const lookAhead = 32

// add is Add without a copy of the record; uid is the hash of its UID.
func (b *book) add(r *Record, uid uint64) error {
	slot := b.records.look(uid)
	if !b.read(r) {
		return validateRecord(r)
	}
	b.sorted = sortLabels(b.sorted[:0], r.Labels)
	digest := digestOf(b.seed, r, b.scratch)
	if id, known := b.records.findFrom(slot, uid, r.UID); known {
		it := b.items.at(id)
		if it.digest != digest || it.set.space.name != r.Namespace || !slices.Equal(it.set.pairs, b.sorted) {
			return &ConflictError{Namespace: r.Namespace, Name: r.Name, UID: r.UID}
		}
		return nil
	}
	b.Release(r.UID)
	id, it := b.newRecord(r, digest)
	b.records.insert(uid, id)
	b.attach(id, it, r.Namespace)
	if r.Corrects != "" {
		b.corrects[r.Corrects] = id
		b.pair(id, r.Corrects)
	}
	b.pairWith(r.UID)
	return nil
}

func (b *book) hash(uid types.UID) uint64 { return maphash.String(b.seed, string(uid)) }

// Hold implements [Ledger].
func (b *book) Hold(h Hold) (Hold, error) {
	if err := h.Validate(); err != nil {
		return Hold{}, err
	}
	if b.Recorded(h.UID) {
		return Hold{}, ErrRecorded
	}
	if known, ok := b.holds[h.UID]; !ok || !known.hold.Live(h.AdmittedAt) {
		b.replace(h)
	}
	return b.holds[h.UID].hold.Clone(), nil
}

// renew enters a hold, whatever hold its UID has.
func (b *book) renew(h Hold) error {
	if err := h.Validate(); err != nil {
		return err
	}
	if !b.Recorded(h.UID) {
		b.replace(h)
	}
	return nil
}

// Recorded implements [Ledger].
func (b *book) Recorded(uid types.UID) bool {
	_, ok := b.records.find(b.hash(uid), uid)
	return ok
}

// replace enters a valid hold in the place of the one that its UID has.
func (b *book) replace(h Hold) {
	b.Release(h.UID)
	b.scratch = b.scratch[:0]
	for meter, amount := range h.Amounts {
		b.scratch = append(b.scratch, itemFigure{amount: amount, meter: b.meters.number(meter), code: codeReported, sign: 1})
	}
	id, it := b.items.take()
	it.uid, it.kind = h.UID, kindHold
	it.setAt(instantOf(h.ExpiresAt))
	if !h.AdmittedAt.IsZero() {
		it.setOpened(instantOf(h.AdmittedAt))
	}
	it.keep(b.scratch)
	b.holds[h.UID] = &held{hold: h.Clone(), id: id, item: it}
	b.sorted = sortLabels(b.sorted[:0], h.Labels)
	b.attach(id, it, h.Namespace)
}

// Held implements [Ledger].
func (b *book) Held(uid types.UID) (Hold, bool) {
	h, ok := b.holds[uid]
	if !ok {
		return Hold{}, false
	}
	return h.hold.Clone(), true
}

// Release implements [Ledger].
func (b *book) Release(uid types.UID) {
	if h, ok := b.holds[uid]; ok {
		b.detach(h.id, h.item)
		delete(b.holds, uid)
	}
}

func (b *book) remove(uid types.UID) {
	hash := b.hash(uid)
	id, ok := b.records.find(hash, uid)
	if !ok {
		return
	}
	b.records.remove(hash, id)
	it := b.items.at(id)
	if it.kind == kindCorrection {
		delete(b.corrects, correctedBy(uid))
	}
	b.detach(id, it)
	b.pairWith(uid)
}

// Used implements [Ledger].
func (b *book) Used(q Query) (Balance, error) {
	c, meter, err := b.lookUp(&q)
	if err != nil {
		return Balance{}, err
	}
	var own *item
	if h, ok := b.holds[q.Except]; ok && slices.Contains(h.item.set.class.counters, c) {
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
	return a.find(labels.Set(q.Labels)), meter, nil
}

func (b *book) space(name string) *space {
	s, ok := b.spaces[name]
	if !ok {
		s = newSpace(name)
		b.spaces[name] = s
	}
	return s
}

// attach makes an item, whose labels are in sorted, count in every scope that
// they match.
func (b *book) attach(id itemID, it *item, namespace string) {
	set := b.space(namespace).set(hashSorted(b.seed, b.sorted), b.sorted)
	set.insert(id, it)
	for _, c := range set.class.counters {
		c.add(it, 1)
	}
}

// detach undoes attach and ends the item.
func (b *book) detach(id itemID, it *item) {
	set := it.set
	for _, c := range set.class.counters {
		c.add(it, -1)
	}
	set.remove(it, &b.items)
	if len(set.items) == 0 {
		set.space.drop(set)
	}
	b.items.give(id)
}

// track gives the account of a scope. A new one is charged with all records
// and holds of its namespace.
func (b *book) track(s *Scope) *account {
	if a, ok := b.accounts[s]; ok {
		return a
	}
	a := newAccount(s)
	for _, meter := range s.Meters {
		a.meters = append(a.meters, b.meters.number(meter))
	}
	b.accounts[s] = a
	space := b.space(s.Namespace)
	space.learn(s)
	space.admit(a, &b.items)
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
