package controller

import (
	"k8s.io/apimachinery/pkg/types"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// mostAhead bounds how many claims are remembered while one before them is
// missed.
const mostAhead = 256

// reach notes that the holds of all claims up to one are known.
func (s *shelf) reach(p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p == (place{}) || s.caughtUp.reaches(p) {
		return
	}
	if s.caughtUp.series != p.series {
		clear(s.ahead)
	}
	s.caughtUp = p
	s.advance()
}

// delivered notes that the watch has delivered the hold of a claim. Watches may
// tell of holds in another order than that of their claims, so that one says
// nothing about those before it.
func (s *shelf) delivered(th *budgetv1alpha1.TaskHold) {
	p := placeOf(th)
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.series != s.caughtUp.series || s.caughtUp.reaches(p) || len(s.ahead) >= mostAhead {
		return
	}
	s.ahead[p.number] = struct{}{}
	s.advance()
}

// advance moves on as far as no claim is missed.
func (s *shelf) advance() {
	for number := range s.ahead {
		if number <= s.caughtUp.number {
			delete(s.ahead, number)
		}
	}
	for {
		next := s.caughtUp.number + 1
		if _, ok := s.ahead[next]; !ok {
			return
		}
		delete(s.ahead, next)
		s.caughtUp.number = next
	}
}

// follows reports whether the watch may bring the hold of a claim in due course,
// since earlier ones of its series are known.
func (s *shelf) follows(p place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p != place{} && s.caughtUp.series == p.series
}

// hasReached reports that the holds of all claims up to one are known.
func (s *shelf) hasReached(p place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caughtUp.reaches(p)
}

// isOvertaken reports that another claim has come after one for certain.
func (s *shelf) isOvertaken(p place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caughtUp.reaches(p) && s.caughtUp != p
}

// mayStore reports whether the hold of a claim may be created: once. One that
// was there and is gone needs a claim of its own.
func (s *shelf) mayStore(p place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p != place{} && !s.caughtUp.reaches(p)
}

// claim gives the hold of a task, which is to be stored, its place.
func (s *shelf) claim(uid types.UID, p place) (holding, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.holds[uid]
	if !ok || known.isStored() {
		return holding{}, false
	}
	known.place = p
	return *known, true
}

// isStored reports that a task has a hold that is known to be stored.
func (s *shelf) isStored(uid types.UID) bool {
	known, _, ok := s.held(uid)
	return ok && known.isStored()
}

func (h *holding) isStored() bool { return h.stored && !h.vanished }

// dropUnstored lets go of a hold that is not known to be stored, and reports
// whether there was one. What it has replaced is there again.
func (s *shelf) dropUnstored(uid types.UID) (h holding, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.holds[uid]
	if !ok || known.stored {
		return holding{}, false
	}
	s.release(uid)
	if before := known.before; before != nil && s.ledger.Renew(before.hold) == nil {
		s.holds[uid] = before
	}
	return *known, true
}
