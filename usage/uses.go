package usage

import (
	"slices"
	"time"
)

// uses keeps the admissions that a period which opens at its first use has
// seen, and finds those that opened a window.
type uses struct {
	length time.Duration
	anchor instant   // uses before it open nothing
	all    []instant // sorted
	opened []instant // those that opened a window, unless stale
	stale  bool
}

// newUses begins with a use that is known from elsewhere, if there is one.
func newUses(length time.Duration, known time.Time) uses {
	u := uses{length: length, anchor: minInstant, stale: true}
	if !known.IsZero() {
		u.anchor = instantOf(known)
		u.all = []instant{u.anchor}
	}
	return u
}

// change enters a use, or takes it out where sign is -1.
func (u *uses) change(at instant, sign int64) {
	if at.before(u.anchor) {
		return
	}
	i, _ := slices.BinarySearchFunc(u.all, at, instant.compare)
	if sign > 0 {
		u.all = slices.Insert(u.all, i, at)
	} else {
		u.all = slices.Delete(u.all, i, i+1)
	}
	u.stale = u.stale || !u.inside(at)
}

// inside reports whether a use lies in a window that an earlier one opened: it
// opens none itself.
func (u *uses) inside(at instant) bool {
	i, _ := slices.BinarySearchFunc(u.opened, at, instant.compare)
	return i > 0 && at.before(u.opened[i-1].add(u.length))
}

// openAt gives the start of the window that is open at an instant, false if
// none is.
func (u *uses) openAt(at instant) (instant, bool) {
	if u.stale {
		u.replay()
	}
	i, exact := slices.BinarySearchFunc(u.opened, at, instant.compare)
	if exact {
		return at, true
	}
	if i == 0 || !at.before(u.opened[i-1].add(u.length)) {
		return instant{}, false
	}
	return u.opened[i-1], true
}

// after gives the first use after an instant and the last one, false if there
// is none.
func (u *uses) after(at instant) (next, last instant, ok bool) {
	i, _ := slices.BinarySearchFunc(u.all, after(at), instant.compare)
	if i == len(u.all) {
		return instant{}, instant{}, false
	}
	return u.all[i], u.all[len(u.all)-1], true
}

// replay finds the uses that opened a window: the first one, and then each
// first one after the end of the window before.
func (u *uses) replay() {
	u.opened, u.stale = u.opened[:0], false
	next := minInstant
	for {
		i, _ := slices.BinarySearchFunc(u.all, next, instant.compare)
		if i == len(u.all) {
			return
		}
		u.opened = append(u.opened, u.all[i])
		next = u.all[i].add(u.length)
	}
}
