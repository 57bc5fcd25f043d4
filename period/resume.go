package period

import "time"

// Resume gives the window for now, going on from prev, the window that was
// stored when somebody last asked; the zero Window if nothing is stored. It is
// the caller's part to store the [Period.Key] beside a window and to pass only a
// window of the same key.
//
// Zone data changes: by law, and by the age of the machine's tz package. Windows
// from new data need not fit those already in use. So, while prev holds now, it
// stays as it is. After it, the next window begins where prev ends; if that is
// no boundary any more, it lasts to the next boundary that is at least half of
// prev's length away. One window is longer or shorter for it, but none overlaps
// another or leaves a gap, and no allowance is granted anew for a stub of an
// hour. Before prev, it is At's window, cut off where prev starts.
//
// A FirstUse period keeps its state in prev.Start alone, the instant of the use
// that opened the window (store it with its nanoseconds, or cut them off, but
// never round it up). A now inside leaves the window as it is, a later one opens a
// new window at now, and an earlier one gives ErrNotOpen: what comes late never
// opens a window. Ask with the instants of admitted uses only, and with the zero
// Window for the first.
//
// Sliding and Lifetime have nothing to go on from and answer as At does. A prev
// that lacks a bound or ends before it starts gives ErrInvalidWindow; the other
// errors are those of At.
func (p *Period) Resume(prev Window, now time.Time) (Window, error) {
	if err := p.check(now); err != nil {
		return Window{}, err
	}
	switch p.kind {
	case Sliding, Lifetime:
		return p.At(now)
	case FirstUse:
		return p.firstUse(prev, now)
	default:
		return p.goOn(prev, now)
	}
}

// goOn is Resume for the kinds whose windows lie side by side.
func (p *Period) goOn(prev Window, now time.Time) (Window, error) {
	if prev.empty() {
		return p.At(now)
	}
	if prev.LookBack || prev.Start.IsZero() || !prev.Start.Before(prev.End) {
		return Window{}, fault("window", prev.String(), ErrInvalidWindow, "a stored window of a %s period has a start and a later end", p.kind)
	}
	prev = Window{Start: utc(prev.Start), End: utc(prev.End)}
	switch {
	case prev.Contains(now):
		return prev, nil
	case now.Before(prev.Start):
		return p.before(prev, now)
	}
	return p.after(prev, now)
}

// before answers for an instant that is older than what is stored.
func (p *Period) before(prev Window, now time.Time) (Window, error) {
	w, err := p.At(now)
	if err == nil && w.End.After(prev.Start) {
		w.End = prev.Start
	}
	return w, err
}

// after answers for an instant at or behind the end of what is stored.
func (p *Period) after(prev Window, now time.Time) (Window, error) {
	w, err := p.At(now)
	if err != nil {
		return Window{}, err
	}
	turn, err := p.At(prev.End)
	if err != nil {
		return Window{}, err
	}
	if turn.Start.Equal(prev.End) {
		return w, nil // still a boundary, so that no window reaches over it
	}
	probe, err := p.At(prev.End.Add(prev.End.Sub(prev.Start) / 2))
	if err != nil {
		return Window{}, err
	}
	if now.Before(probe.End) {
		return Window{Start: prev.End, End: probe.End}, nil
	}
	return w, nil // starts at probe.End or later
}

// firstUse answers for the use at now of a FirstUse period.
func (p *Period) firstUse(prev Window, now time.Time) (Window, error) {
	opened := utc(now)
	switch {
	case !prev.Start.IsZero() && !prev.LookBack:
		opened = utc(prev.Start)
	case !prev.empty():
		return Window{}, fault("window", prev.String(), ErrInvalidWindow, "a stored window of a FirstUse period has a start and does not look back")
	}
	if now.Before(opened) {
		return Window{}, fault("now", instantText(now), ErrNotOpen, "it lies before the window that opened at %s", instantText(opened))
	}
	if !now.Before(opened.Add(p.duration())) {
		opened = utc(now)
	}
	w := Window{Start: opened, End: opened.Add(p.duration())}
	if w.End.Unix() > lastBound {
		return Window{}, outOfRange(now)
	}
	return w, nil
}
