package usage

import (
	"hash/maphash"
	"slices"
	"strings"
)

// labelSet is a set of labels that records and holds of a namespace share. It
// implements the Labels of package labels, which selectors match.
type labelSet struct {
	space *space
	hash  uint64
	next  *labelSet // with the same hash
	pairs []label   // by key
	class *class
	items []itemID
	first [1]itemID // room for the items of a set that nothing shares
}

type label struct{ key, value string }

func newLabelSet(space *space, hash uint64, labels []label) *labelSet {
	s := &labelSet{space: space, hash: hash, pairs: slices.Clone(labels)}
	s.items = s.first[:0]
	return s
}

// Has implements labels.Labels.
func (s *labelSet) Has(key string) bool {
	_, ok := s.Lookup(key)
	return ok
}

// Get implements labels.Labels.
func (s *labelSet) Get(key string) string {
	value, _ := s.Lookup(key)
	return value
}

// Lookup implements labels.Labels.
func (s *labelSet) Lookup(key string) (string, bool) {
	for i := range s.pairs {
		if s.pairs[i].key == key {
			return s.pairs[i].value, true
		}
	}
	return "", false
}

func (s *labelSet) insert(id itemID, it *item) {
	it.set, it.place = s, int32(len(s.items)) //nolint:gosec // far fewer than 2^31 items fit into memory
	s.items = append(s.items, id)
}

func (s *labelSet) remove(it *item, pool *itemPool) {
	last := len(s.items) - 1
	s.items[it.place] = s.items[last]
	pool.at(s.items[it.place]).place = it.place
	s.items = s.items[:last]
}

// sortLabels puts labels in the order of their keys into to.
func sortLabels(to []label, labels map[string]string) []label {
	for k, v := range labels {
		to = append(to, label{k, v})
	}
	slices.SortFunc(to, func(a, b label) int { return strings.Compare(a.key, b.key) })
	return to
}

// hashSorted is a hash of sorted labels. Its seed is a secret, so that nobody
// can make labels that share it; whoever uses it compares the labels all the
// same.
func hashSorted(seed maphash.Seed, labels []label) uint64 {
	h := uint64(len(labels))
	for i := range labels {
		h = mix(h + maphash.String(seed, labels[i].key))
		h = mix(h + maphash.String(seed, labels[i].value))
	}
	return h
}

// mix spreads the bits of a hash, so that sums of hashes do not cancel out.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}
