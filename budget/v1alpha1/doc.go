// +kubebuilder:object:generate=true
// +groupName=bursar.dev

// Package v1alpha1 holds the custom resources of bursar: TaskBudget, which
// limits what tasks may spend, TaskRecord, which says what one finished task
// spent, and TaskHold, which sets amounts aside for one that runs.
//
// The types only carry data. What they mean is in package budget, which
// compiles a TaskBudget and turns TaskRecord and TaskHold into the values of
// package usage. Deep copies are generated.
//
// In Go, a budget is written like its manifest: names of periods and meters are
// plain text, and what may be absent is a pointer.
//
//	budgetv1alpha1.TaskBudgetSpec{
//		TaskSelector:   &metav1.LabelSelector{}, // every task of the namespace
//		Period:         budgetv1alpha1.Period{Type: "Daily", Timezone: "America/Havana"},
//		MaxCostUSD:     new(resource.MustParse("10")),
//		MaxInputTokens: new(int64(1_000_000)),
//		Limits:         []budgetv1alpha1.Limit{{Meter: "tasks", Max: 200}},
//	}
//
// The constants of packages period and usage say the same: string(period.Daily),
// budgetv1alpha1.MeterName(usage.Tasks). Package budget/v1alpha1 imports neither,
// so that clients of the API need nothing of them.
package v1alpha1
