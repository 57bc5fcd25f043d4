package usage

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/period"
)

// Sum answers a query by looking at every record and every hold. It is the
// definition that each [Ledger] must agree with, and slow: use it in tests, and
// where there are few records. Of several records or holds with one UID the
// first counts. One that could not be counted is an error: it lacks its UID,
// namespace, completion or expiry, or has a negative amount.
func Sum(records []Record, holds []Hold, q Query) (Balance, error) {
	if err := q.validate(); err != nil {
		return Balance{}, err
	}
	if err := countable(records, holds); err != nil {
		return Balance{}, err
	}
	group := q.Scope.Group(q.Labels)
	mine := func(namespace string, set map[string]string) bool {
		return q.Scope.matches(namespace, labels.Set(set)) && q.Scope.Group(set) == group
	}
	records, holds = firstOnly(records, holds)
	window, open, err := windowOf(records, holds, q, mine)
	if err != nil {
		return Balance{}, err
	}
	var total naiveSum
	if open {
		total.addRecords(records, q, window, mine)
	}
	total.addHolds(holds, q, mine)
	balance := total.balance(window)
	balance.Closed = !open
	return balance, nil
}

// countable reports the first record or hold that lacks what a sum needs. The
// rest of it may be missing: sums are also made of literals.
func countable(records []Record, holds []Hold) error {
	for i := range records {
		r := &records[i]
		if err := countableEntry(r.UID, r.Namespace, r.CompletionTime, "completionTime"); err != nil {
			return fmt.Errorf("records[%d]: %w", i, err)
		}
		for m, f := range r.Usage {
			if f.Amount < 0 {
				return fmt.Errorf("records[%d]: usage: %s %s: %w", i, m, m.Format(f.Amount), errNegative)
			}
		}
	}
	for i := range holds {
		h := &holds[i]
		if err := countableEntry(h.UID, h.Namespace, h.ExpiresAt, "expiresAt"); err != nil {
			return fmt.Errorf("holds[%d]: %w", i, err)
		}
		if err := h.Amounts.Validate(); err != nil {
			return fmt.Errorf("holds[%d]: amounts: %w", i, err)
		}
	}
	return nil
}

func countableEntry(uid types.UID, namespace string, at time.Time, field string) error {
	switch {
	case uid == "":
		return errors.New("uid: required")
	case namespace == "":
		return errors.New("namespace: required")
	case at.IsZero():
		return fmt.Errorf("%s: required", field)
	default:
		return nil
	}
}

// amount is what a hold sets aside on a meter in a scope with that default.
func (h Hold) amount(m Meter, standard Amounts) int64 {
	if amount, ok := h.Amounts[m]; ok {
		return amount
	}
	if amount, ok := standard[m]; ok {
		return amount
	}
	if amount, ok := m.implicit(); ok {
		return amount
	}
	return 0
}

// firstOnly keeps the first record of each UID, and the first hold of each UID
// that has no record.
func firstOnly(records []Record, holds []Hold) ([]Record, []Hold) {
	seen := map[types.UID]bool{}
	first := func(uid types.UID) bool {
		again := seen[uid]
		seen[uid] = true
		return !again
	}
	var keptRecords []Record
	for _, r := range records {
		if first(r.UID) {
			keptRecords = append(keptRecords, r)
		}
	}
	var keptHolds []Hold
	for _, h := range holds {
		if first(h.UID) {
			keptHolds = append(keptHolds, h)
		}
	}
	return keptRecords, keptHolds
}

// naiveSum adds figures up without any limit.
type naiveSum struct {
	known, charged, held big.Int
	unknown, uncharged   int64
}

func (s *naiveSum) addRecords(records []Record, q Query, window period.Window, mine func(string, map[string]string) bool) {
	for i, r := range records {
		if mine(r.Namespace, r.Labels) && window.Contains(r.CompletionTime) {
			s.addRecord(r, q, replaces(&records[i], records))
		}
	}
}

