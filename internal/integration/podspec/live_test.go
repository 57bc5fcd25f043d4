package podspec_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/podspec/live"
)

// spawnerUser may only get, list and create pods in one namespace.
func spawnerUser(t *testing.T, namespace string) (*rest.Config, client.Client) {
	t.Helper()
	user := "spawner-of-" + namespace
	made(t, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "spawner"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "create"}},
	}})
	made(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "spawner"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "spawner"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})
	config := rest.CopyConfig(shared.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: shared.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the role is known", func(ctx context.Context) error { return c.List(ctx, &corev1.PodList{}, client.InNamespace(namespace)) })
	return config, c
}

// TestC11_WhatMayNotBeReadIsUnknownAndTheServerIsAsked: with no right but to create pods, the prediction admits nothing that
// it cannot know, and the dry run decides.
func TestC11_WhatMayNotBeReadIsUnknownAndTheServerIsAsked(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	newQuota(t, namespace, amounts("requests.cpu", "1", "limits.memory", "1Gi"))
	config, restricted := spawnerUser(t, namespace)
	r, err := live.NewReader(config, restricted)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Read(t.Context(), namespace)
	if err != nil {
		t.Fatalf("forbidden lists are an error: %v", err)
	}
	for part, reason := range map[string]string{
		"namespace": s.Namespace.Reason, "LimitRanges": s.LimitRanges.Reason, "quotas": s.ResourceQuotas.Reason,
		"priority classes": s.PriorityClasses.Reason, "runtime classes": s.RuntimeClasses.Reason, "webhooks": s.Webhooks.Reason,
	} {
		if reason != "forbidden" {
			t.Errorf("%s: %q", part, reason)
		}
	}
	if !s.ServerMinor.Known || s.ServerMinor.Value != 37 || !s.OpenShift.Known || s.OpenShift.Value.Present {
		t.Errorf("version %+v, OpenShift %+v", s.ServerMinor, s.OpenShift)
	}

	check := live.Checker{Reader: r}
	for _, c := range []struct {
		sentence string
		size     corev1.ResourceList
		want     podspec.Verdict
	}{
		{"a pod that fits", amounts("cpu", "1", "memory", "1Gi"), podspec.Admit},
		{"a pod that says no size", nil, podspec.Reject},
		{"a pod that is too large", amounts("cpu", "2", "memory", "1Gi"), podspec.Reject},
	} {
		judgement, err := check.Check(t.Context(), newPod(namespace, "bot", c.size))
		if err != nil || judgement.Prediction.Verdict != podspec.VerdictUnknown || judgement.Verdict != c.want || len(judgement.Disagreements) > 0 {
			t.Errorf("%s: predicted %s, judged %s, %v, %v", c.sentence, judgement.Prediction.Verdict, judgement.Verdict, judgement.Disagreements, err)
		}
	}
	elsewhere, err := check.Check(t.Context(), newPod(metav1.NamespaceDefault, "bot", nil))
	if err != nil || elsewhere.Verdict != podspec.VerdictUnknown || elsewhere.Answer.Diagnosis.Category != podspec.CategoryRBAC {
		t.Errorf("where nothing is allowed: %s, %+v, %v", elsewhere.Verdict, elsewhere.Answer, err)
	}
	made, err := live.Creator{Client: restricted}.Create(t.Context(), labelled(newPod(namespace, "bot", amounts("cpu", "1", "memory", "1Gi"))))
	if err != nil || made.Adopted {
		t.Errorf("created %+v, %v", made, err)
	}
}

func labelled(pod *corev1.Pod) *corev1.Pod {
	pod.Labels = map[string]string{podspec.LabelManaged: podspec.ManagedValue, podspec.LabelWorkload: pod.Name}
	return pod
}

// cpuUsed is what the quota says is used of requests.cpu.
func cpuUsed(t *testing.T, quota *corev1.ResourceQuota) string {
	t.Helper()
	if err := shared.Client.Get(t.Context(), client.ObjectKeyFromObject(quota), quota); err != nil {
		t.Fatal(err)
	}
	used := quota.Status.Used[corev1.ResourceRequestsCPU]
	return used.String()
}

// TestFact06_ACreatorThatLooksFirstBurnsNoQuota: five blind creates of one name fill a quota of three cores with one pod of
// one core; the Creator's do not.
func TestFact06_ACreatorThatLooksFirstBurnsNoQuota(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	quota := newQuota(t, namespace, amounts("requests.cpu", "3"))
	pod := labelled(newPod(namespace, "bot", amounts("cpu", "1", "memory", "1Gi")))
	creator := live.Creator{Client: shared.Client}
	first, err := creator.Create(t.Context(), pod)
	if err != nil || first.Adopted {
		t.Fatalf("first: %+v, %v", first, err)
	}
	for range 5 {
		again, err := creator.Create(t.Context(), pod)
		if err != nil || !again.Adopted || again.Pod.UID != first.Pod.UID || again.Attempts != 0 {
			t.Fatalf("again: %+v, %v", again, err)
		}
	}
	if got := cpuUsed(t, quota); got != "1" {
		t.Errorf("the Creator has used %s cores for one", got)
	}
	for range 2 {
		if d := podspec.ExplainError(shared.Client.Create(t.Context(), pod.DeepCopy())); d.Category != podspec.CategoryAlreadyExists {
			t.Fatalf("a blind create: %+v", d)
		}
	}
	if got := cpuUsed(t, quota); got != "3" {
		t.Errorf("two blind creates: %s cores are used; if the API server no longer charges them, the Creator has less to do", got)
	}
	d := podspec.ExplainError(shared.Client.Create(t.Context(), pod.DeepCopy()))
	if d.Category != podspec.CategoryQuotaExceeded {
		t.Errorf("the third: %+v", d)
	}
	if found, err := creator.Create(t.Context(), pod); err != nil || !found.Adopted {
		t.Errorf("in a full quota the pod is not found: %+v, %v", found, err)
	}
}

