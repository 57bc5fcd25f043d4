package v1alpha1_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// A budget in Go is written like its manifest. Where a program has the names from
// the constants of other packages, it converts them.
func ExampleTaskBudget() {
	tb := &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "agents", Name: "daily"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector:   &metav1.LabelSelector{}, // every task of the namespace
			Period:         budgetv1alpha1.Period{Type: "Daily", Timezone: "America/Havana"},
			MaxCostUSD:     new(resource.MustParse("10")),
			MaxInputTokens: new(int64(1_000_000)),
			Limits:         []budgetv1alpha1.Limit{{Meter: "tasks", Max: 200}},
		},
	}
	fmt.Println(tb.Spec.Period.Type == string(period.Daily), tb.Spec.Limits[0].Meter == budgetv1alpha1.MeterName(usage.Tasks))
	rule, faults := budget.Compile(tb)
	fmt.Println(rule.Name(), len(faults), "faults")
	for _, limit := range rule.Limits() {
		fmt.Println(limit.Meter, limit.Meter.Format(limit.Max))
	}
	// Output:
	// true true
	// agents/daily 0 faults
	// costUSD 10
	// inputTokens 1000000
	// tasks 200
}

// The scheme of a manager has to know the types before the manager is made.
func ExampleAddToScheme() {
	scheme := runtime.NewScheme()
	if err := budgetv1alpha1.AddToScheme(scheme); err != nil {
		fmt.Println(err)
		return
	}
	for _, kind := range []string{"TaskBudget", "TaskRecord", "TaskHold"} {
		fmt.Println(kind, scheme.Recognizes(budgetv1alpha1.GroupVersion.WithKind(kind)))
	}
	fmt.Println(budgetv1alpha1.Resource("taskbudgets"))
	// Output:
	// TaskBudget true
	// TaskRecord true
	// TaskHold true
	// taskbudgets.bursar.dev
}
