package usage

import "k8s.io/apimachinery/pkg/types"

// recordIndex finds the item of a record by its UID: a table with open
// addressing, probed slot by slot. Where a map looks into three places of a
// large memory to learn that a UID is new and to enter it, this looks into one.
type recordIndex struct {
	items  *itemPool
	slots  []indexSlot // as many as a power of two
	count  int
	warmed uint32 // means nothing, see warm
}

type indexSlot struct {
	hash uint32 // of the UID: its lower half
	next uint32 // the number after that of the item, 0 in an empty slot
}

func (s indexSlot) id() itemID { return itemID(s.next - 1) }

// smallestIndex is the number of slots of an index that is not empty.
const smallestIndex = 16

// find gives the item of a UID with that hash, false if there is none.
func (x *recordIndex) find(hash uint64, uid types.UID) (itemID, bool) {
	return x.findFrom(x.look(hash), hash, uid)
}

// look reads the slot in which a hash is looked for first. In a large index that
// is far away in memory: whoever looks a while before findFrom need not wait.
func (x *recordIndex) look(hash uint64) indexSlot {
	if x.count == 0 {
		return indexSlot{}
	}
	return x.slots[x.home(uint32(hash))] //nolint:gosec // its lower half
}

// warm reads the slots in which hashes are looked for first, all at once: none
// of these reads waits for another, as those of one record after the other do.
func (x *recordIndex) warm(hashes []uint64) {
	for _, hash := range hashes {
		x.warmed ^= x.look(hash).hash // so that it is read
	}
}

// findFrom is find with what look has read.
func (x *recordIndex) findFrom(slot indexSlot, hash uint64, uid types.UID) (itemID, bool) {
	part := uint32(hash) //nolint:gosec // its lower half
	for i := x.home(part); slot.next != 0; slot = x.slots[i] {
		if slot.hash == part && x.items.at(slot.id()).uid == uid {
			return slot.id(), true
		}
		i = x.after(i)
	}
	return 0, false
}

// insert enters the item of a UID that has none.
func (x *recordIndex) insert(hash uint64, id itemID) {
	if 4*(x.count+1) > 3*len(x.slots) {
		x.grow()
	}
	x.place(indexSlot{uint32(hash), uint32(id) + 1}) //nolint:gosec // the lower half of the hash
	x.count++
}

func (x *recordIndex) grow() {
	before := x.slots
	x.slots = make([]indexSlot, max(smallestIndex, 2*len(before)))
	for _, slot := range before {
		if slot.next != 0 {
			x.place(slot)
		}
	}
}

func (x *recordIndex) place(slot indexSlot) {
	i := x.home(slot.hash)
	for x.slots[i].next != 0 {
		i = x.after(i)
	}
	x.slots[i] = slot
}

// remove takes an item out that is in. Those that follow without a gap move up,
// unless that would put them before their home.
func (x *recordIndex) remove(hash uint64, id itemID) {
	gap := x.home(uint32(hash)) //nolint:gosec // its lower half
	for x.slots[gap].id() != id {
		gap = x.after(gap)
	}
	for i := x.after(gap); x.slots[i].next != 0; i = x.after(i) {
		if x.distance(x.home(x.slots[i].hash), i) >= x.distance(gap, i) {
			x.slots[gap] = x.slots[i]
			gap = i
		}
	}
	x.slots[gap] = indexSlot{}
	x.count--
}

// home is the slot in which a hash is looked for first.
func (x *recordIndex) home(hash uint32) int { return int(hash) & (len(x.slots) - 1) }

// after is the slot that is looked into after another.
func (x *recordIndex) after(i int) int { return (i + 1) & (len(x.slots) - 1) }

// distance is the number of steps from one slot to another.
func (x *recordIndex) distance(from, to int) int { return (to - from) & (len(x.slots) - 1) }
