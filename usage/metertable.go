package usage

// meterID is a meter that a ledger has met, as a number.
type meterID uint32

// meterTable numbers meters in the order in which a ledger met them.
type meterTable struct {
	ids   map[Meter]meterID
	first []Meter // the first firstMeters, by number
}

// firstMeters is how many names are compared one by one: a ledger rarely has
// more, and for so few that is faster than a map.
const firstMeters = 8

// find gives the number of a meter, false if it has none.
func (t *meterTable) find(name Meter) (meterID, bool) {
	for i := range t.first {
		if t.first[i] == name {
			return meterID(i), true // below firstMeters
		}
	}
	if len(t.ids) == len(t.first) {
		return 0, false
	}
	id, ok := t.ids[name]
	return id, ok
}

// number gives the number of a meter, a new one if it has none.
func (t *meterTable) number(name Meter) meterID {
	id, ok := t.find(name)
	if !ok {
		id = meterID(len(t.ids)) //nolint:gosec // far fewer than 2^32 names fit into memory
		t.ids[name] = id
		if id < firstMeters {
			t.first = append(t.first, name)
		}
	}
	return id
}
