package controller

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// timetable says when keys are due, on a clock that tests can set. A key has
// one time, the earliest that was asked for since it was due last.
type timetable struct {
	clock clock.Clock
	due   func(reconcile.Request)

	mu    sync.Mutex
	times map[reconcile.Request]time.Time
	queue dueQueue      // may have entries that times has moved on from
	kick  chan struct{} // the first entry may have changed
}

// longestNap bounds how late a key is after the clock was set.
const longestNap = time.Minute

func newTimetable(c clock.Clock, due func(reconcile.Request)) *timetable {
	return &timetable{clock: c, due: due, times: map[reconcile.Request]time.Time{}, kick: make(chan struct{}, 1)}
}

// at makes a key due at a time, unless it is due earlier; the zero time is
// never.
func (t *timetable) at(key reconcile.Request, when time.Time) {
	if when.IsZero() {
		return
	}
	t.mu.Lock()
	known, ok := t.times[key]
	if ok && !when.Before(known) {
		t.mu.Unlock()
		return
	}
	t.times[key] = when
	heap.Push(&t.queue, dueAt{when, key})
	t.mu.Unlock()
	select {
	case t.kick <- struct{}{}:
	default:
	}
}

// Start implements manager.Runnable. It returns when ctx is done.
func (t *timetable) Start(ctx context.Context) error {
	for {
		timer := t.clock.NewTimer(t.ring())
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-t.kick:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: time passes on
// every replica.
func (t *timetable) NeedLeaderElection() bool { return false }

// ring tells of the keys that are due, and gives the time until the next one.
func (t *timetable) ring() time.Duration {
	now := t.clock.Now()
	var rung []reconcile.Request
	nap := longestNap
	t.mu.Lock()
	for len(t.queue) > 0 {
		first := t.queue[0]
		current, ok := t.times[first.key]
		if ok && current.Equal(first.when) && first.when.After(now) {
			nap = min(nap, first.when.Sub(now))
			break
		}
		heap.Pop(&t.queue)
		if ok && current.Equal(first.when) {
			delete(t.times, first.key)
			rung = append(rung, first.key)
		}
	}
	t.mu.Unlock()
	for _, key := range rung {
		t.due(key)
	}
	return nap
}

type dueAt struct {
	when time.Time
	key  reconcile.Request
}

// dueQueue is a heap of keys by time.
type dueQueue []dueAt

func (q dueQueue) Len() int           { return len(q) }
func (q dueQueue) Less(i, j int) bool { return q[i].when.Before(q[j].when) }
func (q dueQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *dueQueue) Push(x any) {
	if entry, ok := x.(dueAt); ok {
		*q = append(*q, entry)
	}
}

// Pop implements heap.Interface.
func (q *dueQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
