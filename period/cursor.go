package period

import (
	"sync/atomic"
	"time"
)

// Cursor answers like Period.At and remembers the latest window it has computed,
// so that asking about the present costs two comparisons until the window turns.
// It is safe for concurrent use and must not be copied. A nil Cursor, the zero
// Cursor and one of a nil Period answer with ErrNotCompiled.
//
// Late instants do not evict the window in use: only a newer one replaces it. An
// instant in the future does, and makes the present slow until it gets there; plan
// with Period.At.
type Cursor struct {
	period *Period
	last   atomic.Pointer[span]
}

// span is a window and its bounds in Unix seconds.
type span struct {
	start, end int64
	window     Window
}

// NewCursor gives a Cursor of p.
func NewCursor(p *Period) *Cursor { return &Cursor{period: p} }

// Period gives the period that the Cursor is of; nil for a nil Cursor.
func (c *Cursor) Period() *Period {
	if c == nil {
		return nil
	}
	return c.period
}

// At answers exactly as Period.At does.
func (c *Cursor) At(now time.Time) (Window, error) {
	if s := c.hit(now.Unix()); s != nil {
		return s.window, nil
	}
	return c.miss(now)
}

// hit gives the span remembered, if it holds the Unix second.
func (c *Cursor) hit(u int64) *span {
	if c == nil {
		return nil
	}
	if s := c.last.Load(); s != nil && s.start <= u && u < s.end {
		return s
	}
	return nil
}

func (c *Cursor) miss(now time.Time) (Window, error) {
	w, err := c.Period().At(now)
	if err == nil {
		c.keep(w)
	}
	return w, err
}

// keep remembers w if it can be told by whole seconds whether it holds an
// instant, and is newer. The first second of all is left out because it holds the
// zero time, and the last year because what follows is out of range.
func (c *Cursor) keep(w Window) {
	if !c.period.sideBySide() {
		return
	}
	start, end := w.Start.Unix(), w.End.Unix()
	if start <= firstSecond || end > lastSecond {
		return
	}
	var newer *span
	for {
		last := c.last.Load()
		if last != nil && last.start >= start {
			return
		}
		if newer == nil {
			newer = &span{start: start, end: end, window: w}
		}
		if c.last.CompareAndSwap(last, newer) {
			return
		}
	}
}
