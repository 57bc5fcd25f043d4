// Package period says when an accounting window starts and when it ends.
//
// A [Spec] is what a person writes in a manifest. [Compile] checks all of it
// once and gives a [Period], which is immutable, safe for concurrent use and
// answers by plain arithmetic:
//
//	p, err := period.Compile(period.Spec{Type: period.Daily, Timezone: "America/Havana"})
//	w, err := p.At(now)      // the window that holds now, [w.Start, w.End)
//	next, err := p.Next(now) // when it gives way to the next one
//	c := period.NewCursor(p) // the same answers, from a cache, for hot paths
//	w, err = p.Resume(stored, now) // goes on from a window that was stored
//
// # Laws
//
// Windows are half-open, [start, end), on the UTC line; an instant that equals
// a boundary belongs to the later window. Only a look-back ([Sliding]) is the
// other way round, (start, end].
//
// A calendar boundary is the first instant at which the zone's wall clock shows
// the label ("00:00 on the 8th") or a later time, and the current window is the
// last one that has begun. Hence, in every zone:
//
//   - the window of an instant holds that instant;
//   - windows tile the line: one ends where the next starts;
//   - a label that a clock change skips moves to the first instant after it;
//   - a label that is shown twice counts when it is shown first, and a window
//     that began never un-begins;
//   - a window whose whole date is skipped would be empty and is never returned.
//
// An hour ([Hourly]) turns whenever the clock shows hh:00:00, or when a jump
// forward raises the hour. Hence the repeated hour of an autumn night is an hour
// of its own.
//
// Months and years count from their anchor and clamp to the length of the month
// (January 31, February 28, March 31), never from the result before.
//
// Nothing here reads a clock. Instants are arguments, in any Location and with
// or without a monotonic reading; both are ignored. Only [Compile] loads zone
// data, by name, and the tz database is linked into the program as a fallback
// for systems that have none.
//
// # What it does not do
//
// It does not parse cron, floor first uses to the hour, or guess: an unknown zone
// is an error and never UTC. It stores nothing; a window that a controller wrote
// into a status goes back in through [Period.Resume].
//
// # Tests
//
// The brute-force tests look at a representative subset of zones. The
// environment variable BURSAR_LONG=1 makes them look at every zone and at
// every clock change of 1970 to 2037.
package period
