package podspec_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// threeContainers is a pod with three containers under two quotas and a LimitRange.
func threeContainers() (podspec.Snapshot, *corev1.Pod) {
	p := pod(container("main", whole), container("other", whole), sidecar("s", "cpu=250m memory=64Mi / cpu=250m memory=64Mi"))
	limits := limitRange("lr", corev1.LimitTypeContainer, "default cpu=1 memory=1Gi; max cpu=4")
	return world(limits, quota("a", fourKeys, ""), scoped(quota("b", "pods=9", ""), corev1.ResourceQuotaScopeNotBestEffort)), p
}

// BenchmarkPredict has no server to be held against; internal/integration/podspec has. Its floor is a deep copy of the pod,
// which it cannot do without.
func BenchmarkPredict(b *testing.B) {
	s, p := threeContainers()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := podspec.Predict(s, p); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPredictAgainstDeepCopy takes turns, so that a busy machine is busy for both.
func BenchmarkPredictAgainstDeepCopy(b *testing.B) {
	const turn = 50
	s, p := threeContainers()
	var predicting, copying time.Duration
	for b.Loop() {
		start := time.Now()
		for range turn {
			if _, err := podspec.Predict(s, p); err != nil {
				b.Fatal(err)
			}
		}
		predicted := time.Now()
		for range turn {
			_ = p.DeepCopy()
		}
		predicting += predicted.Sub(start)
		copying += time.Since(predicted)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(predicting)/float64(copying), "predict/deep-copy")
	b.ReportMetric(float64(predicting.Nanoseconds())/float64(b.N*turn), "ns/predict")
}

func BenchmarkExplainError(b *testing.B) {
	err := forbidden("exceeded quota: team.a, requested: limits.cpu=2,pods=1, used: limits.cpu=3500m,pods=4, limited: limits.cpu=4,pods=4")
	b.ReportAllocs()
	for b.Loop() {
		_ = podspec.ExplainError(err)
	}
}

func BenchmarkNodeRoom(b *testing.B) {
	var nodes []corev1.Node
	var pods []corev1.Pod
	for range 100 {
		nodes = append(nodes, node("a", "cpu=4 memory=8Gi pods=110"))
		pods = append(pods, bound("a", "cpu=100m memory=64Mi /"))
	}
	shape := main(whole)
	b.ReportAllocs()
	for b.Loop() {
		_ = podspec.NodeRoom(nodes, pods, shape)
	}
}
