package podspec_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// BenchmarkPredict is a pod with three containers under two quotas and a LimitRange.
func BenchmarkPredict(b *testing.B) {
	p := pod(container("main", whole), container("other", whole), sidecar("s", "cpu=250m memory=64Mi / cpu=250m memory=64Mi"))
	s := world(limitRange("lr", corev1.LimitTypeContainer, "default cpu=1 memory=1Gi; max cpu=4"), quota("a", fourKeys, ""), scoped(quota("b", "pods=9", ""), corev1.ResourceQuotaScopeNotBestEffort))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := podspec.Predict(s, p); err != nil {
			b.Fatal(err)
		}
	}
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
