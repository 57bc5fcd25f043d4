package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

// quotaKeys are the dimensions of row B4.
var quotaKeys = []corev1.ResourceName{
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
}

func newQuota(t *testing.T, namespace string) *corev1.ResourceQuota {
	t.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "compute"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
			corev1.ResourceRequestsCPU: resource.MustParse("4"), corev1.ResourceRequestsMemory: resource.MustParse("8Gi"),
			corev1.ResourceLimitsCPU: resource.MustParse("4"), corev1.ResourceLimitsMemory: resource.MustParse("8Gi"),
		}},
	}
	if err := shared.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "kube-controller-manager fills the quota's status", func(ctx context.Context) error {
		return used(ctx, quota, map[corev1.ResourceName]string{
			corev1.ResourceLimitsCPU: "0", corev1.ResourceLimitsMemory: "0",
			corev1.ResourceRequestsCPU: "0", corev1.ResourceRequestsMemory: "0",
		})
	})
	cluster.Eventually(t, "the API server enforces the quota", func(ctx context.Context) error {
		err := shared.Client.Create(ctx, newPod(namespace, "probe", nil), client.DryRunAll)
		if apierrors.IsForbidden(err) {
			return nil
		}
		return fmt.Errorf("an unsized Pod gets %w", errors.Join(err, errors.New("no refusal")))
	})
	return quota
}

// used compares what a quota's status says now.
func used(ctx context.Context, quota *corev1.ResourceQuota, want map[corev1.ResourceName]string) error {
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil {
		return err
	}
	got := map[corev1.ResourceName]string{}
	for name, quantity := range quota.Status.Used {
		got[name] = quantity.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return errors.New("used (-want +got):\n" + diff)
	}
	return nil
}

func newPod(namespace, name string, size corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "example.com/agent:1",
			Resources: corev1.ResourceRequirements{Requests: size, Limits: size},
		}}},
	}
}

func TestAQuotaRefusesPodsThatDoNotSayTheirSize(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	newQuota(t, namespace)
	cpu, memory := resource.MustParse("1"), resource.MustParse("512Mi")
	for sentence, c := range map[string]struct {
		size    corev1.ResourceList
		missing []corev1.ResourceName
	}{
		"no size at all": {nil, quotaKeys},
		"no memory":      {corev1.ResourceList{corev1.ResourceCPU: cpu}, []corev1.ResourceName{corev1.ResourceLimitsMemory, corev1.ResourceRequestsMemory}},
		"no cpu":         {corev1.ResourceList{corev1.ResourceMemory: memory}, []corev1.ResourceName{corev1.ResourceLimitsCPU, corev1.ResourceRequestsCPU}},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := shared.Client.Create(t.Context(), newPod(namespace, "unsized", c.size))
			if !apierrors.IsForbidden(err) {
				t.Fatalf("want a refusal, got %v", err)
			}
			for _, key := range quotaKeys {
				want := false
				for _, name := range c.missing {
					want = want || name == key
				}
				if got := strings.Contains(err.Error(), string(key)); got != want {
					t.Errorf("the refusal names %s: %v, want %v: %v", key, got, want, err)
				}
			}
		})
	}
}

func TestAQuotaAdmitsASizedPodAndCountsIt(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	quota := newQuota(t, namespace)
	pod := newPod(namespace, "sized", corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("512Mi"),
	})
	if err := shared.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(corev1.PodQOSGuaranteed, pod.Status.QOSClass); diff != "" {
		t.Error(diff)
	}
	cluster.Eventually(t, "the Pod counts", func(ctx context.Context) error {
		return used(ctx, quota, map[corev1.ResourceName]string{
			corev1.ResourceLimitsCPU: "1", corev1.ResourceLimitsMemory: "512Mi",
			corev1.ResourceRequestsCPU: "1", corev1.ResourceRequestsMemory: "512Mi",
		})
	})
	if err := shared.Client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "a Pod that is gone no longer counts", func(ctx context.Context) error {
		return used(ctx, quota, map[corev1.ResourceName]string{
			corev1.ResourceLimitsCPU: "0", corev1.ResourceLimitsMemory: "0",
			corev1.ResourceRequestsCPU: "0", corev1.ResourceRequestsMemory: "0",
		})
	})
}
