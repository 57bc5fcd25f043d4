package differential_test

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// chance draws everything that is random. The same seed gives the same draws.
type chance struct{ *rand.Rand }

func newChance(seed, world uint64) *chance { return &chance{rand.New(rand.NewPCG(seed, world))} }

func (c *chance) in(probability float64) bool { return c.Float64() < probability }

func pick[T any](c *chance, list ...T) T { return list[c.IntN(len(list))] }

const (
	gpu   corev1.ResourceName = "nvidia.com/gpu"
	pages corev1.ResourceName = "hugepages-2Mi"
)

// amount draws a plausible amount of a resource, or one at the edges: zero, finer than a thousandth, half a byte.
func (c *chance) amount(name corev1.ResourceName) resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return resource.MustParse(pick(c, "0", "100m", "250m", "500m", "1", "2", "3", "0.0001", "1500u", "1.0005"))
	case corev1.ResourceMemory:
		return resource.MustParse(pick(c, "0", "64Mi", "128Mi", "256Mi", "1Gi", "2Gi", "100M", "0.5", "1500m"))
	case corev1.ResourceEphemeralStorage:
		return resource.MustParse(pick(c, "0", "1Gi", "500Mi", "2G"))
	case pages:
		return resource.MustParse(pick(c, "2Mi", "4Mi", "8Mi"))
	default:
		return resource.MustParse(pick(c, "0", "1", "2"))
	}
}

// ascending draws n amounts of a resource, the smallest first.
func (c *chance) ascending(name corev1.ResourceName, n int) []resource.Quantity {
	amounts := make([]resource.Quantity, 0, n)
	for range n {
		drawn := c.amount(name)
		at := 0
		for at < len(amounts) && amounts[at].Cmp(drawn) <= 0 {
			at++
		}
		amounts = append(amounts[:at], append([]resource.Quantity{drawn}, amounts[at:]...)...)
	}
	return amounts
}

// set puts an amount in a list that may not exist yet.
func set(list *corev1.ResourceList, name corev1.ResourceName, amount resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = amount
}
