package usage

import "slices"

// read puts the figures of a record into scratch, false if it is not valid.
func (b *book) read(r *Record) bool {
	b.scratch = b.scratch[:0]
	if len(r.Replaces) > 0 || r.Corrects != "" {
		if validateCorrection(r) != nil {
			return false
		}
		b.figures(r.Replaces, -1)
	}
	return b.figures(r.Usage, 1) && headFaults(r) == nil
}

// figures appends figures of a record to scratch, false if one is not valid.
func (b *book) figures(from Figures, sign int8) bool {
	for m, f := range from {
		id, known := b.meters.find(m)
		code := f.Basis.code()
		if !known || code == 0 || f.Amount < 0 || code == codeUnknown {
			if f.validate(m) != nil {
				return false
			}
			id = b.meters.number(m)
		}
		b.scratch = append(b.scratch, itemFigure{amount: f.Amount, meter: id, code: code, sign: sign})
	}
	return true
}

// newRecord makes the item of a valid record whose figures are in scratch. A
// task that counts as one does so without a figure.
func (b *book) newRecord(r *Record, digest uint64) (itemID, *item) {
	id, it := b.items.take()
	it.uid, it.digest = r.UID, digest
	it.setAt(instantOf(r.CompletionTime))
	if r.Corrects != "" {
		it.kind, it.lone = kindCorrection, true // until it has its pair
		it.keep(b.scratch)
		return id, it
	}
	it.setOpened(instantOf(openedAt(r)))
	tasks := itemFigure{amount: 1, meter: b.tasks, code: codeReported, sign: 1}
	it.keep(slices.DeleteFunc(b.scratch, func(f itemFigure) bool { return f == tasks }))
	return id, it
}
