package podspec_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// TestAllocations guards the paths that run for every pod.
func TestAllocations(t *testing.T) {
	size := oneCore()
	s := world(limitRange("lr", corev1.LimitTypeContainer, "default cpu=1 memory=1Gi; max cpu=4"), quota("a", fourKeys, ""), scoped(quota("b", "pods=9", ""), corev1.ResourceQuotaScopeNotBestEffort))
	p := pod(container("main", whole), container("other", whole), sidecar("s", whole))
	tests := map[string]struct {
		most float64
		run  func() error
	}{
		"BuildPodResources": {16, func() error { _, err := podspec.BuildPodResources(size); return err }},
		"Predict":           {140, func() error { _, err := podspec.Predict(s, p); return err }},
	}
	for name, test := range tests {
		got := testing.AllocsPerRun(50, func() {
			if err := test.run(); err != nil {
				t.Error(err)
			}
		})
		if got > test.most {
			t.Errorf("%s allocates %v times, at most %v were agreed", name, got, test.most)
		}
	}
}
