package usage

import (
	"math/bits"

	"k8s.io/apimachinery/pkg/types"
)

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
	lone  bool // a correction of a record that is not there: it replaces nothing
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

// itemID is the place of an item in its pool. It takes less room than a pointer
// and nothing for the garbage collector to follow.
type itemID uint32

// itemPool makes items, many at a time, and takes them back. The first pieces
// are small, so that a ledger with few items takes little memory.
type itemPool struct {
	pieces [][]item
	made   int // of the items of pieces
	room   int // in all pieces
	used   []itemID
}

const (
	// pieceSize is how many items just fit into what the allocator hands out
	// whole, 32 KiB.
	pieceSize = 240
	// smallestPiece is the size of the first piece. Each one doubles the one
	// before, until those that follow have pieceSize.
	smallestPiece = 8
	smallPieces   = 5
	smallItems    = smallestPiece<<smallPieces - smallestPiece
)

func (p *itemPool) at(id itemID) *item {
	if id < smallItems {
		piece := bits.Len32(uint32(id)/smallestPiece+1) - 1
		return &p.pieces[piece][id+smallestPiece-smallestPiece<<piece]
	}
	id -= smallItems
	return &p.pieces[smallPieces+id/pieceSize][id%pieceSize]
}

func (p *itemPool) take() (itemID, *item) {
	if last := len(p.used) - 1; last >= 0 {
		id := p.used[last]
		p.used = p.used[:last]
		return id, p.at(id)
	}
	if p.made == p.room {
		size := pieceSize
		if len(p.pieces) < smallPieces {
			size = smallestPiece << len(p.pieces)
		}
		p.pieces, p.room = append(p.pieces, make([]item, size)), p.room+size
	}
	id := itemID(p.made) //nolint:gosec // far fewer than 2^32 items fit into memory
	p.made++
	return id, p.at(id)
}

// give takes back an item that nothing points to any more.
func (p *itemPool) give(id itemID) {
	*p.at(id) = item{}
	p.used = append(p.used, id)
}
