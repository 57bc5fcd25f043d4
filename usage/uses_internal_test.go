package usage

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestUsesEqualAPlay: uses come and go in any order, with questions in between,
// and the windows are those of a play of all uses in the order of time.
func TestUsesEqualAPlay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.IntRange(0, rapid.SampledFrom([]int{20, 300}).Draw(t, "width"))
		draw := func(label string) instant { return instant{sec: int64(seconds.Draw(t, label)), nsec: 5} }
		var known time.Time
		if rapid.IntRange(0, 3).Draw(t, "known") == 0 {
			known = draw("known use").time()
		}
		u, all := newUses(7*time.Second, known), []instant(nil)
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1, 2:
				at := draw("use")
				u.change(at, 1)
				all = append(all, at)
			case 3:
				if len(all) > 0 {
					i := rapid.IntRange(0, len(all)-1).Draw(t, "gone")
					u.change(all[i], -1)
					all = slices.Delete(all, i, i+1)
				}
			default:
				at := draw("at")
				want, open := openAfter(all, known, u.length, at)
				if got, ok := u.openAt(at); ok != open || ok && got != want {
					t.Fatalf("at %v of %v: open %v since %v, want %v since %v", at, all, ok, got, open, want)
				}
			}
		}
	})
}

// openAfter plays uses and gives the window that is open at an instant.
func openAfter(uses []instant, known time.Time, length time.Duration, at instant) (opened instant, open bool) {
	uses = slices.Clone(uses)
	if !known.IsZero() {
		anchor := instantOf(known)
		uses = slices.DeleteFunc(uses, func(u instant) bool { return u.before(anchor) })
		uses = append(uses, anchor)
	}
	slices.SortFunc(uses, instant.compare)
	for _, use := range uses {
		if at.before(use) {
			break
		}
		if !open || !use.before(opened.add(length)) {
			opened, open = use, true
		}
	}
	return opened, open && at.before(opened.add(length))
}

// TestUsesAreNotReplayedFromTheBeginning: a task that ends, so that its record
// takes the place of its hold, moves no window but the last.
func TestUsesAreNotReplayedFromTheBeginning(t *testing.T) {
	u := newUses(time.Minute, time.Time{})
	const n = 100_000
	for i := range n {
		u.change(instant{sec: int64(i * 120)}, 1)
	}
	last := instant{sec: (n - 1) * 120}
	u.openAt(last)
	if allocs := testing.AllocsPerRun(100, func() {
		u.change(last, -1)
		u.change(last, 1)
		u.openAt(last)
	}); allocs > 2 {
		t.Errorf("%v allocations to move one use, want that of one window", allocs)
	}
}
