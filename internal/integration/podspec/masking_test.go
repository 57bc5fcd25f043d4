package podspec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// TestB7_ALimitRangeThatHidesMissingSizesIsSaid: the pod that the quota refuses passes once a LimitRange gives it 64Mi, and
// nothing but podspec says so.
func TestB7_ALimitRangeThatHidesMissingSizesIsSaid(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	newQuota(t, namespace, amounts("requests.cpu", "4", "requests.memory", "8Gi", "limits.cpu", "4", "limits.memory", "8Gi"))
	unsized := newPod(namespace, "bot", nil)
	if before := judge(t, unsized); before.Prediction.Category != podspec.CategoryQuotaMissing {
		t.Fatalf("without a LimitRange: %s %s", before.Prediction.Verdict, before.Prediction.Category)
	}
	filled := func(pod *corev1.Pod, err error) bool {
		return err == nil && len(pod.Spec.Containers[0].Resources.Limits) > 0
	}
	newLimits(t, namespace, filled, corev1.LimitRangeItem{
		Type: corev1.LimitTypeContainer, Default: amounts("cpu", "500m", "memory", "64Mi"), DefaultRequest: amounts("cpu", "100m"),
	})

	judgement := judge(t, unsized)
	if judgement.Verdict != podspec.Admit {
		t.Fatalf("judged %s", judgement.Verdict)
	}
	var masked []string
	for _, mask := range judgement.Prediction.Masked {
		masked = append(masked, mask.LimitRange+" "+mask.Container+" "+mask.Field+"."+string(mask.Resource)+"="+mask.Value.String())
	}
	want := []string{"defaults main limits.cpu=500m", "defaults main limits.memory=64Mi", "defaults main requests.cpu=100m", "defaults main requests.memory=64Mi"}
	if diff := cmp.Diff(want, masked); diff != "" {
		t.Error(diff)
	}
	if strict := judge(t, unsized, podspec.StrictSizing()); strict.Verdict != podspec.Reject || strict.Prediction.Category != podspec.CategoryLimitRange {
		t.Errorf("strict sizing: %s %s", strict.Verdict, strict.Prediction.Category)
	}

	accepted := unsized.DeepCopy()
	if err := shared.Client.Create(t.Context(), accepted); err != nil {
		t.Fatal(err)
	}
	drift := podspec.VerifyAccepted(unsized, accepted, 0)
	if len(drift.Drifts) != 4 || drift.AcceptedQOS != corev1.PodQOSBurstable {
		t.Fatalf("drift %+v", drift)
	}
	for _, d := range drift.Drifts {
		if d.Author != podspec.AuthorLimitRanger || !strings.HasPrefix(d.Path, "spec.containers[main].resources.") {
			t.Errorf("drift %v", d)
		}
	}
	if sized := judge(t, sized(t, namespace, "meeting-bot", profiles(t)), podspec.StrictSizing()); sized.Verdict != podspec.Admit || len(sized.Prediction.Masked) != 0 {
		t.Errorf("a sized pod under strict sizing: %s, %v", sized.Verdict, sized.Prediction.Masked)
	}
}

// TestB9_RestrictedRefusesThePlainPodAndAdmitsTheHardenedOne has an init container and a sidecar too.
func TestB9_RestrictedRefusesThePlainPodAndAdmitsTheHardenedOne(t *testing.T) {
	for _, version := range []string{"latest", "v1.25", "v1.34"} {
		t.Run(version, func(t *testing.T) {
			namespace := shared.Namespace(t, map[string]string{
				"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": version,
			})
			plain := newPod(namespace, "bot", amounts("cpu", "1", "memory", "512Mi"))
			plain.Spec.InitContainers = []corev1.Container{
				{Name: "prepare", Image: "example.com/prepare:1"},
				{Name: "proxy", Image: "example.com/proxy:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
			}
			refused := judge(t, plain)
			d := refused.Answer.Diagnosis
			if refused.Verdict != podspec.Reject || d.Category != podspec.CategoryPodSecurity || d.Object != "PodSecurity restricted:"+version || len(d.Reasons) != 4 {
				t.Fatalf("the plain pod: %s, %+v", refused.Verdict, d)
			}
			hard, result, err := podspec.Harden(plain, podspec.Hardening{})
			if err != nil || len(result.Conflicts) > 0 {
				t.Fatalf("%v, %v", err, result.Conflicts)
			}
			if admitted := judge(t, hard); admitted.Verdict != podspec.Admit {
				t.Errorf("the hardened pod: %v", admitted.Answer.Diagnosis)
			}
			for i := range hard.Spec.InitContainers {
				softened := hard.DeepCopy()
				softened.Spec.InitContainers[i].SecurityContext = nil
				if got := judge(t, softened); got.Verdict != podspec.Reject || !strings.Contains(got.Answer.Diagnosis.Message, softened.Spec.InitContainers[i].Name) {
					t.Errorf("with %s as it was: %s %v", softened.Spec.InitContainers[i].Name, got.Verdict, got.Answer.Diagnosis)
				}
			}
			if err := shared.Client.Create(t.Context(), hard); err != nil {
				t.Error(err)
			}
		})
	}
}
