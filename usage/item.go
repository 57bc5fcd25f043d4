package usage

import "k8s.io/apimachinery/pkg/types"

// meterID is a meter that a ledger has met, as a number.
type meterID uint32

// item is a record or a hold as a ledger keeps it. There may be millions: its
// size and the number of its pointers count.
type item struct {
	uid    types.UID
	digest uint64 // of a record's content
	set    *labelSet
	many   *[]itemFigure // all figures, where they are too many for few
	few    [fewFigures]itemFigure

	atSec, openedSec   int64 // see at and opened
	atNsec, openedNsec int32

	place int32 // in set.items
	count uint8 // of few
	kind  itemKind
	use   bool // its admission opens a window that opens at its first use
}

// at is the completion of a record, the expiry of a hold.
func (it *item) at() instant { return instant{it.atSec, it.atNsec} }

// opened is the admission.
func (it *item) opened() instant { return instant{it.openedSec, it.openedNsec} }

func (it *item) setAt(i instant) { it.atSec, it.atNsec = i.sec, i.nsec }

func (it *item) setOpened(i instant) { it.openedSec, it.openedNsec, it.use = i.sec, i.nsec, true }

// fewFigures is what most tasks report beside their number: cost, two kinds of
// tokens, seconds.
const fewFigures = 4

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

// figures gives the figures of the item, in no order.
func (it *item) figures() []itemFigure {
	if it.many != nil {
		return *it.many
	}
	return it.few[:it.count]
}

// keep copies figures into the item.
func (it *item) keep(figures []itemFigure) {
	if len(figures) > fewFigures {
		many := append([]itemFigure(nil), figures...)
		it.many = &many
		return
	}
	it.count = uint8(copy(it.few[:], figures)) //nolint:gosec // at most fewFigures
}

// itemPool makes items, many at a time, and takes them back.
type itemPool struct {
	fresh []item
	size  int // of the last piece of fresh items
	used  []*item
}

// The sizes of pieces: small ledgers stay small, and the largest piece just fits
// into what the allocator hands out whole, 32 KiB.
const (
	smallestPiece = 8
	largestPiece  = 227
)

func (p *itemPool) take() *item {
	if last := len(p.used) - 1; last >= 0 {
		it := p.used[last]
		p.used = p.used[:last]
		return it
	}
	if len(p.fresh) == 0 {
		p.size = min(largestPiece, max(smallestPiece, 2*p.size))
		p.fresh = make([]item, p.size)
	}
	it := &p.fresh[0]
	p.fresh = p.fresh[1:]
	return it
}

// give takes back an item that nothing points to any more.
func (p *itemPool) give(it *item) {
	*it = item{}
	p.used = append(p.used, it)
}
