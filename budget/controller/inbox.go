package controller

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// inbox is a source of a controller whose keys come from this process. Keys
// that come before the controller runs, because its replica does not lead, say,
// wait for it.
type inbox struct {
	mu    sync.Mutex
	queue queue
	early map[reconcile.Request]struct{}
}

func newInbox() *inbox { return &inbox{early: map[reconcile.Request]struct{}{}} }

// Start implements source.Source.
func (i *inbox) Start(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.queue = q
	for key := range i.early {
		q.Add(key)
	}
	i.early = nil
	return nil
}

func (i *inbox) add(key reconcile.Request) { i.addAfter(key, 0) }

// addAfter adds a key after a time of the system's clock: it spares the API
// server a burst, and has nothing to do with when a window ends.
func (i *inbox) addAfter(key reconcile.Request, d time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.queue == nil {
		i.early[key] = struct{}{}
		return
	}
	i.queue.AddAfter(key, d)
}
