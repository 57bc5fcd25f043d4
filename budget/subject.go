package budget

import (
	"maps"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// Subject is what policies are told of a task beside what budgets look at. All
// of it is optional: what the host does not say is empty. Policies never see an
// object of the host, its environment or a secret: only this.
type Subject struct {
	// Kind is the kind of the task's object, such as Job.
	Kind string
	// Agent, Model and Provider say who will do the work.
	Agent, Model, Provider string
	// Priority is the name of the task's priority class.
	Priority string
	// Attempt counts the starts of the task.
	Attempt int64
	// RequestedTokens are the tokens that the task asks for.
	RequestedTokens int64
	// Annotations that the host chose to show.
	Annotations map[string]string
	// Actor is who created the task.
	Actor policy.Actor
	// Pod is the size that the task asks for.
	Pod policy.Pod
	// Facts are whatever else the host lets policies see.
	Facts map[string]string
	// EstimateSource says where the task's estimate comes from; "" stands for
	// "Task", and "Default" where only a budget has one.
	EstimateSource string
}

// PolicyInput is what policies see of a task: the subject, the figures of all
// matching budgets that can be evaluated, and the tightest of them. Money is in
// micro-USD; what was used, is held or estimated is rounded up, limits are
// rounded down, and so is what remains. It is pure: figures are those of
// in.Ledger at in.Now. What exceeds the bounds of the document stays in it, and
// makes [policy.Input.Check] fail, which refuses.
func PolicyInput(operation policy.Operation, in Input, about Subject) policy.Input {
	in.reviewed = true
	d := Admit(in)
	doc, _ := in.document(operation, &d, &about)
	return doc
}

// document is PolicyInput after the decision. owned has, for each budget of the
// document, the rule that it is of.
func (in *Input) document(operation policy.Operation, d *Decision, about *Subject) (doc policy.Input, owned []*Rule) {
	doc = policy.Input{
		Operation: operation,
		Now:       in.Now,
		Task: policy.Task{
			Namespace: in.Task.Namespace, Name: in.Task.Name, UID: string(in.Task.UID), Kind: about.Kind,
			Agent: about.Agent, Model: about.Model, Provider: about.Provider, Priority: about.Priority,
			Attempt: about.Attempt, RequestedTokens: about.RequestedTokens,
			Labels: maps.Clone(in.Task.Labels), Annotations: maps.Clone(about.Annotations),
		},
		Actor: policy.Actor{User: about.Actor.User, Groups: append([]string(nil), about.Actor.Groups...)},
		Pod:   about.Pod,
		Facts: maps.Clone(about.Facts),
	}
	var shown []*Rule
	if len(d.Verdicts) > 0 {
		shown = in.matching(nil) // in the order of the verdicts
	}
	for i, r := range shown {
		if v := &d.Verdicts[i]; v.Fault == nil && v.Outside == "" {
			doc.Budgets = append(doc.Budgets, in.show(r, v))
			owned = append(owned, r)
		}
	}
	doc.Estimate = in.expected(owned, about)
	return doc.Complete(), owned
}

// expected is what the task is expected to use: its own estimate, and where it
// has none the greatest default of a budget.
func (in *Input) expected(rules []*Rule, about *Subject) policy.Amount {
	var out policy.Amount
	own := false
	of := func(m usage.Meter, known *bool) int64 {
		if amount, ok := in.Task.Estimate[m]; ok {
			own, *known = true, true
			return amount
		}
		most := int64(0)
		for _, r := range rules {
			if amount, ok := r.scope.Default[m]; ok {
				most, *known = max(most, amount), true
			}
		}
		return most
	}
	out.CostMicros = policy.CeilMicros(of(usage.CostUSD, &out.CostKnown))
	out.InputTokens, out.OutputTokens = of(usage.InputTokens, &out.TokensKnown), of(usage.OutputTokens, &out.TokensKnown)
	out.Known = out.CostKnown || out.TokensKnown
	switch {
	case !out.Known:
	case !own:
		out.Source = "Default"
	case about.EstimateSource == "":
		out.Source = "Task"
	default:
		out.Source = about.EstimateSource
	}
	return out
}

// show is what policies see of a budget that can be evaluated.
func (in *Input) show(r *Rule, v *Verdict) policy.Budget {
	b := policy.Budget{
		Name: v.Budget.Name, Namespace: v.Budget.Namespace, Scope: v.Group, Action: string(v.Action), Period: shownPeriod(v),
		Cost: in.unlimited(r, usage.CostUSD), InputTokens: in.unlimited(r, usage.InputTokens), OutputTokens: in.unlimited(r, usage.OutputTokens),
		Meters: map[string]policy.Measure{},
	}
	for i := range v.Figures {
		f := &v.Figures[i]
		m := measure(f)
		switch f.Meter {
		case usage.CostUSD:
			b.Cost = m
		case usage.InputTokens:
			b.InputTokens = m
		case usage.OutputTokens:
			b.OutputTokens = m
		default:
			b.Meters[string(f.Meter)] = m
		}
	}
	return b
}

// unlimited is how a meter stands that the budget sums and does not limit; of a
// meter that it limits nothing, since the verdict has its figure.
func (in *Input) unlimited(r *Rule, m usage.Meter) policy.Measure {
	if r.index(m) >= 0 {
		return policy.Measure{}
	}
	f := Figure{Meter: m}
	if _, err := r.weigh(in, in.query(r, m), &f); err != nil {
		return policy.Measure{Unlimited: true, Uncertain: true}
	}
	shown := measure(&f)
	shown.Limit, shown.Unlimited = 0, true
	return shown
}

// measure is a figure as policies see it.
func measure(f *Figure) policy.Measure {
	m := policy.Measure{Limit: f.Limit, Used: max(0, f.Used), Held: max(0, f.Held), Uncertain: f.Unknown > 0}
	if f.Meter == usage.CostUSD {
		m.Limit, m.Used, m.Held = policy.FloorMicros(f.Limit), policy.CeilMicros(m.Used), policy.CeilMicros(m.Held)
	}
	return m
}

// shownPeriod is the window of a verdict as policies see it.
func shownPeriod(v *Verdict) policy.Period {
	p := policy.Period{Kind: string(v.Period.Kind()), Zone: v.Period.Spec().Timezone}
	start, end := v.Window.Start, v.Window.End
	if !start.IsZero() {
		p.StartUnixMs = start.UnixMilli()
	}
	if !start.IsZero() && !end.IsZero() && end.UnixMilli() > p.StartUnixMs {
		p.EndUnixMs, p.Bounded = end.UnixMilli(), true
	}
	return p
}
