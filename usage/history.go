package usage

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// History answers queries from plain slices, by looking at every entry with
// [Sum]. It lets a unit test state what was used and is held as literals, and
// it is the naive twin that ledgers are measured against.
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
	turns := Turns{Falling: true}
	note := func(namespace string, set map[string]string, at time.Time) bool {
		counts := q.Scope.matches(namespace, labels.Set(set)) && q.Scope.Group(set) == group && at.After(q.At)
		if counts {
			turns.note(at.UTC(), at.UTC())
		}
		return counts
	}
	for _, hold := range holds {
		note(hold.Namespace, hold.Labels, hold.ExpiresAt)
	}
	if d, sliding := q.Scope.slide(); sliding {
		for _, r := range records {
			note(r.Namespace, r.Labels, r.CompletionTime.Add(d))
			if note(r.Namespace, r.Labels, r.CompletionTime) {
				turns.Falling = false
			}
		}
	}
	return turns, nil
}
