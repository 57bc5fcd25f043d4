package usage

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// History answers queries from plain slices, by looking at every entry with
// [Sum]. It lets a unit test state what was used and is held as literals, and
// it is the naive twin that ledgers are measured against.
//
// It asks less of a literal than [Ledger] does, whose Add wants all that
// [Record.Validate] wants: Phase, for one, plays no part in a sum and may be left
// out. And it reports no conflict: of several records with one UID the first
// counts, so give each record of a test a UID of its own.
type History struct {
	Records []Record
	Holds   []Hold
}

// Used answers a query with [Sum].
func (h History) Used(q Query) (Balance, error) { return Sum(h.Records, h.Holds, q) }

// Turns says how time alone changes the balance that Used gives.
func (h History) Turns(q Query) (Turns, error) {
	if err := q.validate(); err != nil {
		return Turns{}, err
	}
	group := q.Scope.Group(q.Labels)
	records, holds := firstOnly(h.Records, h.Holds)
	mine := func(namespace string, set map[string]string) bool {
		return q.Scope.matches(namespace, labels.Set(set)) && q.Scope.Group(set) == group
	}
	found := changes{since: q.At}
	for _, hold := range holds {
		if mine(hold.Namespace, hold.Labels) {
			found.falls(hold.ExpiresAt)
		}
	}
	if q.Scope.opensAtFirstUse() {
		for _, use := range usesOf(records, holds, q, mine) {
			found.rises(use)
		}
	}
	if d, sliding := q.Scope.slide(); sliding {
		for _, done := range completionsOf(records, mine) {
			found.falls(done.Add(d))
			found.rises(done)
		}
	}
	return found.turns, nil
}

// changes gathers the instants at which a balance changes.
type changes struct {
	since time.Time
	turns Turns
}

func (c *changes) falls(at time.Time) {
	if at.After(c.since) {
		c.turns.note(at.UTC(), at.UTC())
	}
}

func (c *changes) rises(at time.Time) {
	c.falls(at)
	if at.After(c.since) && (c.turns.Rise.IsZero() || at.Before(c.turns.Rise)) {
		c.turns.Rise = at.UTC()
	}
}

// completionsOf are the completions of the records that count.
func completionsOf(records []Record, mine func(string, map[string]string) bool) []time.Time {
	var done []time.Time
	for _, r := range records {
		if mine(r.Namespace, r.Labels) {
			done = append(done, r.CompletionTime)
		}
	}
	return done
}
