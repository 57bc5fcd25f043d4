package budget

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// DefaultRounds is how often a [Reviewer] asks anew while the budgets' figures
// move.
const DefaultRounds = 4

// CodeFiguresMoved is the code with which a reservation is put off whose
// figures moved as often as policies were asked about them.
const CodeFiguresMoved = "figures-moved"

// Reviewer decides with policies: those of the host and those that budgets
// carry. They are asked after the arithmetic of the budgets, and can only
// tighten its answer. Build it with [NewReviewer]; it is immutable and safe for
// concurrent use. The zero Reviewer asks the policies of the budgets alone.
type Reviewer struct {
	hook    policy.Hook
	timeout time.Duration
	rounds  int
	rules   func(namespace string) []*Rule
}

// ReviewerOptions are those of [NewReviewer]; the zero value is good.
type ReviewerOptions struct {
	// Timeout bounds how long all policies of budgets together may take, and
	// the hook too if it is no [policy.Set] or [policy.Holder], which have a
	// bound of their own. An answer that comes later refuses. Zero stands for
	// [policy.DefaultTimeout].
	Timeout time.Duration
	// Rounds is how often policies are asked anew when the figures that they
	// were shown have moved before the hold could be entered. Zero stands for
	// [DefaultRounds].
	Rounds int
	// Rules gives the rules of a namespace as they are at the moment, in the
	// place of Input.Rules. It is called with the ledger locked, so that a
	// budget that changed while policies were asked is not missed. Nil where
	// the rules of the input are the ones that count.
	Rules func(namespace string) []*Rule
}

// NewReviewer makes a reviewer that asks the hook of the host; nil if it has
// none. The error says what is wrong with an option or with the hook's name.
func NewReviewer(hook policy.Hook, o ReviewerOptions) (*Reviewer, error) {
	if o.Timeout < 0 || o.Rounds < 0 {
		return nil, fmt.Errorf("reviewer: timeout %s and rounds %d must not be negative", o.Timeout, o.Rounds)
	}
	switch h := hook.(type) {
	case nil, *policy.Set:
	case *policy.Holder:
		if h == nil {
			return nil, errors.New("reviewer: the holder of policies is nil")
		}
	default:
		set, err := policy.NewSet(policy.Options{Timeout: o.Timeout}, policy.Binding{Hook: hook})
		if err != nil {
			return nil, fmt.Errorf("reviewer: %w", err)
		}
		hook = set
	}
	return &Reviewer{hook: hook, timeout: o.Timeout, rounds: o.Rounds, rules: o.Rules}, nil
}

// Admit decides like [Admit], and where the arithmetic admits it asks the
// policies. Nothing is held: [Reviewer.Reserve] does that.
func (r *Reviewer) Admit(ctx context.Context, in Input, about Subject) Decision {
	in = r.open(in)
	d := Admit(in)
	if !d.Allowed {
		return d
	}
	if q := r.question(policy.Admit, &in, &d, &about); q != nil {
		d.heed(r.ask(ctx, q))
	}
	return d
}

// open makes an input that the reviewer answers for.
func (r *Reviewer) open(in Input) Input {
	in.reviewed = true
	if r.rules != nil {
		in.Rules = r.rules(in.Task.Namespace)
	}
	return in
}

// Reserve decides like [Reserve], and asks the policies between the arithmetic
// and the hold:
//
//   - on the store's ledger, locked, the arithmetic decides; its refusal stands;
//   - on a snapshot of the figures, unlocked, the policies are asked; their
//     refusal stands;
//   - on the ledger, locked again, the arithmetic decides once more, and the
//     hold is entered. Where the figures have moved since, the policies are asked
//     again, and after some rounds the task is put off: a policy that looks at
//     figures is never passed by tasks that come together.
//
// A task that has a live hold was admitted already. Its policies are asked for
// [policy.Renew], for their caps and warnings; what they would refuse now is a
// warning, unless they fail: then it is refused until they answer, and keeps
// its hold.
func (r *Reviewer) Reserve(ctx context.Context, store Store, in Input, about Subject, ttl time.Duration) Decision {
	if d, ok := in.lacksStore(store); ok {
		return d
	}
	var given *answer
	for round := 0; ; round++ {
		var d Decision
		var q *question
		store.Do(func(ledger usage.Ledger) {
			in.Ledger = ledger
			d, q = r.attempt(ledger, r.open(in), &about, ttl, given)
		})
		if q == nil {
			return d
		}
		if round > r.mostRounds() {
			d.heed(moved())
			return d
		}
		given = &answer{q, r.ask(ctx, q)}
		if q.doc.Operation == policy.Admit && !given.verdict.Allowed() {
			d.heed(given.verdict)
			return d
		}
	}
}

