package podspec_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/podspec/live"
)

// BenchmarkPredictAgainstDryRun predicts a pod of three containers under two quotas and a LimitRange, and asks the API server
// the same question on the same machine. "times" is how much faster the prediction is. All three are medians.
func BenchmarkPredictAgainstDryRun(b *testing.B) {
	namespace := shared.Namespace(b, nil)
	for _, name := range []string{"compute", "more"} {
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		quota.Spec.Hard = amounts("requests.cpu", "40", "limits.memory", "80Gi")
		if err := shared.Client.Create(b.Context(), quota); err != nil {
			b.Fatal(err)
		}
	}
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "defaults"}}
	limits.Spec.Limits = []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Default: amounts("memory", "1Gi"), Max: amounts("cpu", "4")}}
	if err := shared.Client.Create(b.Context(), limits); err != nil {
		b.Fatal(err)
	}
	pod := newPod(namespace, "bot", amounts("cpu", "1", "memory", "512Mi"))
	for _, name := range []string{"proxy", "agent"} {
		pod.Spec.Containers = append(pod.Spec.Containers, *pod.Spec.Containers[0].DeepCopy())
		pod.Spec.Containers[len(pod.Spec.Containers)-1].Name = name
	}
	snapshot, err := live.Reader{Client: shared.Client, PodSecurity: podspec.Known(podspec.PodSecurityDefaults{})}.Read(b.Context(), namespace)
	if err != nil {
		b.Fatal(err)
	}
	var predicting, asking []time.Duration
	const rounds = 20 // predictions for each question to the server, the first of which finds cold caches
	for b.Loop() {
		for range rounds {
			start := time.Now()
			if _, err := podspec.Predict(snapshot, pod); err != nil {
				b.Fatal(err)
			}
			predicting = append(predicting, time.Since(start))
		}
		start := time.Now()
		live.DryRun(b.Context(), shared.Client, pod)
		asking = append(asking, time.Since(start))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(predicting), "ns/predict")
	b.ReportMetric(median(asking), "ns/dry-run")
	b.ReportMetric(median(asking)/median(predicting), "times")
}

// median is what is seen most, whatever else the machine does now and then.
func median(list []time.Duration) float64 {
	slices.Sort(list)
	return float64(list[len(list)/2].Nanoseconds())
}
