// Package fastclock tells a time that runs faster than the system's, so that a day of tasks passes while somebody watches.
// It is what a clock that is injected everywhere is good for.
package fastclock

import (
	"time"

	"k8s.io/utils/clock"
)

// Clock is a [clock.Clock] that begins at an instant and runs at a multiple of the system's speed. It is safe for concurrent
// use. Build it with [New].
type Clock struct {
	begin, start time.Time // the same instant on this clock and on the system's
	speed        int64
}

var _ clock.Clock = (*Clock)(nil)

// New makes a clock that shows begin now and runs speed times as fast as the system's, at least once.
func New(begin time.Time, speed int) *Clock {
	return &Clock{begin: begin, start: time.Now(), speed: int64(max(speed, 1))}
}

// Now implements clock.PassiveClock.
func (c *Clock) Now() time.Time {
	return c.begin.Add(time.Duration(int64(time.Since(c.start)) * c.speed))
}

// Since implements clock.PassiveClock.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// After implements clock.Clock.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C() }

// Sleep implements clock.Clock.
func (c *Clock) Sleep(d time.Duration) { time.Sleep(c.shorten(d)) }

// Tick implements clock.Clock. The instants that it sends are the system's.
func (c *Clock) Tick(d time.Duration) <-chan time.Time { return time.Tick(c.shorten(d)) }

// NewTimer implements clock.Clock. The instant that it sends is the system's.
func (c *Clock) NewTimer(d time.Duration) clock.Timer {
	return &timer{inner: clock.RealClock{}.NewTimer(c.shorten(d)), clock: c}
}

// shorten gives the time that a duration takes on the system's clock. What takes time takes a nanosecond at least.
func (c *Clock) shorten(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(max(int64(d)/c.speed, 1))
}

// timer counts in the time of its clock.
type timer struct {
	inner clock.Timer
	clock *Clock
}

// C implements clock.Timer.
func (t *timer) C() <-chan time.Time { return t.inner.C() }

// Stop implements clock.Timer.
func (t *timer) Stop() bool { return t.inner.Stop() }

// Reset implements clock.Timer.
func (t *timer) Reset(d time.Duration) bool { return t.inner.Reset(t.clock.shorten(d)) }
