// +kubebuilder:object:generate=true
// +groupName=bursar.dev

// Package v1alpha1 holds the custom resources of bursar: TaskBudget, which
// limits what tasks may spend, TaskRecord, which says what one finished task
// spent, and TaskHold, which sets amounts aside for one that runs.
//
// The types only carry data. What they mean is in package budget, which
// compiles a TaskBudget and turns TaskRecord and TaskHold into the values of
// package usage. Deep copies are generated.
package v1alpha1
