package controller

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget"
)

type waiterKey = types.UID

// waiter is a task that a gate has refused.
type waiter struct {
	task  budget.Task
	inbox *inbox
	since time.Time
	// seen is the fingerprint of the refusal that was found last, told the one
	// that the task's condition tells.
	seen, told string
	version    string // resourceVersion of the task that told was written to
	woken      bool   // it is on its way to its gate
	wokenAt    time.Time
}

// await notes that a task was refused. The shelf is locked, so that no change
// slips between the decision and the note.
func (s *shelf) await(task budget.Task, d *budget.Decision, from *inbox) *waiter {
	w, ok := s.waiting[task.UID]
	if !ok {
		w = &waiter{since: d.At}
		s.waiting[task.UID] = w
	}
	w.task, w.inbox, w.woken, w.seen = task, from, false, fingerprint(d)
	return w
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

// lostAfter is when a task that was woken and never asked again is forgotten:
// it is gone.
const lostAfter = 10 * time.Minute

// wake tells the gates of the tasks for which the answer has changed, those that
// have waited longest first. It gives the time at which it is to be asked again.
func (s *shelf) wake(now time.Time) (next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rise []*waiter
	answers := map[string]answer{}
	for uid, w := range s.waiting {
		if w.woken {
			if now.Sub(w.wokenAt) > lostAfter {
				delete(s.waiting, uid)
			}
			continue
		}
		a := s.ask(w, now, answers)
		if next.IsZero() || a.next.Before(next) {
			next = a.next
		}
		if a.fingerprint != w.seen {
			rise = append(rise, w)
		}
	}
	slices.SortFunc(rise, func(a, b *waiter) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.task.Name, b.task.Name))
	})
	for _, w := range rise {
		w.woken, w.wokenAt = true, now
		w.inbox.add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: s.namespace, Name: w.task.Name}})
	}
	return next
}

// answer is what a gate would say.
type answer struct {
	fingerprint string
	next        time.Time
}

// ask decides on a waiting task without any consequence. Tasks that no budget
// can tell apart are asked for once.
func (s *shelf) ask(w *waiter, now time.Time, answers map[string]answer) answer {
	task := w.task
	if held, ok := s.ledger.Held(task.UID); ok && held.Live(now) {
		return answer{next: now.Add(budget.MaxRequeue)} // it is admitted already
	}
	key := fmt.Sprint(task.Labels, task.Estimate)
	if a, ok := answers[key]; ok {
		return a
	}
	d := budget.Admit(budget.Input{Task: task, Rules: s.rules, Ledger: s.view(), Now: now})
	a := answer{fingerprint: fingerprint(&d), next: now.Add(d.RequeueAfter())}
	if d.Allowed {
		a.next = now.Add(budget.MaxRequeue)
	}
	answers[key] = a
	return a
}
