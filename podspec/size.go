package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// sourceCode is the source of amounts whose author named none.
const sourceCode = "code"

// Amount is what one dimension of a size is set to, and who set it.
type Amount struct {
	quantity resource.Quantity
	source   string
}

// Quantity is the amount: whole millicores, bytes or devices. The caller owns the copy.
func (a Amount) Quantity() resource.Quantity { return a.quantity.DeepCopy() }

// Source is where the amount comes from: "code", "spec", "profile meeting-bot", "env RUNTIME_BOT_CPU".
func (a Amount) Source() string { return a.source }

// String is the amount and its source: "500m (env RUNTIME_BOT_CPU)".
func (a Amount) String() string { return a.quantity.String() + " (" + a.source + ")" }

// Equal says whether both value and source are the same; the spelling of the quantity does not matter.
func (a Amount) Equal(b Amount) bool { return a.quantity.Cmp(b.quantity) == 0 && a.source == b.source }

// Size is what a container may consume: an exact amount for each dimension that somebody set. The zero Size sets nothing.
// Sizes are immutable and safe for concurrent use.
type Size struct {
	amounts map[corev1.ResourceName]Amount
}

// NewSize reads dimensions by the default [Rules] and reports every fault in them:
//
//	size, err := podspec.NewSize(podspec.Cores(0.5), podspec.MiB(1024), podspec.GPU(1))
func NewSize(dimensions ...Dimension) (Size, error) { return Rules{}.Size(dimensions...) }

// MustSize is NewSize for constants in code. It panics where NewSize returns an error.
func MustSize(dimensions ...Dimension) Size {
	size, err := NewSize(dimensions...)
	if err != nil {
		panic(err) //nolint:forbidigo // the sizes it is given are constants of the caller's code, and a wrong one is a fault in it
	}
	return size
}

// Amount is the amount of a resource; false if nobody set it.
func (s Size) Amount(name corev1.ResourceName) (Amount, bool) {
	amount, set := s.amounts[name]
	return amount, set
}

// CPU is the cpu amount; false if nobody set it.
func (s Size) CPU() (Amount, bool) { return s.Amount(corev1.ResourceCPU) }

// Memory is the memory amount; false if nobody set it.
func (s Size) Memory() (Amount, bool) { return s.Amount(corev1.ResourceMemory) }

// EphemeralStorage is the amount of ephemeral storage; false if nobody set it.
func (s Size) EphemeralStorage() (Amount, bool) { return s.Amount(corev1.ResourceEphemeralStorage) }

// Names are the resources that are set, sorted.
func (s Size) Names() []corev1.ResourceName { return sortedNames(s.amounts) }

// IsZero says that nothing is set.
func (s Size) IsZero() bool { return len(s.amounts) == 0 }

// Equal says whether the same dimensions are set to the same amounts from the same sources.
func (s Size) Equal(other Size) bool { return maps.EqualFunc(s.amounts, other.amounts, Amount.Equal) }

// String lists what is set: "cpu=500m (env RUNTIME_BOT_CPU), memory=1Gi (code)".
func (s Size) String() string {
	if s.IsZero() {
		return "(nothing set)"
	}
	parts := make([]string, 0, len(s.amounts))
	for _, name := range s.Names() {
		parts = append(parts, fmt.Sprintf("%s=%v", name, s.amounts[name]))
	}
	return strings.Join(parts, ", ")
}

// Resolve merges layers per dimension: for each resource the first layer that sets it wins, with its source. A spec that
// sets cpu only keeps the memory of the profile below it.
func Resolve(layers ...Size) Size {
	merged := map[corev1.ResourceName]Amount{}
	for _, layer := range layers {
		for name, amount := range layer.amounts {
			if _, taken := merged[name]; !taken {
				merged[name] = amount
			}
		}
	}
	return Size{amounts: merged}
}

// SizeOf reads a size back from the resources of a container, which has one only where each request equals its limit (a
// limit without a request is its own request). Source is the provenance of what is found. Every request above its limit
// (ErrRequestExceedsLimit), every other difference (ErrUnequal) and every amount that is refused by the zero-tolerant
// default rules is reported.
func SizeOf(resources corev1.ResourceRequirements, source string) (Size, error) {
	var found faults
	amounts := map[corev1.ResourceName]Amount{}
	for _, name := range resourceNames(resources) {
		p := figuresOf(resources.Requests, resources.Limits, name)
		field := clip(string(name))
		switch {
		case !p.limited:
			found.add(fault(ErrUnequal, field, p.request.String(), "has a request and no limit", "set the limit to the same amount"))
		case p.requested && p.request.Cmp(p.limit) > 0:
			found.add(exceeds(field, p.request, p.limit))
		case p.requested && p.request.Cmp(p.limit) < 0:
			found.add(fault(ErrUnequal, field, p.request.String(), "request differs from limit "+p.limit.String(), "one value sets both"))
		}
		read := func(quantity resource.Quantity) {
			amount, _, err := Rules{Zero: ZeroExplicit}.read(Exact(name, quantity).From(source))
			found.add(err)
			amounts[name] = amount
		}
		if p.requested && (!p.limited || p.request.Cmp(p.limit) != 0) {
			read(p.request)
		}
		if p.limited {
			read(p.limit)
		}
	}
	if err := found.err(); err != nil {
		return Size{}, err
	}
	return Size{amounts: amounts}, nil
}

// exceeds is the fault of a request above its limit, with both figures.
func exceeds(field string, request, limit resource.Quantity) *SizeError {
	return fault(ErrRequestExceedsLimit, field, request.String(), "request exceeds limit "+limit.String(), "an API server refuses such a pod; lower the request or raise the limit")
}

func sortedNames[V any](list map[corev1.ResourceName]V) []corev1.ResourceName {
	if len(list) == 0 {
		return nil
	}
	return appendNames(make([]corev1.ResourceName, 0, len(list)), list)
}

// appendNames is sortedNames for those who have a place for the names: an array of theirs costs no allocation. Lists of more
// than few names outgrow it.
func appendNames[V any](place []corev1.ResourceName, list map[corev1.ResourceName]V) []corev1.ResourceName {
	for name := range list {
		place = append(place, name)
	}
	slices.Sort(place)
	return place
}

// few is how many resources nearly every list of amounts has at most.
const few = 8

// resourceNames are the names in requests or limits, sorted.
func resourceNames(resources corev1.ResourceRequirements) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(resources.Requests)+len(resources.Limits))
	for name := range resources.Requests {
		names = append(names, name)
	}
	for name := range resources.Limits {
		if _, both := resources.Requests[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
