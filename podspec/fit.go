package podspec

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ErrDoesNotFit says that no size that the policy allows is admitted.
var ErrDoesNotFit = errors.New("no allowed size fits")

// Adjustment is one change to a size, and why it was made. Nothing is adjusted without one.
type Adjustment struct {
	Resource corev1.ResourceName `json:"resource"`
	// From and To are the amounts; nil where there is none.
	From *resource.Quantity `json:"from,omitempty"`
	To   *resource.Quantity `json:"to,omitempty"`
	// Because says what made it necessary, in a sentence.
	Because string `json:"because"`
}

// String is the adjustment on one line.
func (a Adjustment) String() string {
	show := func(q *resource.Quantity) string {
		if q == nil {
			return "nothing"
		}
		return q.String()
	}
	return fmt.Sprintf("%s from %s to %s: %s", a.Resource, show(a.From), show(a.To), a.Because)
}

// Fitted is a pod that was sized so that its namespace admits it, or the closest that was tried.
type Fitted struct {
	// Pod is the sized pod.
	Pod *corev1.Pod `json:"pod"`
	// Size is what the main container got.
	Size Size `json:"-"`
	// Report is that of Apply.
	Report Report `json:"report"`
	// Prediction is what the namespace will say to the pod.
	Prediction Prediction `json:"prediction"`
	// Adjustments are all changes from the size that was asked for.
	Adjustments []Adjustment `json:"adjustments,omitempty"`
}

// FitPolicy says what Fit may change. It is made by Exactly, FirstOf, ClampToLimitRange and ShrinkToQuota.
type FitPolicy func(*fitting) (Fitted, error)

// fitting is what one Fit works with.
type fitting struct {
	snapshot Snapshot
	pod      *corev1.Pod
	plan     Plan
}

// Fit sizes a pod by a plan so that its namespace admits it, changing the size of the main container only as far as the
// policy allows. Every change is in the result's Adjustments. Where nothing allowed is admitted, the error wraps
// ErrDoesNotFit and says what is in the way, and the result holds the last attempt. Faults of the plan itself are those of
// Apply.
func Fit(snapshot Snapshot, pod *corev1.Pod, plan Plan, policy FitPolicy) (Fitted, error) {
	if policy == nil {
		policy = Exactly()
	}
	return policy(&fitting{snapshot: snapshot, pod: pod, plan: plan})
}

// try applies a size and predicts. The error is one of Apply.
func (f *fitting) try(size Size, adjustments []Adjustment) (Fitted, error) {
	plan := f.plan
	plan.Size = size
	pod, report, err := Apply(f.pod, plan)
	if err != nil {
		return Fitted{}, err
	}
	prediction := (&predictor{snapshot: &f.snapshot, pod: pod}).predict()
	return Fitted{Pod: pod, Size: size, Report: report, Prediction: prediction, Adjustments: adjustments}, nil
}

// verdict is the error of an attempt that is not admitted.
func (f Fitted) verdict() error {
	if f.Prediction.Verdict == Admit {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrDoesNotFit, f.obstacle())
}

// obstacle is the first thing in the way, in a sentence.
func (f Fitted) obstacle() string {
	for _, finding := range f.Prediction.Findings {
		if finding.Severity != Warns {
			return finding.Message
		}
	}
	return "the verdict is " + string(f.Prediction.Verdict)
}

// Exactly changes nothing: the size fits as it is, or not.
func Exactly() FitPolicy {
	return func(f *fitting) (Fitted, error) {
		fitted, err := f.try(f.plan.Size, nil)
		if err != nil {
			return Fitted{}, err
		}
		return fitted, fitted.verdict()
	}
}

// FirstOf tries the plan's own size, then each tier in turn, merged over it, and takes the first that is admitted.
func FirstOf(tiers ...Size) FitPolicy {
	return func(f *fitting) (Fitted, error) {
		fitted, err := f.try(f.plan.Size, nil)
		if err != nil {
			return Fitted{}, err
		}
		reason := fitted.obstacle()
		for i := 0; i < len(tiers) && fitted.verdict() != nil; i++ {
			size := Resolve(tiers[i], f.plan.Size)
			because := fmt.Sprintf("tier %d was taken, because of the size that was asked for: %s", i+1, reason)
			if fitted, err = f.try(size, differ(f.plan.Size, size, because)); err != nil {
				return Fitted{}, err
			}
		}
		return fitted, fitted.verdict()
	}
}

// differ lists the amounts in which two sizes differ.
func differ(from, to Size, because string) []Adjustment {
	var adjustments []Adjustment
	for _, name := range Resolve(from, to).Names() {
		before, had := from.Amount(name)
		after, has := to.Amount(name)
		if had && has && before.quantity.Cmp(after.quantity) == 0 {
			continue
		}
		adjustment := Adjustment{Resource: name, Because: because}
		if had {
			quantity := before.Quantity()
			adjustment.From = &quantity
		}
		if has {
			quantity := after.Quantity()
			adjustment.To = &quantity
		}
		adjustments = append(adjustments, adjustment)
	}
	return adjustments
}

// with is a size with one amount changed. Its source says that it was changed.
func (s Size) with(name corev1.ResourceName, quantity resource.Quantity, by string) Size {
	source := by
	if before, ok := s.amounts[name]; ok {
		source = before.source + ", " + by
	}
	return Resolve(Size{amounts: map[corev1.ResourceName]Amount{name: {quantity: quantity, source: source}}}, s)
}