func TestR17_AFailedCreateIsCharged(t *testing.T) { TestFact06_ACreatorThatLooksFirstBurnsNoQuota(t) }

// TestFact16_ADryRunLeavesTheUsageAlone: it is asked as often as one likes.
func TestFact16_ADryRunLeavesTheUsageAlone(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	quota := newQuota(t, namespace, amounts("requests.cpu", "1"))
	for range 3 {
		if got := judge(t, newPod(namespace, "bot", amounts("cpu", "1"))); got.Verdict != podspec.Admit {
			t.Fatalf("judged %s", got.Verdict)
		}
	}
	if used := cpuUsed(t, quota); used != "0" {
		t.Errorf("dry runs used %s", used)
	}
}

func TestC11_CreatorsThatRaceMakeOnePod(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	newQuota(t, namespace, amounts("requests.cpu", "100"))
	var working sync.WaitGroup
	results, faults := make([]live.Created, 12), make([]error, 12)
	for i := range results {
		working.Go(func() {
			pod := labelled(newPod(namespace, "bot", amounts("cpu", "1", "memory", "1Gi")))
			results[i], faults[i] = live.Creator{Client: shared.Client}.Create(t.Context(), pod)
		})
	}
	working.Wait()
	if err := errors.Join(faults...); err != nil {
		t.Fatal(err)
	}
	made := 0
	for i := range results {
		if results[i].Pod.UID != results[0].Pod.UID {
			t.Errorf("two pods: %s, %s", results[i].Pod.UID, results[0].Pod.UID)
		}
		if !results[i].Adopted {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d say that they made it", made)
	}
}

func TestC11_TheCreatorRefusesWhatIsNotItsOwn(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	if err := shared.Client.Create(t.Context(), newPod(namespace, "bot", nil)); err != nil {
		t.Fatal(err)
	}
	creator := live.Creator{Client: shared.Client, Backoff: wait.Backoff{Steps: 2, Duration: time.Millisecond}}
	if made, err := creator.Create(t.Context(), labelled(newPod(namespace, "bot", nil))); !errors.Is(err, live.ErrForeign) || made.Attempts != 0 {
		t.Errorf("got %+v, %v", made, err)
	}
}

// A name that a pod still holds that is being deleted becomes free; the Creator waits for it, within its attempts.
func TestC11_TheCreatorWaitsForAPodThatEnds(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	old := labelled(newPod(namespace, "bot", nil))
	old.Finalizers = []string{"example.com/hold"}
	if err := shared.Client.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := shared.Client.Delete(t.Context(), old, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	quick := live.Creator{Client: shared.Client, Backoff: wait.Backoff{Steps: 2, Duration: time.Millisecond}}
	if _, err := quick.Create(t.Context(), labelled(newPod(namespace, "bot", nil))); !errors.Is(err, live.ErrTerminating) {
		t.Fatalf("while it ends: %v", err)
	}
	freed := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond)
		freed <- shared.Client.Patch(t.Context(), old, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	}()
	made, err := live.Creator{Client: shared.Client, Backoff: wait.Backoff{Steps: 200, Duration: 20 * time.Millisecond}}.Create(t.Context(), labelled(newPod(namespace, "bot", nil)))
	if err := errors.Join(err, <-freed); err != nil || made.Adopted || made.Pod.UID == old.UID {
		t.Errorf("got %+v, %v", made, err)
	}
}

func TestC11_TheCreatorExplainsARefusal(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	quota := newQuota(t, namespace, amounts("requests.cpu", "1"))
	made, err := live.Creator{Client: shared.Client}.Create(t.Context(), labelled(newPod(namespace, "bot", amounts("cpu", "2"))))
	refused, ok := errors.AsType[*live.RefusedError](err)
	if !ok || made.Attempts != 1 {
		t.Fatalf("got %+v, %v", made, err)
	}
	got := fmt.Sprint(refused.Diagnosis.Category, " ", refused.Diagnosis.Retry, " ", refused.Diagnosis.Object)
	if diff := cmp.Diff("QuotaExceeded Never ResourceQuota compute", got); diff != "" {
		t.Error(diff)
	}
	if used := cpuUsed(t, quota); used != "0" {
		t.Errorf("the refusal used %s", used)
	}
}