func (r *Reviewer) mostRounds() int {
	if r.rounds == 0 {
		return DefaultRounds
	}
	return r.rounds
}

// moved is the verdict on a task whose figures did not stand still.
func moved() policy.Verdict {
	v := policy.HoldFor(MinRequeue, CodeFiguresMoved, "the budgets' figures changed each time that policies were asked about them")
	v.Reasons[0].Policy = "policies"
	return v
}

// answer is a question and what policies said to it.
type answer struct {
	question *question
	verdict  policy.Verdict
}

// to reports that it is an answer to a question. Of a task that runs already it
// is one whatever has moved since: nothing depends on the figures then.
func (a *answer) to(q *question) bool {
	if a == nil || a.question.doc.Operation != q.doc.Operation {
		return false
	}
	return q.doc.Operation == policy.Renew || q.same(a.question)
}

// attempt reserves on a ledger that is locked, or says what policies are to be
// asked before it can.
func (r *Reviewer) attempt(ledger usage.Ledger, in Input, about *Subject, ttl time.Duration, given *answer) (Decision, *question) {
	d := Admit(in)
	if d.Fault != "" {
		return d, nil
	}
	wanted, err := in.Task.hold(in.Now, ttl)
	if err != nil {
		d.deny(err)
		return d, nil
	}
	operation := policy.Admit
	held, live := d.running(ledger, &in)
	switch {
	case d.Fault != "":
		return d, nil
	case live:
		operation = policy.Renew
	case !d.Allowed:
		return d, nil
	}
	q := r.question(operation, &in, &d, about)
	if q != nil && !given.to(q) {
		return d, q
	}
	if live {
		d.resume(held)
	}
	if q != nil {
		d.heedAs(operation, given.verdict)
	}
	if !live && d.Allowed {
		d.enter(ledger, wanted)
	}
	return d, nil
}

// question is what policies are asked about a task: a snapshot.
type question struct {
	doc   policy.Input
	owned []*Rule // of the budgets in doc
}

// question gives what is to be asked, nil where there is nobody to ask.
func (r *Reviewer) question(operation policy.Operation, in *Input, d *Decision, about *Subject) *question {
	concerned := r.hook != nil
	for _, rule := range in.Rules {
		concerned = concerned || rule.policies != nil && rule.Matches(in.Task.Namespace, in.Task.Labels)
	}
	if !concerned {
		return nil
	}
	doc, owned := in.document(operation, d, about)
	return &question{doc: doc, owned: owned}
}

// same reports that policies would be shown the same by the same rules.
func (q *question) same(other *question) bool {
	return slices.Equal(q.owned, other.owned) && reflect.DeepEqual(q.doc, other.doc)
}

// ask asks the host's policies and those of each budget, and combines what they
// say. In the policies of a budget, budget is that budget.
func (r *Reviewer) ask(ctx context.Context, q *question) policy.Verdict {
	verdicts := make([]policy.Verdict, 0, 1+len(q.owned))
	if r.hook != nil {
		verdicts = append(verdicts, say(ctx, r.hook, &q.doc))
	}
	timeout := r.timeout
	if timeout == 0 {
		timeout = policy.DefaultTimeout
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for i, rule := range q.owned {
		if rule.policies == nil {
			continue
		}
		doc := q.doc
		doc.Budget = doc.Budgets[i]
		verdicts = append(verdicts, say(bounded, rule.policies, &doc))
	}
	return policy.Merge(verdicts...)
}

// say asks a set. Its error says that the caller's own context is done, and the
// verdict refuses by then, unless it is about usage that nothing blocks.
func say(ctx context.Context, set policy.Hook, doc *policy.Input) policy.Verdict {
	v, _ := set.Evaluate(ctx, doc)
	return v
}
