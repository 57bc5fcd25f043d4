package podspec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/podspec/live"
)

var shared cluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(shared.Main(m, cluster.Options{Controllers: []string{"resourcequota-controller", "namespace-controller"}}))
}

// amounts makes a list of names and texts in turn.
func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// newQuota makes a quota and waits until it is counted and enforced.
func newQuota(t *testing.T, namespace string, hard corev1.ResourceList) *corev1.ResourceQuota {
	t.Helper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "compute"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	if err := shared.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the quota is counted", func(ctx context.Context) error {
		if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if !equality.Semantic.DeepEqual(quota.Status.Hard, hard) || len(quota.Status.Used) != len(hard) {
			return fmt.Errorf("its status is %v", quota.Status)
		}
		return nil
	})
	// Hardened, since PodSecurity comes before the quotas.
	huge, _, err := podspec.Harden(newPod(namespace, "probe", amounts("cpu", "1000", "memory", "1000Gi")), podspec.Hardening{})
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the quota is enforced", func(ctx context.Context) error {
		err := shared.Client.Create(ctx, huge.DeepCopy(), client.DryRunAll)
		if got := podspec.ExplainError(err).Category; got != podspec.CategoryQuotaExceeded {
			return fmt.Errorf("a pod of 1000 cores gets %q: %w", got, errors.Join(err, errors.New("no refusal")))
		}
		return nil
	})
	return quota
}

// newLimits makes a LimitRange and waits until the API server goes by it: changed says so of an unsized pod.
func newLimits(t *testing.T, namespace string, changed func(pod *corev1.Pod, err error) bool, items ...corev1.LimitRangeItem) {
	t.Helper()
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "defaults"}, Spec: corev1.LimitRangeSpec{Limits: items}}
	if err := shared.Client.Create(t.Context(), limits); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the LimitRange is enforced", func(ctx context.Context) error {
		probe := newPod(namespace, "probe", nil)
		if err := shared.Client.Create(ctx, probe, client.DryRunAll); !changed(probe, err) {
			return errors.Join(err, errors.New("it changes nothing"))
		}
		return nil
	})
}

func newPod(namespace, name string, size corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "example.com/agent:1", Resources: corev1.ResourceRequirements{Requests: size, Limits: size},
		}}},
	}
}

// reader reads snapshots as the administrator of a cluster without a configuration of PodSecurity.
func reader(t *testing.T) live.Reader {
	t.Helper()
	r, err := live.NewReader(shared.Config, shared.Client)
	if err != nil {
		t.Fatal(err)
	}
	r.PodSecurity = podspec.Known(podspec.PodSecurityDefaults{})
	return r
}

func snapshot(t *testing.T, namespace string) podspec.Snapshot {
	t.Helper()
	s, err := reader(t).Read(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judge predicts what happens to a pod, sees it happen in a dry run, and holds one against the other.
func judge(t *testing.T, pod *corev1.Pod, options ...podspec.PredictOption) live.Judgement {
	t.Helper()
	judgement, err := live.Checker{Reader: reader(t), Options: options}.Check(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	for _, disagreement := range judgement.Disagreements {
		t.Error(disagreement)
	}
	return judgement
}
