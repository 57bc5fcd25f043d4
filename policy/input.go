package policy

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"
)

// Version is the version of the input document.
const Version = "v1"

// NoLimit stands for the limit and the remainder of a measure that is not
// limited, so that comparisons come out right without looking at Unlimited.
// It is 2^53 - 1: a thousand times as much still fits an int64, so that a rule
// may multiply it.
const NoLimit = 1<<53 - 1

// Limited returns a measure with a limit; the derived figures are filled.
// Negative arguments are kept, and refused by Check.
func Limited(limit, used, held int64) Measure {
	return Measure{Limit: limit, Used: used, Held: held}.derive()
}

// Unlimited returns a measure that the budget does not limit.
func Unlimited(used, held int64) Measure {
	return Measure{Used: used, Held: held, Unlimited: true}.derive()
}

// CeilMicros converts nano-USD to micro-USD, rounded up: for what was used,
// held or estimated.
func CeilMicros(nanos int64) int64 {
	micros := nanos / 1000
	if nanos%1000 > 0 {
		micros++
	}
	return micros
}

// FloorMicros converts nano-USD to micro-USD, rounded down: for limits and
// what is left of them.
func FloorMicros(nanos int64) int64 {
	micros := nanos / 1000
	if nanos%1000 < 0 {
		micros--
	}
	return micros
}

// Complete returns a copy of the input with every derived field filled, the
// version set, the instant in UTC and no nil list or map. Budget is set to the
// tightest of Budgets, or to one that limits nothing. Nothing is refused here:
// Check does that. The copy shares non-empty maps and groups with the
// receiver.
func (in Input) Complete() Input {
	in.Version = Version
	in.Now = in.Now.UTC()
	in.NowUnixMs = in.Now.UnixMilli()
	in.Task.Labels = orEmpty(in.Task.Labels)
	in.Task.Annotations = orEmpty(in.Task.Annotations)
	in.Facts = orEmpty(in.Facts)
	if in.Actor.Groups == nil {
		in.Actor.Groups = []string{}
	}
	in.Estimate.TotalTokens = add(in.Estimate.InputTokens, in.Estimate.OutputTokens)
	in.Usage.TotalTokens = add(in.Usage.InputTokens, in.Usage.OutputTokens)
	budgets := make([]Budget, len(in.Budgets))
	for i, b := range in.Budgets {
		budgets[i] = b.complete(in.NowUnixMs)
	}
	in.Budgets = budgets
	in.Budget = Tightest(budgets)
	return in
}

// Tightest returns the budget with the greatest committed share of any of its
// measures; among equals the one with the least cost remaining, then the first
// by namespace, name and scope. Of none it returns a budget without a name
// that limits nothing. The derived figures must be filled.
func Tightest(budgets []Budget) Budget {
	if len(budgets) == 0 {
		free := Unlimited(0, 0)
		return Budget{Cost: free, InputTokens: free, OutputTokens: free, Meters: map[string]Measure{}}
	}
	return slices.MinFunc(budgets, func(a, b Budget) int {
		return cmp.Or(
			cmp.Compare(b.committed(), a.committed()),
			cmp.Compare(a.Cost.Remaining, b.Cost.Remaining),
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Scope, b.Scope),
		)
	})
}

// Clone returns a deep copy.
func (in *Input) Clone() *Input {
	out := *in
	out.Task.Labels = maps.Clone(in.Task.Labels)
	out.Task.Annotations = maps.Clone(in.Task.Annotations)
	out.Facts = maps.Clone(in.Facts)
	out.Actor.Groups = slices.Clone(in.Actor.Groups)
	out.Budget.Meters = maps.Clone(in.Budget.Meters)
	out.Budgets = slices.Clone(in.Budgets)
	for i := range out.Budgets {
		out.Budgets[i].Meters = maps.Clone(out.Budgets[i].Meters)
	}
	return &out
}

func (b Budget) complete(nowMs int64) Budget {
	b.Period.ElapsedPermille = b.Period.elapsed(nowMs)
	b.Cost = b.Cost.derive()
	b.InputTokens = b.InputTokens.derive()
	b.OutputTokens = b.OutputTokens.derive()
	meters := make(map[string]Measure, len(b.Meters))
	for name, m := range b.Meters {
		meters[name] = m.derive()
	}
	b.Meters = meters
	return b
}

func (b *Budget) committed() int64 {
	most := max(b.Cost.CommittedPermille, b.InputTokens.CommittedPermille, b.OutputTokens.CommittedPermille)
	for _, m := range b.Meters {
		most = max(most, m.CommittedPermille)
	}
	return most
}

// elapsed is the share of the period that has passed, within 0 and 1000.
func (p *Period) elapsed(nowMs int64) int64 {
	if !p.Bounded || p.EndUnixMs <= p.StartUnixMs || nowMs <= p.StartUnixMs {
		return 0
	}
	if nowMs >= p.EndUnixMs {
		return 1000
	}
	return permille(distance(p.StartUnixMs, nowMs), distance(p.StartUnixMs, p.EndUnixMs))
}

// distance is from a up to b, which may be further apart than an int64 counts.
func distance(a, b int64) uint64 {
	return uint64(b) - uint64(a) //nolint:gosec // G115: the unsigned difference of two's complements is exact
}

func (m Measure) derive() Measure {
	if m.Unlimited {
		m.Limit, m.Remaining, m.UsedPermille, m.CommittedPermille = NoLimit, NoLimit, 0, 0
		return m
	}
	committed := add(m.Used, m.Held)
	m.Remaining = max(0, m.Limit-min(m.Limit, committed))
	m.UsedPermille = share(m.Used, m.Limit)
	m.CommittedPermille = share(committed, m.Limit)
	return m
}

// share is part against a limit in thousandths; of a limit of 0 all is spent.
func share(part, limit int64) int64 {
	if limit <= 0 {
		return 1000
	}
	if part <= 0 {
		return 0
	}
	return permille(uint64(part), uint64(limit))
}

// permille is part*1000/whole, saturating at the greatest int64. The whole
// must not be 0.
func permille(part, whole uint64) int64 {
	hi, lo := bits.Mul64(part, 1000)
	if hi >= whole {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(hi, lo, whole)
	return int64(min(quotient, math.MaxInt64))
}

// add adds amounts that are not negative, saturating.
func add(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// timeIsSet says that an instant can be written in RFC 3339 and was set.
func timeIsSet(t time.Time) bool {
	return !t.IsZero() && t.Year() >= 1 && t.Year() <= 9999
}
