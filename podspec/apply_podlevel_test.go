package podspec_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

func TestPodLevelResources(t *testing.T) {
	levelled := func(level, main string) *corev1.Pod {
		p := pod(container("a", main), sidecar("s", ""))
		r := resources(level)
		p.Spec.Resources = &r
		return p
	}
	size := podspec.Resolve(oneCore(), podspec.MustSize(podspec.GPU(1), podspec.EphemeralStorage("1Gi"), podspec.Text("hugepages-2Mi", "2Mi")))
	if _, _, err := podspec.Apply(levelled("/ cpu=2", ""), podspec.Plan{Size: size}); !errors.Is(err, podspec.ErrPodLevel) {
		t.Errorf("got %v, want ErrPodLevel", err)
	}
	got, _, err := podspec.Apply(levelled("/ cpu=2", ""), podspec.Plan{Size: size, PodLevel: podspec.SizePod, Containers: map[string]podspec.Size{"s": podspec.MustSize(podspec.Cores(0.25))}})
	if err != nil {
		t.Fatal(err)
	}
	if level := shown(*got.Spec.Resources); level != "cpu=2 memory=1Gi hugepages-2Mi=2Mi / cpu=2 memory=1Gi hugepages-2Mi=2Mi" {
		t.Errorf("pod level %v", level)
	}
	want := map[string]string{"a": "ephemeral-storage=1Gi nvidia.com/gpu=1 / ephemeral-storage=1Gi nvidia.com/gpu=1", "s": "cpu=250m / cpu=250m"}
	if diff := cmp.Diff(want, byName(got)); diff != "" {
		t.Error(diff)
	}
	got, _, err = podspec.Apply(levelled("/ cpu=2", ""), podspec.Plan{Size: oneCore(), PodLevel: podspec.SizeContainers, Sidecars: podspec.LeaveAlone})
	if err != nil || shown(*got.Spec.Resources) != "/ cpu=2" || shown(got.Spec.Containers[0].Resources) != whole {
		t.Errorf("got %v, %v", got, err)
	}
	if _, _, err := podspec.Apply(levelled("/ cpu=2", ""), podspec.Plan{Size: podspec.MustSize(podspec.Cores(1)), PodLevel: podspec.SizePod}); !errors.Is(err, podspec.ErrIncomplete) {
		t.Errorf("got %v, want ErrIncomplete", err)
	}
	if _, _, err := podspec.Apply(levelled("", ""), podspec.Plan{Size: oneCore(), Sidecars: podspec.LeaveAlone}); err != nil {
		t.Errorf("empty pod-level resources are none: %v", err)
	}
}

func TestR2EveryInitContainerIsSized(t *testing.T) {
	p := pod(container("main", ""), container("init-a", ""), container("init-b", "cpu=1 / cpu=1"))
	got, _, err := podspec.Apply(p, podspec.Plan{Size: oneCore()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"main": whole, "init-a": whole, "init-b": whole}, byName(got)); diff != "" {
		t.Error(diff)
	}
}
