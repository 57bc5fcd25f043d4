package budget

import (
	"context"
	"maps"
	"slices"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// CodeBudgetDegraded is the code with which a pod is refused because a budget
// can't be evaluated, and so its policies can't be asked.
const CodeBudgetDegraded = "budget-degraded"

// Record shows policies the usage of a task that has finished. Nothing that they
// say blocks it, since the money is gone: the verdict always allows, refusals
// and failures are warnings in it, and its labels are for [LabelRecord].
//
// in says which budgets are shown as they stand; its task is taken from the
// record, and so is Now where it is zero. Without a ledger no budget is shown.
func (r *Reviewer) Record(ctx context.Context, record usage.Record, in Input, about Subject) policy.Verdict {
	in.Task = Task{UID: record.UID, Namespace: record.Namespace, Name: record.Name, Labels: record.Labels, Estimate: in.Task.Estimate}
	if in.Now.IsZero() {
		in.Now = record.CompletionTime
	}
	for _, stated := range []struct {
		to   *string
		from string
	}{{&about.Kind, record.Kind}, {&about.Agent, record.Type}, {&about.Model, record.Model}} {
		if stated.from != "" {
			*stated.to = stated.from
		}
	}
	in = r.open(in)
	d := Admit(in)
	q := r.question(policy.RecordUsage, &in, &d, &about)
	if q == nil {
		return policy.Pass()
	}
	q.doc.Usage = spent(record.Usage)
	q.doc = q.doc.Complete()
	return r.ask(ctx, q) // a set refuses and caps nothing here
}

// spent is what a record says, as policies see it.
func spent(figures usage.Figures) policy.Amount {
	var out policy.Amount
	of := func(m usage.Meter, known *bool) int64 {
		f := figures.Of(m)
		if f.Basis == usage.Unknown {
			return 0
		}
		*known = true
		if out.Source == "" {
			out.Source = string(f.Basis)
		}
		return f.Amount
	}
	out.CostMicros = policy.CeilMicros(of(usage.CostUSD, &out.CostKnown))
	out.InputTokens, out.OutputTokens = of(usage.InputTokens, &out.TokensKnown), of(usage.OutputTokens, &out.TokensKnown)
	out.Known = out.CostKnown || out.TokensKnown
	return out
}

// LabelRecord puts the labels of a verdict on a stored record, for listing: on
// the object, not into its spec, so that they move no spend. A label that is
// there stays: it is the task's own, and listing by it counts on that. The keys
// that were not set for this reason are returned, sorted.
func LabelRecord(tr *budgetv1alpha1.TaskRecord, v policy.Verdict) (kept []string) {
	for _, key := range slices.Sorted(maps.Keys(v.Labels)) {
		if have, taken := tr.Labels[key]; taken {
			if have != v.Labels[key] {
				kept = append(kept, key)
			}
			continue
		}
		if tr.Labels == nil {
			tr.Labels = map[string]string{}
		}
		tr.Labels[key] = v.Labels[key]
	}
	return kept
}

// Pod asks policies for caps on the size of the task's pod, which about.Pod
// says. Give the verdict to [github.com/bursar-dev/bursar/podspec.Heed], which
// lowers the size, and refuses it where the verdict does. Budgets are shown as they
// stand; where they have no room, that is for [Reviewer.Reserve] to say. A
// budget with a fault refuses, since its policies can't be asked.
func (r *Reviewer) Pod(ctx context.Context, in Input, about Subject) policy.Verdict {
	in = r.open(in)
	d := Admit(in)
	if d.Fault != "" {
		return policy.Refuse(policy.CodeInvalidInput, d.Fault)
	}
	for _, v := range d.Refusals() {
		if v.Fault != nil {
			return policy.Refuse(CodeBudgetDegraded, v.String())
		}
	}
	if q := r.question(policy.BuildPod, &in, &d, &about); q != nil {
		return r.ask(ctx, q)
	}
	return policy.Pass()
}
