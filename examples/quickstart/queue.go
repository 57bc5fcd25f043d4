package main

import (
	"cmp"
	"container/heap"
	"time"
)

// An event is something that happens to a task at an instant.
type event struct {
	at   time.Time
	kind eventKind
	task *task
}

type eventKind int

// What completes at an instant makes room for what asks at it.
const (
	completes eventKind = iota
	asks
)

func (e event) compare(other event) int {
	return cmp.Or(
		e.at.Compare(other.at),
		cmp.Compare(e.kind, other.kind),
		byArrival(e.task.finishedRun, other.task.finishedRun),
	)
}

// A queue gives events in one order, whatever the order in which they came: by
// time, completions first, then by the arrival of their tasks.
type queue struct{ events events }

func (q *queue) push(e event) { heap.Push(&q.events, e) }

func (q *queue) pop() (event, bool) {
	if len(q.events) == 0 {
		return event{}, false
	}
	e, ok := heap.Pop(&q.events).(event)
	return e, ok
}

// events implements heap.Interface.
type events []event

func (e *events) Len() int           { return len(*e) }
func (e *events) Less(i, j int) bool { return (*e)[i].compare((*e)[j]) < 0 }
func (e *events) Swap(i, j int)      { (*e)[i], (*e)[j] = (*e)[j], (*e)[i] }

func (e *events) Push(x any) {
	if added, ok := x.(event); ok {
		*e = append(*e, added)
	}
}

func (e *events) Pop() any {
	last := len(*e) - 1
	popped := (*e)[last]
	*e = (*e)[:last]
	return popped
}
