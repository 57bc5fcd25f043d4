package configured_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/podspec/live"
)

var shared cluster.Cluster

func TestMain(m *testing.M) {
	file, err := filepath.Abs(filepath.Join("testdata", "admission.yaml"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(shared.Main(m, cluster.Options{APIServerFlags: map[string][]string{"admission-control-config-file": {file}}}))
}

func newPod(namespace string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bot"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/agent:1"}}},
	}
}

func check(t *testing.T, pod *corev1.Pod, known podspec.Part[podspec.PodSecurityDefaults]) live.Judgement {
	t.Helper()
	reader, err := live.NewReader(shared.Config, shared.Client)
	if err != nil {
		t.Fatal(err)
	}
	reader.PodSecurity = known
	judgement, err := live.Checker{Reader: reader}.Check(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	for _, disagreement := range judgement.Disagreements {
		t.Error(disagreement)
	}
	return judgement
}

// TestFact19_ADefaultLevelThatNobodyCanReadIsUnknown: the namespace has no label, and the server enforces one all the same.
func TestFact19_ADefaultLevelThatNobodyCanReadIsUnknown(t *testing.T) {
	pod := newPod(shared.Namespace(t, nil))
	pod.Spec.HostNetwork = true
	got := check(t, pod, podspec.Unknown[podspec.PodSecurityDefaults]("no client can read it"))
	if got.Prediction.Verdict != podspec.VerdictUnknown || got.Verdict != podspec.Reject || got.Answer.Diagnosis.Object != "PodSecurity baseline:latest" {
		t.Errorf("predicted %s, judged %s: %+v", got.Prediction.Verdict, got.Verdict, got.Answer.Diagnosis)
	}
	got = check(t, pod, podspec.Known(podspec.PodSecurityDefaults{Enforce: "baseline"}))
	if got.Prediction.Category != podspec.CategoryPodSecurity || got.Verdict != podspec.Reject {
		t.Errorf("who knows it predicts %s %s", got.Prediction.Verdict, got.Prediction.Category)
	}
	hard, _, err := podspec.Harden(newPod(pod.Namespace), podspec.Hardening{})
	if err != nil {
		t.Fatal(err)
	}
	if got := check(t, hard, podspec.Unknown[podspec.PodSecurityDefaults]("no client can read it")); got.Prediction.Verdict != podspec.Admit || got.Verdict != podspec.Admit {
		t.Errorf("a pod that passes every level: predicted %s, judged %s", got.Prediction.Verdict, got.Verdict)
	}
}

// TestFact15_WhatIsOnlyAllowedUnderAQuotaIsExplained: one of the two refusals is a 403 without causes, the other a 500
// without a reason.
func TestFact15_WhatIsOnlyAllowedUnderAQuotaIsExplained(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "expensive"}, Value: 9}
	if err := shared.Client.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	gpu, expensive := newPod(namespace), newPod(namespace)
	gpu.Spec.Containers[0].Resources.Limits = corev1.ResourceList{podspec.GPUResource: resource.MustParse("1")}
	expensive.Spec.PriorityClassName = class.Name
	for _, c := range []struct {
		sentence string
		pod      *corev1.Pod
		code     int32
		figures  []podspec.Figure
	}{
		{"a device", gpu, 403, []podspec.Figure{{Resource: "requests.nvidia.com/gpu"}}},
		{"a priority class", expensive, 500, nil},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			cluster.Eventually(t, "no quota covers it", func(ctx context.Context) error {
				err := shared.Client.Create(ctx, c.pod.DeepCopy(), client.DryRunAll)
				if d := podspec.ExplainError(err); d.Category != podspec.CategoryQuotaUncovered {
					return errors.Join(err, errors.New(string(d.Category)))
				}
				return nil
			})
			err := shared.Client.Create(t.Context(), c.pod.DeepCopy(), client.DryRunAll)
			status, ok := errors.AsType[*apierrors.StatusError](err)
			if !ok || status.Status().Code != c.code || status.Status().Details != nil && len(status.Status().Details.Causes) > 0 {
				t.Errorf("the server says %+v", status)
			}
			d := podspec.ExplainError(err)
			if diff := cmp.Diff(c.figures, d.Figures); diff != "" || d.Retry != podspec.RetryNever || d.Original != err.Error() {
				t.Errorf("%+v: %s", d, diff)
			}
		})
	}
}
