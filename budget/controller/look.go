package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget"
)

const (
	// lostAfter is when a task that was woken and never asked again is
	// forgotten: it is gone.
	lostAfter = 10 * time.Minute
	// heldPause is when a task asks again that is admitted already, and that
	// policies could not be asked about.
	heldPause = 30 * time.Second
	// longestLook bounds one look, on the system's clock: policies may be slow.
	longestLook = time.Second
)

// look asks what the answer to each task of a shelf that waits is by now, without
// any consequence. Tasks that no budget can tell apart are asked for once, as long
// as policies play no part.
type look struct {
	by      *budget.Reviewer
	shelf   *shelf
	now     time.Time
	answers map[string]answer
	next    time.Time // when to look again
	rise    []waiter  // those for which the answer has changed
}

// answer is what a gate would say.
type answer struct {
	fingerprint string
	next        time.Time
}

// wake tells the gates of the tasks for which the answer has changed, those that
// have waited longest first. It gives the time at which it is to be asked again,
// and reports whether there was time for all.
func (s *shelf) wake(ctx context.Context, by *budget.Reviewer, now time.Time) (next time.Time, all bool) {
	l := &look{by: by, shelf: s, now: now, answers: map[string]answer{}}
	system := clock.RealClock{}
	begin := system.Now()
	all = true
	for _, w := range s.sleepers(now) {
		if all = ctx.Err() == nil && system.Since(begin) < longestLook; !all {
			break
		}
		l.at(ctx, &w)
	}
	l.wake()
	return l.next, all
}

// sleepers are the tasks that wait and are not on their way to their gate: those
// first that were not looked at for longest.
func (s *shelf) sleepers(now time.Time) []waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	list := make([]waiter, 0, len(s.waiting))
	for uid, w := range s.waiting {
		switch {
		case !w.woken:
			list = append(list, *w)
		case now.Sub(w.wokenAt) > lostAfter:
			delete(s.waiting, uid)
		}
	}
	slices.SortFunc(list, func(a, b waiter) int {
		return cmp.Or(cmp.Compare(a.looked, b.looked), a.since.Compare(b.since), cmp.Compare(a.task.Name, b.task.Name))
	})
	return list
}

// at looks at one task.
func (l *look) at(ctx context.Context, w *waiter) {
	a := l.ask(ctx, w)
	l.next = earliest(l.next, a.next)
	if a.fingerprint != w.seen {
		l.rise = append(l.rise, *w)
	}
	l.shelf.mu.Lock()
	defer l.shelf.mu.Unlock()
	if known, ok := l.shelf.waiting[w.task.UID]; ok {
		known.looked = l.shelf.looks
	}
}

func (l *look) ask(ctx context.Context, w *waiter) answer {
	if known, _, ok := l.shelf.held(w.task.UID); ok && known.hold.Live(l.now) {
		return l.admitted(w)
	}
	key := fmt.Sprint(w.task.Labels, w.task.Estimate)
	if a, ok := l.answers[key]; ok {
		return a
	}
	d := l.by.Admit(ctx, budget.Input{Task: w.task, Ledger: glance{l.shelf}, Now: l.now}, w.about)
	a := answer{fingerprint: fingerprint(&d), next: l.now.Add(d.RequeueAfter())}
	switch {
	case d.Policy == nil:
		l.answers[key] = a
	case len(d.Policy.Errors) > 0 && w.policed:
		a.fingerprint = w.seen // to wake it would change nothing
	}
	if d.Allowed {
		a.next = l.now.Add(budget.MaxRequeue)
	}
	return a
}

// admitted is the answer to a task that has a hold.
func (l *look) admitted(w *waiter) answer {
	if again := w.at.Add(heldPause); w.policed && l.now.Before(again) {
		return answer{fingerprint: w.seen, next: again}
	}
	return answer{next: l.now.Add(budget.MaxRequeue)}
}

// wake wakes those for which the answer has changed, unless they have been asked
// for since.
func (l *look) wake() {
	slices.SortFunc(l.rise, func(a, b waiter) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.task.Name, b.task.Name))
	})
	l.shelf.mu.Lock()
	defer l.shelf.mu.Unlock()
	for i := range l.rise {
		w := l.shelf.waiting[l.rise[i].task.UID]
		if w == nil || w.woken || w.seen != l.rise[i].seen {
			continue
		}
		w.woken, w.wokenAt = true, l.now
		w.inbox.add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: l.shelf.namespace, Name: w.task.Name}})
	}
}
