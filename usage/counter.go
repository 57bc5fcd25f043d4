package usage

import (
	"slices"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/bursar-dev/bursar/period"
)

// account is what a ledger keeps for a scope: a counter for each group.
type account struct {
	scope    *Scope
	cursor   *period.Cursor
	meters   []meterID // of scope.Meters
	standard []standIn // of scope.Meters
	implicit []standIn // of scope.Meters
	length   time.Duration
	lined    bool // sums over any stretch of time, not over fixed windows
	firstUse bool // windows open at their first use
	groups   map[string]*counter
	empty    *counter // answers for groups that have none
}

// counter keeps the sums of one group of a scope.
type counter struct {
	account *account
	group   string
	classes int       // that have this counter
	buckets []*bucket // of a period with fixed windows, in the order of time
	recent  *bucket   // the one that was charged last, if it is still there
	records timeline  // of a period without
	holds   timeline  // by expiry
	uses    uses      // of a period that opens at its first use
}

// bucket is the total of one window.
type bucket struct {
	start, end instant
	window     period.Window
	items      int
	total      []cell
}

func newAccount(s *Scope) *account {
	a := &account{scope: s, cursor: period.NewCursor(s.Period), groups: map[string]*counter{}}
	for _, meter := range s.Meters {
		amount, ok := s.Default[meter]
		one, implicit := meter.implicit()
		a.standard = append(a.standard, standIn{amount, ok})
		a.implicit = append(a.implicit, standIn{one, implicit})
	}
	a.firstUse = s.Period.Kind() == period.FirstUse
	a.lined = a.firstUse || s.Period.Kind() == period.Sliding
	a.length, _ = s.Period.Longest()
	a.empty = a.newCounter("")
	return a
}

// counter gives the counter of the group that labels fall into, made new if it
// has none.
func (a *account) counter(set labels.Labels) *counter {
	if c := a.find(set); c != a.empty {
		return c
	}
	c := a.newCounter(string(a.scope.appendGroup(nil, set)))
	a.groups[c.group] = c
	return c
}

func (a *account) newCounter(group string) *counter {
	c := &counter{account: a, group: group}
	c.records.account, c.holds.account = a, a
	if a.firstUse {
		c.uses = newUses(a.length, a.scope.Opened)
	}
	return c
}

// find gives the counter of the group that labels fall into, an empty one if it
// has none.
func (a *account) find(set labels.Labels) *counter {
	var buffer [256]byte
	if c, ok := a.groups[string(a.scope.appendGroup(buffer[:0], set))]; ok {
		return c
	}
	return a.empty
}

// charge adds an item to a total, or takes it away where sign is -1.
func (a *account) charge(total []cell, it *item, sign int64) {
	for meter := range a.meters {
		a.chargeMeter(&total[meter], it, meter, sign)
	}
}

func (a *account) chargeMeter(sum *cell, it *item, meter int, sign int64) {
	id, named := a.meters[meter], false
	for _, f := range it.figures() {
		if f.meter == id && (f.sign > 0 || !it.lone) {
			named = true
			sum.charge(f.code, f.amount, a.standard[meter], sign*int64(f.sign))
		}
	}
	if named || it.kind == kindCorrection {
		return
	}
	implicit := a.implicit[meter]
	switch {
	case it.kind == kindHold && a.standard[meter].ok:
		sum.known.add(a.standard[meter].amount, sign)
	case implicit.ok:
		sum.known.add(implicit.amount, sign)
	case it.kind == kindRecord:
		sum.charge(codeUnknown, 0, a.standard[meter], sign)
	}
}

// add enters an item, or takes it out where sign is -1.
func (c *counter) add(it *item, sign int64) {
	if c.account.firstUse && it.use {
		c.uses.change(it.opened(), sign)
	}
	switch {
	case it.kind == kindHold:
		c.holds.change(it, sign)
	case c.account.lined:
		c.records.change(it, sign)
	default:
		c.addToBucket(it, sign)
	}
}

func (c *counter) addToBucket(it *item, sign int64) {
	at := it.at()
	b := c.recent
	if b == nil || !b.has(at) {
		if b = c.openBucket(at); b == nil {
			return // outside the period's life
		}
		c.recent = b
	}
	c.account.charge(b.total, it, sign)
	if b.items += int(sign); b.items == 0 {
		c.recent = nil
		i := c.search(at)
		c.buckets = slices.Delete(c.buckets, i, i+1)
	}
}

// has reports whether an instant lies in the window of b.
func (b *bucket) has(at instant) bool { return !at.before(b.start) && at.before(b.end) }

