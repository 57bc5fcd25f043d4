package usage

// meterID is a meter that a ledger has met, as a number.
type meterID uint32

// item is a record or a hold as a ledger keeps it.
type item struct {
	at      instant // completion of a record, expiry of a hold
	opened  instant // admission
	digest  uint64  // of a record's content
	set     *labelSet
	figures []itemFigure
	place   int32 // in set.items
	kind    itemKind
	use     bool // its admission opens a window that opens at its first use
}

type itemKind uint8

const (
	kindRecord itemKind = iota
	kindCorrection
	kindHold
)

// itemFigure is one figure of an item in 16 bytes.
type itemFigure struct {
	amount int64
	meter  meterID
	code   basisCode
	sign   int8 // -1 for a figure that a correction replaces
}

func newRecordItem(r *Record, digest uint64, figures []itemFigure) *item {
	it := &item{at: instantOf(r.CompletionTime), digest: digest, figures: append([]itemFigure(nil), figures...)}
	if r.Corrects != "" {
		it.kind = kindCorrection
		return it
	}
	it.opened, it.use = instantOf(openedAt(r)), true
	return it
}

func newHoldItem(h *Hold) *item {
	it := &item{kind: kindHold, at: instantOf(h.ExpiresAt)}
	if !h.AdmittedAt.IsZero() {
		it.opened, it.use = instantOf(h.AdmittedAt), true
	}
	return it
}

// labelSet is a set of labels that records and holds of a namespace share.
type labelSet struct {
	space  *space
	hash   uint64
	next   *labelSet // with the same hash
	labels map[string]string
	class  *class
	items  []*item
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
