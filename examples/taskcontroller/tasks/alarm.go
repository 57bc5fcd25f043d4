package tasks

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// alarm is a source of a controller: it enqueues keys when their time has come. A reconciler's RequeueAfter does the same on
// the system's clock, which is all that a controller needs whose days are not to pass in half a minute.
type alarm struct {
	clock clock.Clock

	mu    sync.Mutex
	ctx   context.Context //nolint:containedctx // it is the controller's life, which Start is told
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
	set   map[reconcile.Request]time.Time
}

func newAlarm(c clock.Clock) *alarm {
	return &alarm{clock: c, set: map[reconcile.Request]time.Time{}}
}

// Start implements source.Source.
func (a *alarm) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ctx, a.queue = ctx, queue
	return nil
}

// at has a key enqueued at a time; one that has passed is now.
func (a *alarm) at(key ctrl.Request, when time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil || a.set[key].Equal(when) {
		return
	}
	a.set[key] = when
	timer := a.clock.NewTimer(when.Sub(a.clock.Now()))
	go a.ring(a.ctx, timer, key, when)
}

func (a *alarm) ring(ctx context.Context, timer clock.Timer, key ctrl.Request, when time.Time) {
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.set[key].Equal(when) {
		delete(a.set, key)
	}
	a.queue.Add(key)
}
