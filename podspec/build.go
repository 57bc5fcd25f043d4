package podspec

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Option changes how resources are built from a size.
type Option func(*builder)

// builder is what the options of one call add up to.
type builder struct {
	required []corev1.ResourceName
	zero     ZeroPolicy
	floors   corev1.ResourceList
	caps     corev1.ResourceList
	requests corev1.ResourceList
	fraction *big.Rat
	// misused are the faults of the options themselves, found those of the size, in the dimensions that wrong has.
	misused faults
	found   []*SizeError
	wrong   map[corev1.ResourceName]bool
}

// WithRequired replaces the dimensions that a size must set; the default is cpu and memory, which quotas demand of every
// container. Without arguments nothing is required.
func WithRequired(names ...corev1.ResourceName) Option {
	return func(b *builder) { b.required = slices.Clone(names) }
}

// WithZero says what a zero in the size means; see [ZeroPolicy]. Under ZeroDefault zero cpu, memory or storage is an ErrZero
// and zero devices are left out.
func WithZero(policy ZeroPolicy) Option { return func(b *builder) { b.zero = policy } }

// WithFloor refuses amounts of a resource below a least one (ErrBelowMinimum).
func WithFloor(name corev1.ResourceName, least resource.Quantity) Option {
	return func(b *builder) { b.floors = with(b.floors, name, least) }
}

// WithCap refuses amounts of a resource above a most one (ErrAboveMaximum).
func WithCap(name corev1.ResourceName, most resource.Quantity) Option {
	return func(b *builder) { b.caps = with(b.caps, name, most) }
}

// WithRequest sets the request of one resource apart from its limit, which gives up Guaranteed QoS. A request above the limit
// is ErrRequestExceedsLimit. Devices and hugepages cannot be overcommitted: there, any difference is ErrUnequal.
func WithRequest(name corev1.ResourceName, quantity resource.Quantity) Option {
	return func(b *builder) { b.requests = with(b.requests, name, quantity) }
}

// WithRequestFraction makes the requests of cpu, memory and ephemeral storage a fraction of their limits, greater than 0 and
// at most 1, which gives up Guaranteed QoS. They are rounded up to whole millicores and whole MiB, never above the limit.
func WithRequestFraction(fraction float64) Option {
	return func(b *builder) {
		if math.IsNaN(fraction) || fraction <= 0 || fraction > 1 {
			b.misused.add(fmt.Errorf("%w: WithRequestFraction %v is not greater than 0 and at most 1", ErrOption, fraction))
			return
		}
		b.fraction = new(big.Rat).SetFloat64(fraction)
	}
}

func with(list corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) corev1.ResourceList {
	if list == nil {
		list = corev1.ResourceList{}
	}
	list[name] = quantity.DeepCopy()
	return list
}

// BuildPodResources gives the resources of a container of a size: one value per dimension sets both request and limit, so
// that the pod is Guaranteed; cpu 2 becomes "2", 0.5 "500m", memory 1024 MiB "1Gi". Cpu and memory have to be set (see
// [WithRequired]); what is missing, out of bounds or zero is reported all at once. The caller owns the result.
func BuildPodResources(size Size, options ...Option) (corev1.ResourceRequirements, error) {
	b := newBuilder(options)
	resources := b.build(size)
	for _, name := range sortedNames(b.requests) {
		if _, set := size.amounts[name]; !set {
			b.found = append(b.found, fault(ErrIncomplete, clip(string(name)), "", "has a request and no size", ""))
		}
	}
	found := slices.Clone(b.misused)
	for _, wrong := range b.found {
		found.add(wrong)
	}
	found.add(b.complete("size", resources))
	if err := found.err(); err != nil {
		return corev1.ResourceRequirements{}, err
	}
	return resources, nil
}

func newBuilder(options []Option) *builder {
	b := &builder{required: []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}, wrong: map[corev1.ResourceName]bool{}}
	for _, option := range options {
		if option != nil {
			option(b)
		}
	}
	return b
}

