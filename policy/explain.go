package policy

import (
	"context"
	"fmt"
	"strings"
)

// Explainer is implemented by hooks that can say how they came to an answer.
type Explainer interface {
	// Explain evaluates once more, slowly, and reports each rule.
	Explain(ctx context.Context, in *Input) (Trace, error)
}

// Explanation is how a set came to its verdict. It is for people: nothing
// should be decided by it.
type Explanation struct {
	Verdict  Verdict `json:"verdict"`
	Policies []Trace `json:"policies"`
	// Why the verdict is what it is, in a sentence.
	Why string `json:"why"`
}

// Trace is how one policy came to its answer.
type Trace struct {
	Policy      string      `json:"policy"`
	Revision    string      `json:"revision,omitempty"`
	Enforcement Enforcement `json:"enforcement"`
	Outcome     Outcome     `json:"outcome"`
	Caps        Caps        `json:"caps,omitzero"`
	// Decided says that the set's outcome is this policy's.
	Decided bool `json:"decided"`
	// Cost in the engine's unit: CEL cost units or Rego steps; 0 if not known.
	Cost  uint64      `json:"cost,omitempty"`
	Rules []RuleTrace `json:"rules,omitempty"`
	Error string      `json:"error,omitempty"`
}

// RuleTrace is what became of one rule.
type RuleTrace struct {
	Rule string `json:"rule"`
	// Source is file:line, as far as it is known.
	Source string `json:"source,omitempty"`
	Effect string `json:"effect,omitempty"`
	// State is matched, not matched, skipped or error.
	State string `json:"state"`
	// Values of the parts of the rule's condition.
	Values []ValueTrace `json:"values,omitempty"`
	Cost   uint64       `json:"cost,omitempty"`
	Note   string       `json:"note,omitempty"`
}

// ValueTrace is a part of a condition and its value as text. Values of labels
// and annotations are redacted by the engines.
type ValueTrace struct {
	Part  string `json:"part"`
	Value string `json:"value"`
}

// Redacted stands for the value of a label or annotation in a trace.
const Redacted = "(redacted)"

// Explain evaluates the set and reports, per policy and rule, what matched,
// the parts' values, the cost and who decided. It is slower than Evaluate by
// an order of magnitude and gives the same verdict.
func (s *Set) Explain(ctx context.Context, in *Input) (Explanation, error) {
	verdict, err := s.Evaluate(ctx, in)
	x := Explanation{Verdict: verdict, Why: why(&verdict)}
	if s == nil || err != nil || in.Check() != nil {
		return x, err
	}
	for i := range s.bindings {
		x.Policies = append(x.Policies, s.trace(ctx, &s.bindings[i], in, &verdict))
	}
	return x, nil
}

func (s *Set) trace(ctx context.Context, b *Binding, in *Input, overall *Verdict) Trace {
	c := newCombination(in)
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	alone := Binding{Hook: b.Hook, OnError: b.OnError, Operations: b.Operations}
	s.ask(bounded, &alone, in, c)
	own := c.finish()
	t := Trace{Policy: b.Hook.Name(), Enforcement: b.Enforcement, Outcome: own.Outcome, Caps: own.Caps}
	if x, ok := b.Hook.(Explainer); ok && b.concerns(in.Operation) {
		t = t.detail(bounded, x, in)
	}
	if r, ok := b.Hook.(Revisioned); ok {
		t.Revision = r.Revision()
	}
	if len(own.Errors) > 0 {
		t.Error = own.Errors[0].Message
	}
	t.Decided = b.Enforcement == Enforce && overall.Outcome != Allow && own.Outcome == overall.Outcome
	return t
}

// detail fills in what the hook itself reports; a panic is reported, too.
func (t Trace) detail(ctx context.Context, x Explainer, in *Input) (out Trace) {
	defer func() {
		if r := recover(); r != nil {
			out = t
			out.Error = Clean(fmt.Sprintf("explain: panic: %v", r))
		}
	}()
	own, err := x.Explain(ctx, in.Clone())
	t.Rules, t.Cost = own.Rules, own.Cost
	if err != nil {
		t.Error = Clean(err.Error())
	}
	return t
}

// why says in a sentence what decided.
func why(v *Verdict) string {
	if v.Outcome == Allow {
		return "allowed: no enforced policy objects"
	}
	var by []string
	for _, r := range v.Reasons {
		if r.Outcome == v.Outcome {
			by = append(by, fmt.Sprintf("%s (%s)", r.Policy, r.Code))
		}
	}
	verb := "denied"
	if v.Outcome == Hold {
		verb = "held off"
	}
	return verb + " by " + strings.Join(by, ", ")
}

// String renders the explanation for a terminal.
func (x *Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", x.Verdict.Outcome, x.Why)
	for _, p := range x.Policies {
		fmt.Fprintf(&b, "  %s: %s (%s, cost %d)", p.Policy, p.Outcome, p.Enforcement, p.Cost)
		if p.Decided {
			b.WriteString(", decides")
		}
		if p.Error != "" {
			fmt.Fprintf(&b, ", error: %s", p.Error)
		}
		b.WriteByte('\n')
		for _, r := range p.Rules {
			fmt.Fprintf(&b, "    %s %s [%s] %s %s\n", r.Rule, r.State, r.Effect, r.Source, r.Note)
			for _, v := range r.Values {
				fmt.Fprintf(&b, "      %s = %s\n", v.Part, v.Value)
			}
		}
	}
	return b.String()
}
