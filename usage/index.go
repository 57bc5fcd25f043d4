package usage

import "k8s.io/apimachinery/pkg/types"

// recordIndex finds the item of a record by its UID: a table with open
// addressing, probed slot by slot. Where a map looks into three places of a
// large memory to learn that a UID is new and to enter it, this looks into one.
type recordIndex struct {
	slots []indexSlot // as many as a power of two
	count int
}

type indexSlot struct {
	hash uint64 // of the UID
	item *item  // nil in an empty slot
}

// smallestIndex is the number of slots of an index that is not empty.
const smallestIndex = 16

// find gives the item of a UID with that hash, nil if there is none.
func (x *recordIndex) find(hash uint64, uid types.UID) *item {
	if x.count == 0 {
		return nil
	}
	for i := x.home(hash); ; i = x.after(i) {
		slot := &x.slots[i]
		if slot.item == nil {
			return nil
		}
		if slot.hash == hash && slot.item.uid == uid {
			return slot.item
		}
	}
}

// insert enters the item of a UID that has none.
func (x *recordIndex) insert(hash uint64, it *item) {
	if 4*(x.count+1) > 3*len(x.slots) {
		x.grow()
	}
	x.place(hash, it)
	x.count++
}

func (x *recordIndex) grow() {
	before := x.slots
	x.slots = make([]indexSlot, max(smallestIndex, 2*len(before)))
	for i := range before {
		if before[i].item != nil {
			x.place(before[i].hash, before[i].item)
		}
	}
}

func (x *recordIndex) place(hash uint64, it *item) {
	i := x.home(hash)
	for x.slots[i].item != nil {
		i = x.after(i)
	}
	x.slots[i] = indexSlot{hash, it}
}

// remove takes an item out that is in. Those that follow without a gap move up,
// unless that would put them before their home.
func (x *recordIndex) remove(hash uint64, it *item) {
	gap := x.home(hash)
	for x.slots[gap].item != it {
		gap = x.after(gap)
	}
	for i := x.after(gap); x.slots[i].item != nil; i = x.after(i) {
		if x.distance(x.home(x.slots[i].hash), i) >= x.distance(gap, i) {
			x.slots[gap] = x.slots[i]
			gap = i
		}
	}
	x.slots[gap] = indexSlot{}
	x.count--
}

// home is the slot in which a hash is looked for first.
func (x *recordIndex) home(hash uint64) int { return int(hash & uint64(len(x.slots)-1)) } //nolint:gosec // less than len

// after is the slot that is looked into after another.
func (x *recordIndex) after(i int) int { return (i + 1) & (len(x.slots) - 1) }

// distance is the number of steps from one slot to another.
func (x *recordIndex) distance(from, to int) int { return (to - from) & (len(x.slots) - 1) }
