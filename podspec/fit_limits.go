package podspec

import (
	"fmt"
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ClampToLimitRange brings the size within the bounds that the LimitRanges of the namespace set for containers: up to the
// largest min, down to the smallest max. It never goes below floor, which may be the zero Size.
func ClampToLimitRange(floor Size) FitPolicy {
	return func(f *fitting) (Fitted, error) {
		size := f.plan.Size
		var adjustments []Adjustment
		for i := range f.snapshot.LimitRanges.Value {
			limits := &f.snapshot.LimitRanges.Value[i]
			for j := range limits.Spec.Limits {
				if item := &limits.Spec.Limits[j]; item.Type == corev1.LimitTypeContainer {
					size, adjustments = clamp(size, item, "LimitRange "+limits.Name, adjustments)
				}
			}
		}
		if err := above(floor, size); err != nil {
			return Fitted{}, err
		}
		fitted, err := f.try(size, adjustments)
		if err != nil {
			return Fitted{}, err
		}
		return fitted, fitted.verdict()
	}
}

// clamp applies one item.
func clamp(size Size, item *corev1.LimitRangeItem, object string, adjustments []Adjustment) (Size, []Adjustment) {
	least, most := rounded(item.Min), rounded(item.Max)
	for _, name := range size.Names() {
		before := size.amounts[name].Quantity()
		after := before
		if bound, ok := least[name]; ok && after.Cmp(bound) < 0 {
			after = bound.DeepCopy()
		}
		if bound, ok := most[name]; ok && after.Cmp(bound) > 0 {
			after = bound.DeepCopy()
		}
		if after.Cmp(before) == 0 {
			continue
		}
		adjustments = append(adjustments, Adjustment{Resource: name, From: &before, To: &after, Because: object + " allows no other amount"})
		size = size.with(name, after, "held to "+object)
	}
	return size, adjustments
}

// above refuses a size that is below its floor.
func above(floor, size Size) error {
	for _, name := range floor.Names() {
		least := floor.amounts[name].quantity
		if amount, ok := size.amounts[name]; ok && amount.quantity.Cmp(least) < 0 {
			return fmt.Errorf("%w: %s would be %s, below the floor of %s", ErrDoesNotFit, name, amount.quantity.String(), least.String())
		}
	}
	return nil
}

// shrinkRounds bounds the attempts of ShrinkToQuota: each one removes what the quotas still lack, which with sidecars and
// init containers may take more than one.
const shrinkRounds = 5

// ShrinkToQuota takes away what the quotas of the namespace lack, down to floor. Only resources that the floor sets are
// touched: an amount without a floor is not negotiable. Cpu shrinks by whole millicores, memory and storage to whole MiB,
// devices by whole ones.
func ShrinkToQuota(floor Size) FitPolicy {
	return func(f *fitting) (Fitted, error) {
		fitted, err := f.try(f.plan.Size, nil)
		if err != nil {
			return Fitted{}, err
		}
		for round := 0; round < shrinkRounds && fitted.Prediction.Verdict == Reject; round++ {
			size, adjustments, changed := shrink(fitted, floor)
			if !changed {
				break
			}
			if fitted, err = f.try(size, adjustments); err != nil {
				return Fitted{}, err
			}
		}
		return fitted, fitted.verdict()
	}
}

// shrink takes one step: the largest lack of each resource.
func shrink(fitted Fitted, floor Size) (size Size, adjustments []Adjustment, changed bool) {
	size, adjustments = fitted.Size, fitted.Adjustments
	for _, finding := range fitted.Prediction.Findings {
		if finding.Category != CategoryQuotaExceeded || finding.Severity != Refuses {
			continue
		}
		name := ofQuota(finding.Resource)
		amount, sized := size.amounts[name]
		least, negotiable := floor.amounts[name]
		if !sized || !negotiable {
			continue
		}
		lack := finding.Have.DeepCopy()
		lack.Add(*finding.Need)
		lack.Sub(*finding.Bound)
		target := fitted.Size.amounts[name].Quantity()
		target.Sub(lack)
		target = whole(name, target)
		if target.Cmp(least.quantity) < 0 {
			target = least.Quantity()
		}
		if before := amount.Quantity(); target.Cmp(before) < 0 {
			adjustments = append(adjustments, Adjustment{Resource: name, From: &before, To: &target, Because: finding.Message})
			size, changed = size.with(name, target, "shrunk to "+finding.Object), true
		}
	}
	return size, adjustments, changed
}

// ofQuota is the resource of a container that a resource of a quota counts.
func ofQuota(name corev1.ResourceName) corev1.ResourceName {
	text := strings.TrimPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
	return corev1.ResourceName(strings.TrimPrefix(text, "limits."))
}

// whole rounds down to whole millicores, MiB, or devices. What is not positive becomes zero.
func whole(name corev1.ResourceName, quantity resource.Quantity) resource.Quantity {
	exact, err := exactQuantity(quantity)
	if err != nil || exact.Sign() <= 0 {
		return resource.Quantity{}
	}
	step := big.NewRat(1, 1)
	switch {
	case name == corev1.ResourceCPU:
		step.SetFrac64(1, 1000)
	case !isDevice(name):
		step.SetInt64(1 << 20)
	}
	steps := exact.Quo(exact, step)
	count := new(big.Int).Quo(steps.Num(), steps.Denom()).Int64()
	if name != corev1.ResourceCPU && !isDevice(name) {
		count <<= 20
	}
	return quantityOf(name, count)
}

// GrowAfterOOM is a size with more memory, for a container that ran out of it: factor times as much, rounded up to whole
// MiB, at most most. Factor is greater than 1 and at most 16. The adjustment says what was done; a size that has no memory,
// or has most already, is ErrDoesNotFit.
func GrowAfterOOM(size Size, factor float64, most resource.Quantity) (Size, Adjustment, error) {
	ratio := new(big.Rat)
	if !(factor > 1 && factor <= 16) {
		return Size{}, Adjustment{}, fmt.Errorf("%w: the factor %v is not greater than 1 and at most 16", ErrOption, factor)
	}
	ratio.SetFloat64(factor)
	if _, err := NewSize(Exact(corev1.ResourceMemory, most).Field("most")); err != nil {
		return Size{}, Adjustment{}, err
	}
	memory, ok := size.Memory()
	if !ok {
		return Size{}, Adjustment{}, fmt.Errorf("%w: the size sets no memory that could grow", ErrDoesNotFit)
	}
	before := memory.Quantity()
	if before.Cmp(most) >= 0 {
		return Size{}, Adjustment{}, fmt.Errorf("%w: memory is %s already, and may be at most %s", ErrDoesNotFit, before.String(), most.String())
	}
	after := scale(corev1.ResourceMemory, before, ratio)
	if after.Cmp(most) > 0 {
		after = most.DeepCopy()
	}
	adjustment := Adjustment{Resource: corev1.ResourceMemory, From: &before, To: &after, Because: "the container ran out of memory"}
	return size.with(corev1.ResourceMemory, after, "grown after OOMKilled"), adjustment, nil
}
