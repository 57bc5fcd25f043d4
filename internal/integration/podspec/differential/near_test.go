package differential_test

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

// near changes the first container of a pod so that the pod needs what a quota has left, or one unit more or less.
func (c *chance) near(s podspec.Snapshot, pod *corev1.Pod) error {
	if len(s.ResourceQuotas.Value) == 0 || !c.in(0.5) {
		return nil
	}
	prediction, err := podspec.Predict(s, pod)
	if err != nil {
		return fmt.Errorf("predict: %w", err)
	}
	use := pick(c, prediction.Quotas...)
	for _, key := range quotaNames[:6] {
		need, concerned := use.Delta[key]
		left, step := use.Headroom[key].DeepCopy(), pick[int64](c, -1, 0, 1)
		if !concerned || left.Sign() <= 0 {
			continue
		}
		field, name, prefixed := strings.Cut(string(key), ".")
		if !prefixed {
			name = field
		}
		amounts := &pod.Spec.Containers[0].Resources
		own := amounts.Requests
		if field == "limits" {
			own = amounts.Limits
		}
		target := own[corev1.ResourceName(name)].DeepCopy()
		target.Add(left)
		target.Sub(need)
		unit := resource.Milli
		if name == string(corev1.ResourceMemory) {
			unit = 0
		}
		target.Add(*resource.NewScaledQuantity(step, unit))
		if target.Sign() > 0 {
			set(&amounts.Requests, corev1.ResourceName(name), target)
			set(&amounts.Limits, corev1.ResourceName(name), target)
			return nil
		}
	}
	return nil
}
