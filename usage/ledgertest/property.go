package ledgertest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// most is how many entries a play has at most.
const most = 60

// Property plays random entries on an empty ledger and compares every answer
// with that of plain slices.
func Property(t *rapid.T, ledger usage.Ledger) {
	p := &play{source: source{t: t}, ledger: ledger}
	for n := range rapid.IntRange(1, 4).Draw(t, "scopes") {
		p.scopes = append(p.scopes, p.scope(n))
	}
	for range rapid.IntRange(1, most).Draw(t, "steps") {
		p.step()
	}
	p.askAll()
}

// play is a ledger, its model and what happens to both.
type play struct {
	source
	model
	ledger usage.Ledger
	scopes []*usage.Scope
}

// step does one thing to both, inside of Do where the ledger has that and
// chance says so.
func (p *play) step() {
	exclusive, ok := p.ledger.(Exclusive)
	if !ok || !p.chance("exclusive", 20) {
		p.stepOn(p.ledger)
		return
	}
	exclusive.Do(p.stepOn)
}

func (p *play) stepOn(ledger usage.Ledger) {
	switch kind := rapid.IntRange(1, 100).Draw(p.t, "step"); {
	case kind <= 25:
		p.add(p.t, ledger, p.record())
	case kind <= 30 && len(p.Records) > 0:
		p.add(p.t, ledger, pick(&p.source, "again", p.Records))
	case kind <= 38 && len(p.Records) > 0:
		if c, ok := p.correction(p.Records); ok {
			p.add(p.t, ledger, c)
		}
	case kind <= 55:
		p.enter(p.t, ledger, p.hold())
	case kind <= 60:
		uid := p.uid()
		ledger.Release(uid)
		p.drop(uid)
	case kind <= 70:
		p.extra(ledger)
	case kind <= 75:
		p.held(p.t, ledger, p.uid())
	default:
		p.ask(p.t, ledger, p.query(p.scopes))
	}
}

// extra uses what a ledger may offer beside the interface.
func (p *play) extra(ledger usage.Ledger) {
	if l, ok := ledger.(Filler); ok && p.chance("fill", 30) {
		p.addAll(p.t, l, p.list())
		return
	}
	if l, ok := ledger.(Remover); ok && p.chance("remove", 50) {
		uid := p.uid()
		l.Remove(uid)
		p.remove(uid)
		return
	}
	if l, ok := ledger.(Renewer); ok && p.chance("renew", 50) {
		h := p.hold()
		if err := l.Renew(h.Clone()); err != nil {
			p.t.Fatalf("Renew: %v", err)
		}
		p.replace(h)
		return
	}
	if l, ok := ledger.(Forgetter); ok {
		l.Forget(pick(&p.source, "scope", p.scopes))
	}
}

// list draws records of every sort: new ones, the same again, others of a UID
// that has one, corrections before and after what they correct, and broken ones.
func (p *play) list() []usage.Record {
	var list []usage.Record
	for range rapid.IntRange(0, 40).Draw(p.t, "records") {
		known := append(slices.Clone(p.Records), list...)
		switch kind := rapid.IntRange(1, 100).Draw(p.t, "record"); {
		case kind <= 20 && len(known) > 0:
			list = append(list, pick(&p.source, "again", known))
		case kind <= 35 && len(known) > 0:
			if c, ok := p.correction(known); ok {
				list = append(list, c)
			}
		case kind <= 40:
			r := p.record()
			r.Phase = ""
			list = append(list, r)
		default:
			list = append(list, p.record())
		}
	}
	if p.chance("the other way round", 30) {
		slices.Reverse(list)
	}
	return list
}

// askAll asks about every scope, group and instant that matters.
func (p *play) askAll() {
	for _, scope := range p.scopes {
		instants := p.turning(scope)
		for _, set := range p.labelSets() {
			for i, t := range instants {
				q := usage.Query{Scope: scope, Labels: set, Meter: meters[i%len(meters)], At: t}
				if i%5 == 0 {
					q.Except = p.uid()
				}
				p.ask(p.t, p.ledger, q)
			}
		}
	}
	for _, uid := range uids {
		p.held(p.t, p.ledger, uid)
	}
}

// labelSets are one set of labels for each group there may be.
func (p *play) labelSets() []map[string]string {
	sets := []map[string]string{nil}
	for i := range p.Records {
		sets = append(sets, p.Records[i].Labels)
	}
	for i := range p.Holds {
		sets = append(sets, p.Holds[i].Labels)
	}
	if len(sets) > 4 {
		sets = sets[:4]
	}
	return sets
}

// turning are some of the instants at which answers about a scope turn, each
// with its neighbors.
func (p *play) turning(scope *usage.Scope) []time.Time {
	var list []time.Time
	near := func(t time.Time) { list = append(list, t.Add(-1), t, t.Add(1)) }
	for range 3 {
		t := p.instant("turn")
		near(t)
		if w, err := scope.Period.At(t); err == nil && !w.Start.IsZero() && !w.End.IsZero() {
			near(w.Start)
			near(w.End)
		}
		if d, ok := scope.Period.Longest(); ok && scope.Period.Kind() != period.Lifetime {
			near(t.Add(d))
		}
	}
	return list
}
