package podspec_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/podspec"
)

func TestFact24FinishedPodsCountAsObjectsOnly(t *testing.T) {
	now := time.Unix(1000, 0)
	ending := func(after time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			grace := int64(30)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: now.Add(after)}, &grace
		}
	}
	phase := func(phase corev1.PodPhase) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.Phase = phase }
	}
	q := quota("q", "limits.cpu=9 requests.cpu=9 pods=9 count/pods=9 services=9", "")
	tests := map[string]struct {
		pod  *corev1.Pod
		want map[string]string
	}{
		"running":                       {main("/ cpu=1"), map[string]string{"limits.cpu": "1", "requests.cpu": "1", "pods": "1", "count/pods": "1"}},
		"succeeded":                     {with(main("/ cpu=1"), phase(corev1.PodSucceeded)), map[string]string{"limits.cpu": "0", "requests.cpu": "0", "pods": "0", "count/pods": "1"}},
		"failed":                        {with(main("/ cpu=1"), phase(corev1.PodFailed)), map[string]string{"limits.cpu": "0", "requests.cpu": "0", "pods": "0", "count/pods": "1"}},
		"being deleted, within grace":   {with(main("/ cpu=1"), ending(-time.Second)), map[string]string{"limits.cpu": "1", "requests.cpu": "1", "pods": "1", "count/pods": "1"}},
		"being deleted, grace is over":  {with(main("/ cpu=1"), ending(-31*time.Second)), map[string]string{"limits.cpu": "0", "requests.cpu": "0", "pods": "0", "count/pods": "1"}},
		"a class that the status tells": {with(main("/ cpu=1"), func(p *corev1.Pod) { p.Status.QOSClass = corev1.PodQOSBurstable }), map[string]string{"limits.cpu": "1", "requests.cpu": "1", "pods": "1", "count/pods": "1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			usage, err := podspec.QuotaUsage(&q, []corev1.Pod{*test.pod}, now, 37)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, texts(usage)); diff != "" {
				t.Error(diff)
			}
		})
	}
	best := scoped(q, corev1.ResourceQuotaScopeBestEffort)
	if usage, err := podspec.QuotaUsage(&best, []corev1.Pod{*main("/ cpu=1")}, now, 37); err != nil || usage["pods"] != usage["limits.cpu"] {
		t.Errorf("a pod of another scope is counted: %v, %v", usage, err)
	}
}

func TestR20StaleUsageIsSuspected(t *testing.T) {
	q := quota("q", "limits.cpu=5 pods=5", "limits.cpu=5 pods=1")
	findings, err := podspec.StaleUsage(&q, []corev1.Pod{*main("/ cpu=1")}, time.Unix(0, 0), 37)
	if err != nil || len(findings) != 1 || findings[0].Message != "ResourceQuota q counts 5 of limits.cpu, and its pods use 1" {
		t.Errorf("got %v, %v", findings, err)
	}
	q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: "Odd"}}}
	if _, err := podspec.StaleUsage(&q, []corev1.Pod{*main("")}, time.Unix(0, 0), 37); err == nil {
		t.Error("a selector that cannot be read gives no error")
	}
}
