package usage

import (
	"k8s.io/apimachinery/pkg/types"
)

// pairWith looks after the correction of a record that has come or gone.
func (b *book) pairWith(uid types.UID) {
	if len(b.corrects) == 0 { // as nearly always
		return
	}
	if id, ok := b.corrects[uid]; ok {
		b.pair(id, uid)
	}
}

// pair makes a correction replace the figures of the record that it corrects
// where that one is there and has them, and nothing where it is not.
func (b *book) pair(id itemID, corrected types.UID) {
	it, lone := b.items.at(id), true
	if original, ok := b.records.find(b.hash(corrected), corrected); ok {
		lone = !b.replaces(it, b.items.at(original))
	}
	if lone == it.lone {
		return
	}
	for _, c := range it.set.class.counters {
		c.add(it, -1)
	}
	it.lone = lone
	for _, c := range it.set.class.counters {
		c.add(it, 1)
	}
}

// replaces reports whether what a correction replaces is what a record says: it
// counts in the same budgets and windows, with the same figures.
func (b *book) replaces(correction, original *item) bool {
	if correction.set != original.set || correction.at() != original.at() {
		return false
	}
	for _, f := range correction.figures() {
		if f.sign < 0 && b.said(original, f.meter) != (itemFigure{amount: f.amount, meter: f.meter, code: f.code, sign: 1}) {
			return false
		}
	}
	return true
}

// said is what a record says of a meter, as [Figures.Of] has it.
func (b *book) said(it *item, meter meterID) itemFigure {
	for _, f := range it.figures() {
		if f.meter == meter && f.sign > 0 {
			return f
		}
	}
	if meter == b.tasks {
		return itemFigure{amount: 1, meter: meter, code: codeReported, sign: 1}
	}
	return itemFigure{meter: meter, code: codeUnknown, sign: 1}
}
