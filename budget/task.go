package budget

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/usage"
)

// Task is what Admit has to know of a task.
type Task struct {
	// UID identifies the task. A hold of this UID is the task's own and does
	// not count against it. Required by [Reserve].
	UID types.UID
	// Namespace is the task's namespace. Required where there are rules.
	Namespace string
	// Name is told in messages; no rule looks at it.
	Name string
	// Labels decide which rules are for the task.
	Labels map[string]string
	// Estimate is what the task is expected to spend, per meter; money is in
	// nano-dollars (2*usage.USD, or usage.MustUSD("2.50")). Where a
	// meter is absent, the default estimate of a rule takes its place, and
	// where there is none either, the task needs no more than some room.
	Estimate usage.Amounts
}

// Input is everything that a decision depends on.
type Input struct {
	// Task asks to start.
	Task Task
	// Rules are all rules of the task's namespace, in any order. Those that do
	// not match play no part, nor do those of other namespaces.
	Rules []*Rule
	// Ledger knows what was used and is held. Required where a rule matches.
	Ledger View
	// Now is the instant of the decision. Required.
	Now time.Time

	reviewed bool // the policies of the rules are asked
}

// View is what a decision has to know of what was used and is held. Every
// [usage.Ledger] is one, and [usage.History] is one of plain slices.
type View interface {
	// Used answers a query.
	Used(usage.Query) (usage.Balance, error)
	// Turns says how time alone changes the answer.
	Turns(usage.Query) (usage.Turns, error)
}

// fault says why a task can't be judged at all, "" if it can.
func (in *Input) fault() string {
	if in.Now.IsZero() {
		return "input: now is required, and it is the zero time"
	}
	if m, ok := in.Ledger.(*usage.Memory); ok && m == nil {
		return "input: the ledger is a nil *usage.Memory"
	}
	if year := in.Now.UTC().Year(); year < 1 || year > 9998 {
		return fmt.Sprintf("input: now is in the year %d, which no period covers", year)
	}
	if err := in.Task.Estimate.Validate(); err != nil {
		return in.Task.describe() + ": estimate: " + err.Error()
	}
	for i, r := range in.Rules {
		if r == nil {
			return fmt.Sprintf("input: rules[%d] is nil", i)
		}
		if !r.compiled() {
			return fmt.Sprintf("input: rules[%d] was not made by Compile", i)
		}
		if in.Task.Namespace == "" && r.name.Namespace != "" {
			return in.Task.describe() + ": namespace is required, budgets are namespaced"
		}
	}
	return ""
}

func (t *Task) describe() string {
	switch {
	case t.Name != "":
		return "task " + usage.Quote(t.Namespace+"/"+t.Name)
	case t.UID != "":
		return "task " + usage.Quote(string(t.UID))
	default:
		return "task"
	}
}

// hold is what is set aside for the task when it is admitted. Its times are
// whole seconds, as its record and its stored form have them: the admission is
// floored and the expiry rounded up.
func (t *Task) hold(now time.Time, ttl time.Duration) (usage.Hold, error) {
	if ttl <= 0 {
		return usage.Hold{}, fmt.Errorf("%s: a hold needs a positive time to live, not %s", t.describe(), ttl)
	}
	h := usage.Hold{
		UID:        t.UID,
		Namespace:  t.Namespace,
		Name:       t.Name,
		Labels:     t.Labels,
		Amounts:    t.Estimate,
		AdmittedAt: floorSecond(now),
		ExpiresAt:  ceilSecond(now.Add(ttl)),
	}.Clone()
	return h, h.Validate()
}

func floorSecond(t time.Time) time.Time { return t.Round(0).UTC().Truncate(time.Second) }

func ceilSecond(t time.Time) time.Time {
	floor := floorSecond(t)
	if floor.Before(t) {
		return floor.Add(time.Second)
	}
	return floor
}

var errNoLedger = errors.New("there is no ledger to ask")
