package usage

import (
	"cmp"
	"slices"
	"sort"
)

// timeline keeps items in the order of time and sums any stretch of it without
// looking at many of them. It is cut into chunks with a total each; chunks are
// taken together into blocks, and prefix holds the totals of all blocks before
// one. What changes a total mends its block at once and the prefix when it is
// asked for.
type timeline struct {
	account *account
	chunks  []*chunk
	blocks  [][]cell // blocks[i] is the total of blockSize chunks; blocks[:fresh] are right
	fresh   int
	prefix  [][]cell // prefix[i] is the total of blocks[:i]; prefix[:clean+1] is right
	clean   int
}

// chunk is never empty.
type chunk struct {
	items []*item // in the order of time
	total []cell
}

const (
	// maxChunk is the number of items from which on a chunk is halved.
	maxChunk = 128
	// blockSize is the number of chunks in a block.
	blockSize = 64
)

// change enters an item, or takes it out where sign is -1.
func (t *timeline) change(it *item, sign int64) {
	if sign > 0 {
		t.insert(it)
	} else {
		t.remove(it)
	}
}

// order compares items by time, and those of one instant by their UID, so that
// each can be found among many of the same instant.
func order(a, b *item) int {
	return cmp.Or(a.at().compare(b.at()), cmp.Compare(a.uid, b.uid), cmp.Compare(a.kind, b.kind))
}

func (t *timeline) insert(it *item) {
	if len(t.chunks) == 0 {
		t.chunks = []*chunk{{total: make([]cell, len(t.account.meters))}}
	}
	i := min(t.chunkWith(it), len(t.chunks)-1)
	c := t.chunks[i]
	at, _ := slices.BinarySearchFunc(c.items, it, order)
	c.items = slices.Insert(c.items, at, it)
	t.charge(i, it, 1)
	if len(c.items) > maxChunk {
		t.halve(i)
	}
}

func (t *timeline) remove(it *item) {
	i := t.chunkWith(it)
	c := t.chunks[i]
	at, _ := slices.BinarySearchFunc(c.items, it, order)
	c.items = slices.Delete(c.items, at, at+1)
	t.charge(i, it, -1)
	if len(c.items) == 0 {
		t.chunks = slices.Delete(t.chunks, i, i+1)
		t.shifted(i)
	}
}

// charge adds an item to the totals of a chunk and its block.
func (t *timeline) charge(i int, it *item, sign int64) {
	block := i / blockSize
	t.account.charge(t.chunks[i].total, it, sign)
	if block < t.fresh {
		t.account.charge(t.blocks[block], it, sign)
	}
	t.clean = min(t.clean, block)
}

// shifted notes that other chunks stand at index i and after it.
func (t *timeline) shifted(i int) {
	t.fresh = min(t.fresh, i/blockSize)
	t.clean = min(t.clean, t.fresh)
}

// chunkWith is the first chunk whose last item is not before an item.
func (t *timeline) chunkWith(it *item) int {
	return sort.Search(len(t.chunks), func(i int) bool {
		items := t.chunks[i].items
		return len(items) == 0 || order(items[len(items)-1], it) >= 0
	})
}

// chunkOf is the first chunk whose last item is not before an instant.
func (t *timeline) chunkOf(at instant) int {
	return sort.Search(len(t.chunks), func(i int) bool {
		items := t.chunks[i].items
		return !items[len(items)-1].at().before(at)
	})
}

func (t *timeline) halve(i int) {
	c := t.chunks[i]
	half := len(c.items) / 2
	upper := &chunk{items: slices.Clone(c.items[half:]), total: make([]cell, len(c.total))}
	c.items = slices.Clone(c.items[:half])
	for _, it := range upper.items {
		t.account.charge(upper.total, it, 1)
		t.account.charge(c.total, it, -1)
	}
	t.chunks = slices.Insert(t.chunks, i+1, upper)
	t.shifted(i)
}

// before sums one meter over the items before an instant.
func (t *timeline) before(at instant, meter int) cell {
	i := t.chunkOf(at)
	block := i / blockSize
	var sum cell
	if block > 0 {
		t.mend(block)
		sum = t.prefix[block][meter]
	}
	for _, c := range t.chunks[block*blockSize : i] {
		sum.merge(&c.total[meter], 1)
	}
	if i == len(t.chunks) {
		return sum
	}
	for _, it := range t.chunks[i].items {
		if !it.at().before(at) {
			break
		}
		t.account.chargeMeter(&sum, it, meter, 1)
	}
	return sum
}

// mend makes the blocks before one right, and prefix up to and with it.
func (t *timeline) mend(block int) {
	for ; t.fresh < block; t.fresh++ {
		t.blocks = t.row(t.blocks, t.fresh)
		clear(t.blocks[t.fresh])
		for _, c := range t.chunks[t.fresh*blockSize : (t.fresh+1)*blockSize] {
			mergeAll(t.blocks[t.fresh], c.total)
		}
	}
	t.prefix = t.row(t.prefix, 0)
	for ; t.clean < block; t.clean++ {
		t.prefix = t.row(t.prefix, t.clean+1)
		copy(t.prefix[t.clean+1], t.prefix[t.clean])
		mergeAll(t.prefix[t.clean+1], t.blocks[t.clean])
	}
}

// row makes sure that there is a row of totals with that index.
func (t *timeline) row(rows [][]cell, i int) [][]cell {
	for len(rows) <= i {
		rows = append(rows, make([]cell, len(t.account.meters)))
	}
	return rows
}

func mergeAll(to, from []cell) {
	for m := range to {
		to[m].merge(&from[m], 1)
	}
}

// first is the first instant of an item at or after at.
func (t *timeline) first(at instant) (instant, bool) {
	i := t.chunkOf(at)
	if i == len(t.chunks) {
		return instant{}, false
	}
	items := t.chunks[i].items
	j := sort.Search(len(items), func(j int) bool { return !items[j].at().before(at) })
	return items[j].at(), true
}

// last is the last instant of an item. There must be one.
func (t *timeline) last() instant {
	items := t.chunks[len(t.chunks)-1].items
	return items[len(items)-1].at()
}
