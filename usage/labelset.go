package usage

import "hash/maphash"

// labelSet is a set of labels that records and holds of a namespace share. It
// implements the Labels of package labels, which selectors match.
type labelSet struct {
	space *space
	hash  uint64
	next  *labelSet // with the same hash
	pairs []label
	class *class
	items []*item
	first [1]*item // room for the items of a set that nothing shares
}

type label struct{ key, value string }

func newLabelSet(space *space, hash uint64, labels map[string]string) *labelSet {
	s := &labelSet{space: space, hash: hash}
	if len(labels) > 0 {
		s.pairs = make([]label, 0, len(labels))
	}
	for k, v := range labels {
		s.pairs = append(s.pairs, label{k, v})
	}
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

// equals reports whether these are the labels of the set.
func (s *labelSet) equals(labels map[string]string) bool {
	if len(s.pairs) != len(labels) {
		return false
	}
	for i := range s.pairs {
		if value, ok := labels[s.pairs[i].key]; !ok || value != s.pairs[i].value {
			return false
		}
	}
	return true
}

func (s *labelSet) insert(it *item) {
	it.set, it.place = s, int32(len(s.items)) //nolint:gosec // far fewer than 2^31 items fit into memory
	s.items = append(s.items, it)
}

func (s *labelSet) remove(it *item) {
	last := len(s.items) - 1
	s.items[it.place] = s.items[last]
	s.items[it.place].place = it.place
	s.items[last] = nil
	s.items = s.items[:last]
}

// hashLabels is a hash that does not depend on the order of a map. Its seed is a
// secret, so that nobody can make labels that share it; whoever uses it compares
// the labels all the same.
func hashLabels(seed maphash.Seed, labels map[string]string) uint64 {
	sum := uint64(len(labels))
	for k, v := range labels {
		sum += mix(maphash.String(seed, k) + mix(maphash.String(seed, v)))
	}
	return sum
}

// mix spreads the bits of a hash, so that sums of hashes do not cancel out.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}
