package period

import "time"

// Window is a stretch of time. Its bounds are in UTC and without a monotonic
// reading, so that two equal windows are also equal by ==.
//
// A zero bound means unbounded. (The one calendar window that starts at
// 0001-01-01T00:00:00Z cannot be told from that, and need not: no instant before
// it is accepted anywhere.)
type Window struct {
	// Start is the first instant; for a look-back the last instant before it.
	Start time.Time `json:"start,omitzero"`
	// End is the first instant after the window; for a look-back its last.
	End time.Time `json:"end,omitzero"`
	// LookBack turns [Start, End) into (Start, End]. Only Sliding sets it: what
	// happened exactly now counts, and stops counting exactly one Duration later.
	LookBack bool `json:"lookBack,omitempty"`
}

// Contains says whether t lies in w, sub-second parts included.
func (w Window) Contains(t time.Time) bool {
	if w.LookBack {
		return (w.Start.IsZero() || t.After(w.Start)) && (w.End.IsZero() || !t.After(w.End))
	}
	return (w.Start.IsZero() || !t.Before(w.Start)) && (w.End.IsZero() || t.Before(w.End))
}

// empty says whether w is the zero Window, in any Location.
func (w Window) empty() bool { return w.Start.IsZero() && w.End.IsZero() && !w.LookBack }

// String writes w as an interval of RFC 3339 instants, with the brackets that
// say which bound is part of it.
func (w Window) String() string {
	opening, closing := "[", ")"
	if w.LookBack {
		opening, closing = "(", "]"
	}
	start, end := "unbounded", "unbounded"
	if w.Start.IsZero() {
		opening = "("
	} else {
		start = w.Start.UTC().Format(time.RFC3339Nano)
	}
	if w.End.IsZero() {
		closing = ")"
	} else {
		end = w.End.UTC().Format(time.RFC3339Nano)
	}
	return opening + start + ", " + end + closing
}

// between is the window of two Unix seconds.
func between(start, end int64) Window {
	return Window{Start: time.Unix(start, 0).UTC(), End: time.Unix(end, 0).UTC()}
}

// utc strips what must not matter of an instant: its Location and its monotonic
// reading.
func utc(t time.Time) time.Time { return t.Round(0).UTC() }
