package usage

import "slices"

// space is one namespace of a ledger.
type space struct {
	name     string
	keys     []string // the label keys that scopes ask for, sorted
	sets     map[uint64]*labelSet
	classes  map[string]*class
	accounts []*account
}

// class is what label sets have in common that no scope of their namespace can
// tell apart: they differ only in labels that nobody asks for.
type class struct {
	key      string
	sets     int
	counters []*counter
}

func newSpace(name string) *space {
	return &space{name: name, sets: map[uint64]*labelSet{}, classes: map[string]*class{}}
}

// set gives the set of sorted labels with that hash, made new if there is none.
func (s *space) set(hash uint64, labels []label) *labelSet {
	set := s.sets[hash]
	for set != nil && !slices.Equal(set.pairs, labels) {
		set = set.next
	}
	if set == nil {
		set = newLabelSet(s, hash, labels)
		set.next = s.sets[hash]
		s.classify(set)
		s.sets[hash] = set
	}
	return set
}

// classify puts a label set into its class, made new if there is none.
func (s *space) classify(set *labelSet) {
	var buffer [256]byte
	key := s.appendKey(buffer[:0], set)
	c, ok := s.classes[string(key)]
	if !ok {
		c = &class{key: string(key)}
		for _, a := range s.accounts {
			if a.scope.matches(s.name, set) {
				c.join(a.counter(set))
			}
		}
		s.classes[c.key] = c
	}
	c.sets++
	set.class = c
}

// appendKey writes down what scopes can see of labels.
func (s *space) appendKey(to []byte, set *labelSet) []byte {
	for _, k := range s.keys {
		value, ok := set.Lookup(k)
		if !ok {
			to = append(to, 0)
			continue
		}
		n := len(value)
		to = append(to, 1, byte(n), byte(n>>8), byte(n>>16), byte(n>>24)) //nolint:gosec // byte by byte
		to = append(to, value...)
	}
	return to
}

func (c *class) join(counter *counter) {
	counter.classes++
	c.counters = append(c.counters, counter)
}

// leave ends a class, and each counter that no other class has.
func (c *class) leave() {
	for _, counter := range c.counters {
		counter.classes--
		if counter.classes == 0 {
			delete(counter.account.groups, counter.group)
		}
	}
}

// learn makes the keys of a scope known.
func (s *space) learn(scope *Scope) {
	s.ask(addKeys(slices.Clone(s.keys), scope))
}

// ask changes the keys that scopes ask for. Where they are others than before,
// every label set is classified again.
func (s *space) ask(keys []string) {
	if slices.Equal(s.keys, keys) {
		return
	}
	s.keys = keys
	before := s.classes
	s.classes = map[string]*class{}
	for _, first := range s.sets {
		for set := first; set != nil; set = set.next {
			s.classify(set)
		}
	}
	for _, c := range before {
		c.leave()
	}
}

// addKeys adds the keys that a scope asks for to sorted ones.
func addKeys(to []string, scope *Scope) []string {
	requirements, _ := scope.Selector.Requirements()
	for i := range requirements {
		to = addKey(to, requirements[i].Key())
	}
	for _, key := range scope.GroupBy {
		to = addKey(to, key)
	}
	return to
}

func addKey(to []string, key string) []string {
	i, known := slices.BinarySearch(to, key)
	if known {
		return to
	}
	return slices.Insert(to, i, key)
}

// admit charges a new account, whose keys are known, with all that is there.
func (s *space) admit(a *account, items *itemPool) {
	s.accounts = append(s.accounts, a)
	charged := map[*class]*counter{}
	for _, first := range s.sets {
		for set := first; set != nil; set = set.next {
			counter, seen := charged[set.class]
			if !seen {
				if a.scope.matches(s.name, set) {
					counter = a.counter(set)
					set.class.join(counter)
				}
				charged[set.class] = counter
			}
			if counter == nil {
				continue
			}
			for _, id := range set.items {
				counter.add(items.at(id), 1)
			}
		}
	}
}

// dismiss takes an account out, and the keys that nobody else asks for.
func (s *space) dismiss(a *account) {
	s.accounts = slices.DeleteFunc(s.accounts, func(other *account) bool { return other == a })
	for _, class := range s.classes {
		class.counters = slices.DeleteFunc(class.counters, func(c *counter) bool { return c.account == a })
	}
	var keys []string
	for _, left := range s.accounts {
		keys = addKeys(keys, left.scope)
	}
	s.ask(keys)
}

// drop takes out a label set that has no items.
func (s *space) drop(set *labelSet) {
	set.class.sets--
	if set.class.sets == 0 {
		set.class.leave()
		delete(s.classes, set.class.key)
	}
	link := s.sets[set.hash]
	switch {
	case link != set:
		for link.next != set {
			link = link.next
		}
		link.next = set.next
	case set.next != nil:
		s.sets[set.hash] = set.next
	default:
		delete(s.sets, set.hash)
	}
}
