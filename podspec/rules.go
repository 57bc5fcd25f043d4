package podspec

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ZeroPolicy says what an amount of zero means.
type ZeroPolicy int

const (
	// ZeroDefault refuses zero cpu, memory and storage with ErrZero: to the API server such a request counts as declared,
	// yet it reserves nothing. Zero devices are a declaration that no device is wanted, and are left out of the pod.
	ZeroDefault ZeroPolicy = iota
	// ZeroUnset takes zero for "not declared".
	ZeroUnset
	// ZeroExplicit keeps a zero and writes it on the pod.
	ZeroExplicit
)

// Rules say how written amounts are read. The zero value is the strict default.
type Rules struct {
	// Zero is what an amount of zero means.
	Zero ZeroPolicy
	// RoundUpTiny makes cpu amounts between zero and one millicore 1m, where they are refused otherwise.
	RoundUpTiny bool
	// Floors replaces the smallest amount of a resource. Default: cpu 1m, memory 4Mi (which catches "4096" meant as MiB),
	// everything else 1. A floor never applies to a zero that the zero policy lets through.
	Floors corev1.ResourceList
	// Caps replaces the largest amount of a resource. Default: cpu 1024 cores, memory 64Ti, storage 1Pi, everything else
	// 2^50. Amounts above 2^60 (of millicores, bytes or devices) are refused whatever the cap says, so that sums cannot
	// overflow.
	Caps corev1.ResourceList
}

const (
	defaultMaxMilliCPU = 1024 * 1000
	defaultMinMemory   = 4 << 20
	defaultMaxMemory   = 64 << 40
	defaultMaxOther    = 1 << 50
	absoluteMax        = 1 << 60
	maxResourceName    = 253 + 1 + 63
)

// Size reads the dimensions and reports every fault in them. A dimension that is written twice is an error (merging is
// what [Resolve] does); one that is unset stays unset.
func (r Rules) Size(dimensions ...Dimension) (Size, error) {
	var found faults
	amounts := make(map[corev1.ResourceName]Amount, len(dimensions))
	for _, d := range dimensions {
		amount, set, err := r.read(d)
		if err != nil {
			found.add(err)
			continue
		}
		if !set {
			continue
		}
		if _, twice := amounts[d.name]; twice {
			found.add(fault(ErrConflict, d.at(), d.text, "is written twice", "merge layers with Resolve"))
			continue
		}
		amounts[d.name] = amount
	}
	if err := found.err(); err != nil {
		return Size{}, err
	}
	return Size{amounts: amounts}, nil
}

// read turns one dimension into an amount; set is false where nothing was declared.
func (r Rules) read(d Dimension) (amount Amount, set bool, err error) {
	d.text = strings.TrimSpace(d.text)
	if d.unit == unitUnset || (d.text == "" && d.unit != unitExact) {
		return Amount{}, false, nil
	}
	count, err := r.count(&d)
	var found faults
	if wrong := checkResourceName(d.name); wrong != nil {
		wrong.Field = d.at()
		found.add(wrong)
	}
	found.add(err)
	if err := found.err(); err != nil {
		return Amount{}, false, err
	}
	if count == 0 && r.Zero == ZeroUnset {
		return Amount{}, false, nil
	}
	source := d.source
	if source == "" {
		source = sourceCode
	}
	return Amount{quantity: stored(d, count), source: source}, true, nil
}

// count is what was written, in the dimension's unit.
func (r Rules) count(d *Dimension) (int64, error) {
	value, err := d.exact()
	if err != nil {
		return 0, err
	}
	return r.whole(*d, value)
}

// whole brings an exact value to the whole count of the dimension's unit: millicores for cpu, bytes or devices else.
func (r Rules) whole(d Dimension, value *big.Rat) (int64, error) {
	switch value.Sign() {
	case -1:
		return 0, fault(ErrNegative, d.at(), d.text, "", "")
	case 0:
		if r.Zero == ZeroDefault && !isDevice(d.name) {
			return 0, fault(ErrZero, d.at(), d.text, "", "leave it unset, or declare what zero means with Rules.Zero")
		}
		return 0, nil
	}
	count := new(big.Int)
	if d.name == corev1.ResourceCPU {
		milli := value.Mul(value, big.NewRat(1000, 1))
		if !r.RoundUpTiny && new(big.Rat).Mul(milli, big.NewRat(1e9+1, 1)).Cmp(big.NewRat(1e9, 1)) < 0 {
			return 0, fault(ErrBelowMinimum, d.at(), d.text, "is less than one millicore", "the smallest cpu amount is 1m")
		}
		count = snap(milli)
	} else {
		if !value.IsInt() {
			return 0, d.fraction()
		}
		count.Set(value.Num())
	}
	return r.bounded(d, count)
}