// build writes what the size sets; faults are collected in the order of the names.
func (b *builder) build(size Size) corev1.ResourceRequirements {
	resources := corev1.ResourceRequirements{
		Requests: make(corev1.ResourceList, len(size.amounts)),
		Limits:   make(corev1.ResourceList, len(size.amounts)),
	}
	for _, name := range size.Names() {
		amount := size.amounts[name]
		keep, wrong := b.check(name, amount)
		if len(wrong) > 0 {
			b.found, b.wrong[name] = append(b.found, wrong...), true
			continue
		}
		if keep {
			resources.Limits[name] = amount.Quantity()
			resources.Requests[name] = b.request(name, amount)
		}
	}
	return resources
}

// check holds an amount to the options; keep is false for a zero that is left out.
func (b *builder) check(name corev1.ResourceName, amount Amount) (keep bool, wrong []*SizeError) {
	quantity := amount.quantity
	if quantity.IsZero() {
		if b.zero == ZeroDefault && !isDevice(name) {
			wrong = append(wrong, fault(ErrZero, string(name), amount.String(), "", "leave it unset, or declare what zero means with WithZero"))
		}
		return b.zero == ZeroExplicit, wrong
	}
	if least, ok := b.floors[name]; ok && quantity.Cmp(least) < 0 {
		wrong = append(wrong, fault(ErrBelowMinimum, string(name), amount.String(), "is below the minimum of "+least.String(), ""))
	}
	if most, ok := b.caps[name]; ok && quantity.Cmp(most) > 0 {
		wrong = append(wrong, fault(ErrAboveMaximum, string(name), amount.String(), "is above the maximum of "+most.String(), ""))
	}
	return true, append(wrong, b.checkRequest(name, quantity)...)
}

// checkRequest holds a request of its own to its limit.
func (b *builder) checkRequest(name corev1.ResourceName, limit resource.Quantity) []*SizeError {
	request, given := b.requests[name]
	switch order := request.Cmp(limit); {
	case !given:
		return nil
	case request.Sign() < 0:
		return []*SizeError{fault(ErrNegative, string(name), request.String(), "", "")}
	case order > 0:
		return []*SizeError{exceeds(string(name), request, limit)}
	case order < 0 && !overcommits(name):
		return []*SizeError{fault(ErrUnequal, string(name), request.String(), "request differs from limit "+limit.String(), "devices and hugepages are never overcommitted")}
	}
	return nil
}

// request is the request that belongs to an amount.
func (b *builder) request(name corev1.ResourceName, amount Amount) resource.Quantity {
	if given, ok := b.requests[name]; ok {
		return given.DeepCopy()
	}
	if b.fraction == nil || !overcommits(name) || amount.quantity.IsZero() {
		return amount.Quantity()
	}
	return scale(name, amount.quantity, b.fraction)
}

// overcommits says whether the request of a resource may be smaller than its limit.
func overcommits(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	}
	return false
}

// scale is a factor of an amount in whole millicores, whole MiB or whole devices, rounded up, at least one of them. A factor of one
// at most never gives more than the amount.
func scale(name corev1.ResourceName, amount resource.Quantity, factor *big.Rat) resource.Quantity {
	count, step := big.NewInt(amount.Value()), int64(1)
	switch {
	case name == corev1.ResourceCPU:
		count.SetInt64(amount.MilliValue())
	case !isDevice(name):
		step = 1 << 20
	}
	exact := new(big.Rat).Mul(new(big.Rat).SetInt(count), factor)
	steps := ceil(exact.Quo(exact, new(big.Rat).SetInt64(step)))
	scaled := steps.Mul(steps, big.NewInt(step))
	if factor.Cmp(big.NewRat(1, 1)) <= 0 && scaled.Cmp(count) > 0 {
		scaled = count
	}
	most := big.NewInt(absoluteMax)
	if most.Cmp(count) < 0 {
		most = count
	}
	if scaled.Cmp(most) > 0 {
		scaled = most
	}
	return quantityOf(name, scaled.Int64())
}

// complete reports required dimensions that have no limit, unless a fault was found in them already. A limit without a
// request is complete: the API server makes it the request too. A zero is none where zero means unset.
func (b *builder) complete(field string, resources corev1.ResourceRequirements) error {
	var missing []string
	for _, name := range b.required {
		limit, limited := resources.Limits[name]
		if (!limited || b.zero == ZeroUnset && limit.IsZero()) && !b.wrong[name] {
			missing = append(missing, string(name))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fault(ErrIncomplete, field, "", "does not set "+strings.Join(missing, ", "), "a namespace whose quota counts them rejects the pod; set them, or say with WithRequired what is needed")
}
