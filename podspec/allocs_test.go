package podspec_test

import (
	"testing"

	"github.com/bursar-dev/bursar/podspec"
)

// TestAllocations guards the paths that run for every pod.
func TestAllocations(t *testing.T) {
	size := oneCore()
	s, p := threeContainers()
	tests := map[string]struct {
		most float64
		run  func() error
	}{
		"BuildPodResources": {16, func() error { _, err := podspec.BuildPodResources(size); return err }},
		"Predict":           {48, func() error { _, err := podspec.Predict(s, p); return err }},
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
