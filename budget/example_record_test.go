package budget_test

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// What policies say of a finished task can warn and label. It can't stop the
// record: the money is gone.
func ExampleReviewer_Record() {
	dear := policy.Func("dear", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		if in.Usage.CostMicros < 5_000_000 {
			return policy.Pass(), nil
		}
		v := policy.Refuse("dear-run", "more than 5 dollars")
		v.Labels = map[string]string{"review": "wanted"}
		return v, nil
	})
	reviewer, err := budget.NewReviewer(dear, budget.ReviewerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	record, err := usage.RecordUsage(usage.Completion{
		Task:           usage.Task{UID: "fix-build", Namespace: "agents", Model: "opus"},
		Phase:          usage.Succeeded,
		CompletionTime: time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC),
		Results:        map[string]string{"cost-usd": "7.10"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict := reviewer.Record(context.Background(), record, budget.Input{}, budget.Subject{})
	fmt.Println(verdict.Outcome, "with a warning:", verdict.Warnings[0].Message)
	stored := budget.NewTaskRecord(record)
	budget.LabelRecord(stored, verdict)
	fmt.Println(stored.Labels)
	// Output:
	// Allow with a warning: more than 5 dollars
	// map[review:wanted]
}
