package webhook

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// Validator judges TaskBudgets. The zero value is ready, and safe for concurrent
// use. [Handler] serves it, and lets what cannot be read go where it must.
type Validator struct {
	// Clock says whether a lifetime is over, for a warning; nil is the real one.
	Clock clock.PassiveClock
	// Compile are the options with which budgets are compiled: the same as
	// those of the gate, such as budget.WithPolicies(cel.CompileRules), which
	// has a bad expression refused with its place. Without that one, every
	// budget that carries policies is refused.
	Compile []budget.CompileOption
}

var _ admission.Validator[*budgetv1alpha1.TaskBudget] = Validator{}

// ValidateCreate refuses a budget that does not compile, with every fault and
// its path, as an apierrors.StatusError of reason Invalid.
func (v Validator) ValidateCreate(_ context.Context, tb *budgetv1alpha1.TaskBudget) (admission.Warnings, error) {
	return v.judge(tb)
}

// ValidateUpdate refuses a new spec that does not compile. It lets everything
// pass that leaves the spec alone, and every change of a budget that is being
// deleted: its finalizers must come off.
func (v Validator) ValidateUpdate(_ context.Context, old, tb *budgetv1alpha1.TaskBudget) (admission.Warnings, error) {
	if !tb.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(old.Spec, tb.Spec) {
		return nil, nil
	}
	return v.judge(tb)
}

// ValidateDelete never refuses.
func (v Validator) ValidateDelete(context.Context, *budgetv1alpha1.TaskBudget) (admission.Warnings, error) {
	return nil, nil
}

func (v Validator) judge(tb *budgetv1alpha1.TaskBudget) (admission.Warnings, error) {
	rule, faults := budget.Compile(tb, v.Compile...)
	if len(faults) > 0 {
		kind := budgetv1alpha1.GroupVersion.WithKind("TaskBudget").GroupKind()
		return nil, apierrors.NewInvalid(kind, tb.Name, faults)
	}
	now := v.Clock
	if now == nil {
		now = clock.RealClock{}
	}
	return Warnings(tb, rule, now.Now()), nil
}