// replaces reports whether what a correction replaces is there: the record that
// it corrects, in the same budgets and windows and with these figures. Where it
// is not, because it was deleted, say, there is nothing to replace.
func replaces(correction *Record, records []Record) bool {
	if correction.Corrects == "" {
		return false
	}
	i := slices.IndexFunc(records, func(r Record) bool { return r.UID == correction.Corrects })
	if i < 0 {
		return false
	}
	original := &records[i]
	for m, f := range correction.Replaces {
		if original.Usage.Of(m) != f {
			return false
		}
	}
	return original.Namespace == correction.Namespace && maps.Equal(original.Labels, correction.Labels) &&
		original.CompletionTime.Equal(correction.CompletionTime)
}

func (s *naiveSum) addHolds(holds []Hold, q Query, mine func(string, map[string]string) bool) {
	for _, h := range holds {
		if h.UID != q.Except && h.Live(q.At) && mine(h.Namespace, h.Labels) {
			s.held.Add(&s.held, big.NewInt(h.amount(q.Meter, q.Scope.Default)))
		}
	}
}

func (s *naiveSum) addRecord(r Record, q Query, replaces bool) {
	if figure, counts := r.figure(q.Meter); counts {
		s.add(figure, q, 1)
	}
	if figure, ok := r.Replaces[q.Meter]; ok && replaces {
		s.add(figure, q, -1)
	}
}

func (s *naiveSum) add(f Figure, q Query, sign int64) {
	amount := big.NewInt(sign)
	standard, hasDefault := q.Scope.Default[q.Meter]
	switch {
	case f.Basis.Known():
		s.known.Add(&s.known, amount.Mul(amount, big.NewInt(f.Amount)))
		return
	case f.Basis == Held:
		s.charged.Add(&s.charged, amount.Mul(amount, big.NewInt(f.Amount)))
	case hasDefault:
		s.charged.Add(&s.charged, amount.Mul(amount, big.NewInt(standard)))
	default:
		s.uncharged += sign
	}
	s.unknown += sign
}

func (s *naiveSum) balance(window period.Window) Balance {
	return Balance{
		Window:    window,
		Known:     clamp(&s.known),
		Charged:   clamp(&s.charged),
		Held:      clamp(&s.held),
		Unknown:   max(0, s.unknown),
		Uncharged: max(0, s.uncharged),
	}
}

func clamp(n *big.Int) int64 {
	switch {
	case n.Sign() < 0:
		return 0
	case !n.IsInt64():
		return math.MaxInt64
	default:
		return n.Int64()
	}
}

// windowOf is the window that a query asks about, and whether it is open.
func windowOf(records []Record, holds []Hold, q Query, mine func(string, map[string]string) bool) (period.Window, bool, error) {
	if !q.Scope.opensAtFirstUse() {
		window, err := q.Scope.Period.At(q.At)
		return window, true, err
	}
	return openWindow(q.Scope.Period, usesOf(records, holds, q, mine), q.At)
}

// usesOf lists the admissions that can have opened a window, in the order of
// time.
func usesOf(records []Record, holds []Hold, q Query, mine func(string, map[string]string) bool) []time.Time {
	uses := []time.Time{}
	for _, r := range records {
		if r.Corrects == "" && mine(r.Namespace, r.Labels) {
			uses = append(uses, openedAt(&r))
		}
	}
	for _, h := range holds {
		if mine(h.Namespace, h.Labels) && !h.AdmittedAt.IsZero() {
			uses = append(uses, h.AdmittedAt)
		}
	}
	if !q.Scope.Opened.IsZero() {
		uses = slices.DeleteFunc(uses, func(t time.Time) bool { return t.Before(q.Scope.Opened) })
		uses = append(uses, q.Scope.Opened)
	}
	slices.SortFunc(uses, time.Time.Compare)
	return uses
}

// openWindow plays the uses of a period that opens at its first use and gives
// the window that is open at an instant, or else the one that a use at that
// instant would open.
func openWindow(p *period.Period, uses []time.Time, at time.Time) (period.Window, bool, error) {
	var last period.Window
	for _, use := range uses {
		if use.After(at) {
			break
		}
		next, err := p.Resume(last, use)
		if err != nil {
			return period.Window{}, false, err
		}
		last = next
	}
	window, err := p.Resume(last, at)
	return window, !last.Start.IsZero() && window.Start.Equal(last.Start), err
}
