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
	all    []instant // all[:sorted] is sorted
	sorted int
	opened []instant // those that opened a window, sorted, but for changed
	// changed are the first and the last use that came or went and are not
	// accounted for in opened; the windows that began before the first are right.
	changed struct {
		first, last instant
		any         bool
	}
}

// newUses begins with a use that is known from elsewhere, if there is one.
func newUses(length time.Duration, known time.Time) uses {
	u := uses{length: length, anchor: minInstant}
	if !known.IsZero() {
		u.anchor = instantOf(known)
		u.insert(u.anchor)
	}
	return u
}

// change enters a use, or takes it out where sign is -1.
func (u *uses) change(at instant, sign int64) {
	if at.before(u.anchor) {
		return
	}
	if sign > 0 {
		u.insert(at)
	} else {
		u.remove(at)
	}
}

func (u *uses) insert(at instant) {
	n := len(u.all)
	u.all = append(u.all, at)
	if u.sorted == n && (n == 0 || !at.before(u.all[n-1])) {
		u.sorted++
	}
	switch {
	case u.idle(at):
	case u.behind(at):
		u.opened = append(u.opened, at)
	default:
		u.note(at)
	}
}

func (u *uses) remove(at instant) {
	u.sort()
	i, _ := slices.BinarySearchFunc(u.all, at, instant.compare)
	u.all = slices.Delete(u.all, i, i+1)
	u.sorted--
	if !u.idle(at) {
		u.note(at)
	}
}

// note remembers that a use came or went which moves windows.
func (u *uses) note(at instant) {
	c := &u.changed
	if !c.any || at.before(c.first) {
		c.first = at
	}
	if !c.any || c.last.before(at) {
		c.last = at
	}
	c.any = true
}

// sort merges what came late into all the others.
func (u *uses) sort() {
	late := slices.Clone(u.all[u.sorted:])
	slices.SortFunc(late, instant.compare)
	i := u.sorted
	for to := len(u.all); len(late) > 0; {
		to--
		last := late[len(late)-1]
		if i > 0 && last.before(u.all[i-1]) {
			i--
			u.all[to] = u.all[i]
			continue
		}
		u.all[to] = last
		late = late[:len(late)-1]
	}
	u.sorted = len(u.all)
}

// idle reports that a use opens no window: it lies in one that an earlier use
// opened.
func (u *uses) idle(at instant) bool {
	i, _ := slices.BinarySearchFunc(u.opened, at, instant.compare)
	return i > 0 && at.before(u.opened[i-1].add(u.length))
}

// behind reports that a use lies after the last window.
func (u *uses) behind(at instant) bool {
	n := len(u.opened)
	return n == 0 || !at.before(u.opened[n-1].add(u.length))
}

// openAt gives the start of the window that is open at an instant, false if
// none is.
func (u *uses) openAt(at instant) (instant, bool) {
	if u.changed.any {
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
	u.sort()
	i, _ := slices.BinarySearchFunc(u.all, after(at), instant.compare)
	if i == len(u.all) {
		return instant{}, instant{}, false
	}
	return u.all[i], u.all[len(u.all)-1], true
}

// replay finds the uses that opened a window: the first one, and then each
// first one after the end of the window before. It begins at the first use that
// changed and ends where it meets a window from before, behind the last one:
// from there on all is as it was.
func (u *uses) replay() {
	u.sort()
	from, _ := slices.BinarySearchFunc(u.opened, u.changed.first, instant.compare)
	next := minInstant
	if from > 0 {
		next = u.opened[from-1].add(u.length)
	}
	var found []instant
	until := len(u.opened)
	for {
		i, _ := slices.BinarySearchFunc(u.all, next, instant.compare)
		if i == len(u.all) {
			break
		}
		use := u.all[i]
		if at, met := slices.BinarySearchFunc(u.opened[from:], use, instant.compare); met && !use.before(u.changed.last) {
			until = from + at
			break
		}
		found = append(found, use)
		next = use.add(u.length)
	}
	u.opened = slices.Replace(u.opened, from, until, found...)
	u.changed.any = false
}
