package podspec_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// FuzzExplainMessage: any text at all is explained without a panic, keeps its original, and every recognised one has
// advice.
func FuzzExplainMessage(f *testing.F) {
	for _, seed := range []string{
		"", "exceeded quota: q, requested: cpu=1, used: cpu=1, limited: cpu=1", "failed quota: q: must specify limits.cpu for: a,b; memory for: a",
		"[maximum cpu usage per Container is 1, but limit is 2, cpu max limit to request ratio per Pod is 2, but provided ratio is 3.0]",
		`violates PodSecurity "restricted:latest": a (b "c\"), d"), e`, `admission webhook "w" denied the request: x`,
		`unable to validate against any security context constraint: [provider "a": b, provider c: d]`, "insufficient quota to match these scopes: [{x}]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := podspec.ExplainMessage(text)
		if d.Original != text || d.Category == "" || d.Retry == "" {
			t.Fatalf("%q: %+v", text, d)
		}
		if d.Category != podspec.CategoryOther && d.Remedy == "" {
			t.Fatalf("%q: %s without advice", text, d.Category)
		}
	})
}

// FuzzExplainPod: any message of the scheduler.
func FuzzExplainPod(f *testing.F) {
	f.Add("0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {a: b}. preemption: no")
	f.Add("{,}{")
	f.Fuzz(func(t *testing.T, message string) {
		found := podspec.ExplainPod(&corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message}}}}, nil)
		if len(found) != 1 || found[0].Original != message {
			t.Fatalf("%q: %+v", message, found)
		}
	})
}
