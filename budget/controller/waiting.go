package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
)

type waiterKey = types.UID

// waiter is a task that a gate has refused.
type waiter struct {
	task  budget.Task
	about budget.Subject
	inbox *inbox
	since time.Time // when it was refused first
	at    time.Time // and last
	// policed says that policies refused it, where the budgets had room.
	policed bool
	// seen is the fingerprint of the refusal that was found last, told the one
	// that the task's condition tells.
	seen, told string
	version    string // resourceVersion of the task that told was written to
	woken      bool   // it is on its way to its gate
	wokenAt    time.Time
	looked     uint64 // the last of the shelf's looks in which it was asked for
}

// await notes that a task was refused, and gives the shelf's moves so far.
func (s *shelf) await(r *request, d *budget.Decision, from *inbox) (moves uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.waiting[r.task.UID]
	if !ok {
		s.enter()
		w = &waiter{since: d.At}
		s.waiting[r.task.UID] = w
	}
	w.task, w.about, w.inbox, w.woken, w.seen = r.task, r.about, from, false, fingerprint(d)
	w.at, w.policed = d.At, d.PolicyRefuses()
	return s.moves
}

// stopWaiting forgets a task that waits no longer.
func (s *shelf) stopWaiting(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, uid)
}

// toldOf gives what a waiting task's condition tells, and since which version
// of the task.
func (s *shelf) toldOf(uid types.UID) (told, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, ok := s.waiting[uid]; ok {
		return w.told, w.version
	}
	return "", ""
}

func (s *shelf) tell(uid types.UID, told, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, ok := s.waiting[uid]; ok {
		w.told, w.version = told, version
	}
}