// openBucket gives the bucket of an instant, made new if there is none; nil
// outside the period's life.
func (c *counter) openBucket(at instant) *bucket {
	if b := c.bucketAt(at); b != nil {
		return b
	}
	window, err := c.account.cursor.At(at.time())
	if err != nil {
		return nil
	}
	b := &bucket{start: minInstant, end: maxInstant, window: window, total: make([]cell, len(c.account.meters))}
	if !window.Start.IsZero() {
		b.start = instantOf(window.Start)
	}
	if !window.End.IsZero() {
		b.end = instantOf(window.End)
	}
	c.buckets = slices.Insert(c.buckets, c.search(at), b)
	return b
}

// bucketAt gives the bucket of an instant, nil if it has none.
func (c *counter) bucketAt(at instant) *bucket {
	if i := c.search(at); i < len(c.buckets) && c.buckets[i].has(at) {
		return c.buckets[i]
	}
	return nil
}

var (
	minInstant = instant{sec: -1 << 63}
	maxInstant = instant{sec: 1<<63 - 1}
)

// search is the index of the first bucket that ends after an instant.
func (c *counter) search(at instant) int {
	n := len(c.buckets)
	if n > 0 && !at.before(c.buckets[n-1].start) { // the usual case
		if at.before(c.buckets[n-1].end) {
			return n - 1
		}
		return n
	}
	return sort.Search(n, func(i int) bool { return at.before(c.buckets[i].end) })
}

// balance answers a query for the meter with that index.
func (c *counter) balance(q *Query, meter int, own *item) (Balance, error) {
	at := instantOf(q.At)
	window, open, used, err := c.used(q.At, at, meter)
	if err != nil {
		return Balance{}, err
	}
	held := c.heldAt(at, meter, own)
	return Balance{
		Window:    window,
		Closed:    !open,
		Known:     used.known.clamp(),
		Charged:   used.charged.clamp(),
		Held:      held.known.clamp(),
		Unknown:   max(0, used.unknown),
		Uncharged: max(0, used.uncharged),
	}, nil
}

// heldAt is the sum of the holds that are live at an instant, without one.
func (c *counter) heldAt(at instant, meter int, own *item) cell {
	held := c.holds.before(maxInstant, meter)
	gone := c.holds.before(after(at), meter)
	held.merge(&gone, -1)
	if own != nil && at.before(own.at()) {
		c.account.chargeMeter(&held, own, meter, -1)
	}
	return held
}

// used sums the records of the window that an instant lies in, and says whether
// it is open.
func (c *counter) used(at time.Time, i instant, meter int) (period.Window, bool, cell, error) {
	if !c.account.lined {
		if b := c.bucketAt(i); b != nil && inRange(at) {
			return b.window, true, b.total[meter], nil
		}
		window, err := c.account.cursor.At(at)
		return window, true, cell{}, err
	}
	window, open, err := c.stretch(at, i)
	if err != nil || !open {
		return window, open, cell{}, err
	}
	from, to := instantOf(window.Start), instantOf(window.End)
	if window.LookBack {
		from, to = after(from), after(to)
	}
	sum := c.records.before(to, meter)
	past := c.records.before(from, meter)
	sum.merge(&past, -1)
	return window, true, sum, nil
}

// stretch is the window that an instant lies in, of a period without fixed
// ones, and whether it is open.
func (c *counter) stretch(at time.Time, i instant) (period.Window, bool, error) {
	if !c.account.firstUse {
		window, err := c.account.cursor.At(at)
		return window, true, err
	}
	var last period.Window
	start, open := c.uses.openAt(i)
	if open {
		from := start.time()
		last = period.Window{Start: from, End: from.Add(c.account.length)}
	}
	window, err := c.account.scope.Period.Resume(last, at)
	return window, open, err
}

// after is the next instant that can be told from i.
func after(i instant) instant {
	if i.nsec == 999_999_999 {
		return instant{i.sec + 1, 0}
	}
	return instant{i.sec, i.nsec + 1}
}

// turns says how time alone changes the balance.
func (c *counter) turns(at time.Time) Turns {
	now := instantOf(at)
	var turns Turns
	if next, ok := c.holds.first(after(now)); ok {
		turns.note(next.time(), c.holds.last().time())
	}
	if c.account.firstUse {
		if next, last, ok := c.uses.after(now); ok {
			turns.note(next.time(), last.time())
			turns.Rise = next.time()
		}
	}
	if !c.account.lined || c.account.firstUse {
		return turns
	}
	d := c.account.length
	if leaving, ok := c.records.first(after(now.add(-d))); ok {
		turns.note(leaving.time().Add(d), c.records.last().time().Add(d))
	}
	if entering, ok := c.records.first(after(now)); ok {
		turns.note(entering.time(), entering.time())
		turns.Rise = entering.time()
	}
	return turns
}

func (t *Turns) note(next, last time.Time) {
	if t.Next.IsZero() || next.Before(t.Next) {
		t.Next = next
	}
	if last.After(t.Last) {
		t.Last = last
	}
}