// bounded holds a positive count to the floor and the cap of its resource.
func (r Rules) bounded(d Dimension, count *big.Int) (int64, error) {
	var found faults
	floor, err := boundOf(d.name, r.Floors, defaultFloor(d.name))
	found.add(err)
	if err == nil && count.Cmp(big.NewInt(floor)) < 0 {
		least := quantityOf(d.name, floor)
		found.add(fault(ErrBelowMinimum, d.at(), d.text, "is below the minimum of "+least.String(), smallHint(d)))
	}
	top, err := boundOf(d.name, r.Caps, defaultCap(d.name))
	found.add(err)
	if err == nil && count.Cmp(big.NewInt(min(top, absoluteMax))) > 0 {
		most := quantityOf(d.name, min(top, absoluteMax))
		found.add(fault(ErrAboveMaximum, d.at(), d.text, "is above the maximum of "+most.String(), "raise it with Rules.Caps if it is meant"))
	}
	if size, paged := pageSize(d.name); paged && new(big.Int).Rem(count, big.NewInt(size)).Sign() != 0 {
		found.add(fault(ErrFraction, d.at(), d.text, "is no multiple of the page size", ""))
	}
	return count.Int64(), found.err()
}

// boundOf is a bound in the unit of the resource. A bound that is finer than the unit is rounded up.
func boundOf(name corev1.ResourceName, list corev1.ResourceList, otherwise int64) (int64, error) {
	quantity, given := list[name]
	if !given {
		return otherwise, nil
	}
	exact, err := exactQuantity(quantity)
	if err != nil || exact.Sign() < 0 {
		return 0, fault(ErrOption, clip(string(name)), "", "has a floor or cap that is negative or not finite", "")
	}
	if name == corev1.ResourceCPU {
		exact.Mul(exact, big.NewRat(1000, 1))
	}
	count := ceil(exact)
	if !count.IsInt64() {
		return math.MaxInt64, nil
	}
	return count.Int64(), nil
}

func defaultFloor(name corev1.ResourceName) int64 {
	if name == corev1.ResourceMemory {
		return defaultMinMemory
	}
	return 1
}

func defaultCap(name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return defaultMaxMilliCPU
	case corev1.ResourceMemory:
		return defaultMaxMemory
	}
	return defaultMaxOther
}

// stored is the quantity of a count: decimal where it was written so, binary otherwise.
func stored(d Dimension, count int64) resource.Quantity {
	if d.unit == unitQuantity && !strings.HasSuffix(d.text, "i") && d.name != corev1.ResourceCPU {
		return *resource.NewQuantity(count, resource.DecimalSI)
	}
	if d.unit == unitExact && d.quantity.Format != resource.BinarySI && d.name != corev1.ResourceCPU {
		return *resource.NewQuantity(count, resource.DecimalSI)
	}
	return quantityOf(d.name, count)
}

// quantityOf is the quantity of a count in the format that suits the resource.
func quantityOf(name corev1.ResourceName, count int64) resource.Quantity {
	switch {
	case name == corev1.ResourceCPU:
		return *resource.NewMilliQuantity(count, resource.DecimalSI)
	case isDevice(name):
		return *resource.NewQuantity(count, resource.DecimalSI)
	}
	return *resource.NewQuantity(count, resource.BinarySI)
}

// exactQuantity is a quantity as a fraction. A quantity whose exponent is beyond any real amount is refused, since its
// digits alone would fill the memory.
func exactQuantity(quantity resource.Quantity) (*big.Rat, error) {
	copied := quantity.DeepCopy()
	decimal := copied.AsDec()
	scale := int(decimal.Scale())
	if scale > maxExponent || scale < -maxExponent || decimal.UnscaledBig().BitLen() > 64*maxText {
		return nil, fmt.Errorf("quantity with exponent %d: %w", -scale, ErrNotFinite)
	}
	return shift(decimal.UnscaledBig(), -scale), nil
}
