package usage

import (
	"slices"
	"sort"
)

// timeline keeps items in the order of time and sums any stretch of it in
// logarithmic time. It is cut into chunks with a total each; prefix holds the
// totals of all chunks before one and is mended from the first chunk that
// changed.
type timeline struct {
	account *account
	chunks  []*chunk
	prefix  [][]cell // prefix[i] is the total of chunks[:i]
	clean   int      // prefix[:clean+1] is right
}

// chunk is never empty.
type chunk struct {
	items []*item // in the order of time
	total []cell
}

// maxChunk is the number of items from which on a chunk is halved.
const maxChunk = 128

// change enters an item, or takes it out where sign is -1.
func (t *timeline) change(it *item, sign int64) {
	if sign > 0 {
		t.insert(it)
	} else {
		t.remove(it)
	}
}

func (t *timeline) insert(it *item) {
	i := t.chunkOf(it.at())
	if i == len(t.chunks) {
		if i == 0 {
			t.chunks = []*chunk{{total: make([]cell, len(t.account.meters))}}
		} else {
			i--
		}
	}
	c := t.chunks[i]
	at := sort.Search(len(c.items), func(j int) bool { return it.at().before(c.items[j].at()) })
	c.items = slices.Insert(c.items, at, it)
	t.account.charge(c.total, it, 1)
	t.touch(i)
	if len(c.items) > maxChunk {
		t.halve(i)
	}
}

func (t *timeline) remove(it *item) {
	for i := t.chunkOf(it.at()); i < len(t.chunks); i++ {
		c := t.chunks[i]
		at := slices.Index(c.items, it)
		if at < 0 {
			continue
		}
		c.items = slices.Delete(c.items, at, at+1)
		t.account.charge(c.total, it, -1)
		t.touch(i)
		if len(c.items) == 0 {
			t.chunks = slices.Delete(t.chunks, i, i+1)
		}
		return
	}
}

// chunkOf is the first chunk whose last item is not before at.
func (t *timeline) chunkOf(at instant) int {
	return sort.Search(len(t.chunks), func(i int) bool {
		items := t.chunks[i].items
		return !items[len(items)-1].at().before(at)
	})
}

func (t *timeline) touch(i int) { t.clean = min(t.clean, i) }

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
}

// before sums one meter over the items before an instant.
func (t *timeline) before(at instant, meter int) cell {
	i := t.chunkOf(at)
	t.mend(i)
	var sum cell
	if i > 0 {
		sum = t.prefix[i][meter]
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

// mend makes prefix right up to and with index i.
func (t *timeline) mend(i int) {
	for len(t.prefix) <= i {
		t.prefix = append(t.prefix, make([]cell, len(t.account.meters)))
	}
	for ; t.clean < i; t.clean++ {
		next, total := t.prefix[t.clean+1], t.chunks[t.clean].total
		copy(next, t.prefix[t.clean])
		for m := range next {
			next[m].merge(&total[m], 1)
		}
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
