package webhook_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/budget/webhook"
)

// A host serves the validator on its own webhook server with SetupWithManager. What it answers can be tried without one.
func ExampleValidator() {
	tb := &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "daily"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector:   &metav1.LabelSelector{},
			Period:         budgetv1alpha1.Period{Type: "Daily", Timezone: "Etc/GMT+3"},
			MaxInputTokens: new(int64(-1)),
		},
	}
	_, err := webhook.Validator{}.ValidateCreate(context.Background(), tb)
	fmt.Println(err)

	tb.Spec.MaxInputTokens = new(int64)
	warnings, err := webhook.Validator{}.ValidateCreate(context.Background(), tb)
	fmt.Println(err)
	for _, warning := range warnings {
		fmt.Println(warning)
	}
	// Output:
	// TaskBudget.bursar.dev "daily" is invalid: spec.maxInputTokens: Invalid value: -1: must not be negative
	// <nil>
	// spec.maxInputTokens: 0 refuses every task that the budget selects; leave it out for no limit
	// spec.period.timezone: Etc/GMT+3 is 3 hours behind UTC; the sign in this name is that of POSIX
}
