package podspec_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

func BenchmarkBuildPodResources(b *testing.B) {
	size := podspec.MustSize(podspec.Cores(2), podspec.MiB(1024))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := podspec.BuildPodResources(size); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkApply has its floor beside it: a deep copy of the same pod, which Apply cannot do without.
func BenchmarkApply(b *testing.B) {
	always := corev1.ContainerRestartPolicyAlways
	p := pod(container("bot", ""), container("init", ""), sidecar("proxy", ""))
	p.Spec.InitContainers[1].RestartPolicy = &always
	plan := podspec.Plan{
		Main: "bot", Size: podspec.MustSize(podspec.Cores(2), podspec.MiB(1024)), Identity: podspec.Identity{Workload: "w"},
		Containers: map[string]podspec.Size{"proxy": podspec.MustSize(podspec.CPU("100m"), podspec.MiB(64))},
	}
	b.Run("apply", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := podspec.Apply(p, plan); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("deep copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = p.DeepCopy()
		}
	})
}

func BenchmarkNewSize(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := podspec.NewSize(podspec.CPU("500m"), podspec.Memory("1Gi")); err != nil {
			b.Fatal(err)
		}
	}
}
