package policy_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar-dev/bursar/policy"
)

func ExampleSet_Evaluate() {
	night := policy.Func("quiet-hours", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		if h := in.Now.Hour(); h >= 22 || h < 6 {
			return policy.HoldFor(time.Hour, "quiet-hours", "tasks start between 06:00 and 22:00 UTC"), nil
		}
		return policy.Pass(), nil
	})
	set, err := policy.NewSet(policy.Options{}, policy.Binding{Hook: night})
	if err != nil {
		fmt.Println(err)
		return
	}
	in := policy.Input{
		Operation: policy.Admit,
		Now:       time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC),
		Task:      policy.Task{Namespace: "agents", Name: "refactor"},
	}.Complete()
	v, err := set.Evaluate(context.Background(), &in)
	fmt.Println(v.Outcome, v.RetryAfter, v.Reasons[0].Message, err)
	// Output: Hold 1h0m0s tasks start between 06:00 and 22:00 UTC <nil>
}

func ExampleHolder() {
	var h policy.Holder
	in := policy.Input{Operation: policy.Admit, Now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)}.Complete()
	v, _ := h.Evaluate(context.Background(), &in)
	fmt.Println(v.Outcome, v.Reasons[0].Code)

	set, _ := policy.NewSet(policy.Options{})
	fmt.Println(h.Store(set, in.Now))
	v, _ = h.Evaluate(context.Background(), &in)
	fmt.Println(v.Outcome)

	err := h.Reload(in.Now, func() (*policy.Set, error) { return nil, errors.New("rules.yaml:3: unknown effect") })
	fmt.Println(err, h.Status().Stale, h.Revision() == set.Revision())
	// Output:
	// Deny policy-not-ready
	// <nil>
	// Allow
	// rules.yaml:3: unknown effect true true
}

func ExampleSet_Explain() {
	set, _ := policy.NewSet(policy.Options{}, policy.Binding{Hook: policy.Func("list", func(context.Context, *policy.Input) (policy.Verdict, error) {
		return policy.Refuse("model-denied", "opus is not for this team"), nil
	})})
	in := policy.Input{Operation: policy.Admit, Now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)}.Complete()
	x, _ := set.Explain(context.Background(), &in)
	fmt.Print(x.String())
	// Output:
	// Deny: denied by list (model-denied)
	//   list: Deny (enforce, cost 0), decides
}
