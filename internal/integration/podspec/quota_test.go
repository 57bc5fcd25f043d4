package podspec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// profiles are the two of row B2, as an environment declares them.
func profiles(t *testing.T, without ...string) podspec.Profiles {
	t.Helper()
	environment := map[string]string{
		"RUNTIME_BOT_CPU": "1", "RUNTIME_BOT_MEMORY_MB": "512",
		"RUNTIME_AGENT_WORKER_CPU": "0.25", "RUNTIME_AGENT_WORKER_MEMORY_MB": "256",
	}
	for _, variable := range without {
		environment[variable] = ""
	}
	read, err := podspec.ProfilesFromEnv(func(name string) (string, bool) { value, ok := environment[name]; return value, ok })
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// sized is a pod of a profile. Nothing is required of the profile: what it lacks the pod lacks.
func sized(t *testing.T, namespace, profile string, from podspec.Profiles) *corev1.Pod {
	t.Helper()
	size, err := from.Size(profile)
	if err != nil {
		t.Fatal(err)
	}
	plan := podspec.Plan{Size: size, Identity: podspec.Identity{Workload: profile}, Options: []podspec.Option{podspec.WithRequired()}}
	pod, _, err := podspec.Apply(newPod(namespace, profile, nil), plan)
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// TestB4_ASizedPodIsAdmittedAndEachMissingDimensionIsRefused is row B4 to the letter.
func TestB4_ASizedPodIsAdmittedAndEachMissingDimensionIsRefused(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	newQuota(t, namespace, amounts("requests.cpu", "4", "requests.memory", "8Gi", "limits.cpu", "4", "limits.memory", "8Gi"))

	for _, c := range []struct {
		sentence, profile, without string
		missing                    []corev1.ResourceName
	}{
		{"a bot without cpu", "meeting-bot", "RUNTIME_BOT_CPU", []corev1.ResourceName{"limits.cpu", "requests.cpu"}},
		{"a bot without memory", "meeting-bot", "RUNTIME_BOT_MEMORY_MB", []corev1.ResourceName{"limits.memory", "requests.memory"}},
		{"a worker without cpu", "agent-worker", "RUNTIME_AGENT_WORKER_CPU", []corev1.ResourceName{"limits.cpu", "requests.cpu"}},
		{"a worker without memory", "agent-worker", "RUNTIME_AGENT_WORKER_MEMORY_MB", []corev1.ResourceName{"limits.memory", "requests.memory"}},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			pod := sized(t, namespace, c.profile, profiles(t, c.without))
			judge(t, pod)
			err := shared.Client.Create(t.Context(), pod.DeepCopy())
			got := podspec.ExplainError(err)
			want := podspec.Diagnosis{Category: podspec.CategoryQuotaMissing, Retry: podspec.RetryNever, Object: "ResourceQuota compute", Containers: []string{"main"}}
			for _, name := range c.missing {
				want.Figures = append(want.Figures, podspec.Figure{Resource: name, Container: "main"})
			}
			want.Message, want.Remedy, want.Original = got.Message, got.Remedy, got.Original
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	for _, profile := range []string{"meeting-bot", "agent-worker"} {
		t.Run(profile+" whole", func(t *testing.T) {
			pod := sized(t, namespace, profile, profiles(t))
			if judgement := judge(t, pod); judgement.Verdict != podspec.Admit || judgement.Prediction.Verdict != podspec.Admit {
				t.Errorf("judged %s, predicted %s", judgement.Verdict, judgement.Prediction.Verdict)
			}
			intended := pod.DeepCopy()
			if err := shared.Client.Create(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			if accepted := podspec.VerifyAccepted(intended, pod, 0); !accepted.Clean() || accepted.AcceptedQOS != corev1.PodQOSGuaranteed {
				t.Errorf("accepted with %+v", accepted)
			}
		})
	}
}

// TestB8_TheQuotaTakesAsManyPodsAsItsHeadroomSays counts pods until the quota is full.
func TestB8_TheQuotaTakesAsManyPodsAsItsHeadroomSays(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	newQuota(t, namespace, amounts("requests.cpu", "1100m", "limits.memory", "8Gi"))
	size := amounts("cpu", "300m", "memory", "1Gi")
	room := judge(t, newPod(namespace, "next", size)).Prediction.QuotaRoom()
	if diff := cmp.Diff(podspec.QuotaRoom{Limited: true, Fits: 3, Quota: "compute", Resource: "requests.cpu"}, room); diff != "" {
		t.Fatal(diff)
	}
	for i := range room.Fits {
		if err := shared.Client.Create(t.Context(), newPod(namespace, "pod-"+string(rune('a'+i)), size)); err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
	}
	d := podspec.ExplainError(shared.Client.Create(t.Context(), newPod(namespace, "one-too-many", size)))
	if d.Category != podspec.CategoryQuotaExceeded || d.Retry != podspec.RetryWhenUsageDrops {
		t.Fatalf("got %+v", d)
	}
	refusals := judge(t, newPod(namespace, "one-too-many", size)).Prediction.Refusals()
	if len(refusals) != 1 || len(d.Figures) != 1 {
		t.Fatalf("predicted %v, explained %v", refusals, d.Figures)
	}
	want := []string{d.Figures[0].Have.String(), d.Figures[0].Need.String(), d.Figures[0].Bound.String()}
	got := []string{refusals[0].Have.String(), refusals[0].Need.String(), refusals[0].Bound.String()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the figures of the server and of the prediction:\n%s", diff)
	}
}
