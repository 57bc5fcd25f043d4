package podspec

import (
	"math/big"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// QuotaRoom is how many more pods of a shape the quotas of a namespace take.
type QuotaRoom struct {
	// Limited is false if no quota limits such pods; Fits means nothing then.
	Limited bool `json:"limited"`
	// Fits is the number, never negative.
	Fits int64 `json:"fits"`
	// Quota and Resource are what is used up first.
	Quota    string              `json:"quota,omitempty"`
	Resource corev1.ResourceName `json:"resource,omitempty"`
}

// QuotaRoom is the least over all quotas that concern the pod, and over all resources of which it uses something, of hard
// minus used divided by the use. Quotas that have not been counted yet limit nothing, as on the server.
func (o Outcome) QuotaRoom() QuotaRoom {
	var room QuotaRoom
	for i := range o.Quotas {
		use := &o.Quotas[i]
		for _, name := range sortedNames(use.Delta) {
			n, ok := times(use.Headroom[name], use.Delta[name])
			if ok && (!room.Limited || n < room.Fits) {
				room = QuotaRoom{Limited: true, Fits: n, Quota: use.Name, Resource: name}
			}
		}
	}
	return room
}

// times is how often an amount goes into another one, exactly.
func times(free, need resource.Quantity) (int64, bool) {
	have, errHave := exactQuantity(free)
	want, errWant := exactQuantity(need)
	if errHave != nil || errWant != nil || want.Sign() <= 0 {
		return 0, false
	}
	if have.Sign() <= 0 {
		return 0, true
	}
	quotient := have.Quo(have, want)
	whole := new(big.Int).Quo(quotient.Num(), quotient.Denom())
	if !whole.IsInt64() {
		return 0, false
	}
	return whole.Int64(), true
}

// Room is how many more pods of a shape fit both on the nodes and in the quotas.
func Room(nodes Capacity, quotas QuotaRoom) int64 {
	if quotas.Limited {
		return min(nodes.Total, quotas.Fits)
	}
	return nodes.Total
}
