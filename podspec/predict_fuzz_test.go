package podspec_test

import (
	"bytes"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// FuzzPredict: any snapshot and any pod that JSON can express are answered without a panic, with a verdict that fits the
// findings, and are not changed.
func FuzzPredict(f *testing.F) {
	seed := func(s podspec.Snapshot, p *corev1.Pod) {
		snapshot, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		pod, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(snapshot, pod)
	}
	seed(podspec.Snapshot{}, &corev1.Pod{})
	seed(world(limitRange("a", corev1.LimitTypeContainer, "default cpu=1; max memory=1Gi; ratio cpu=1"), limitRange("b", corev1.LimitTypePod, "max cpu=3"), quota("q", fourKeys, "limits.cpu=2"), priorityClass("p", true), kataClass("cpu=1"), labelled("enforce", "restricted")),
		pod(container("main", whole), sidecar("s", "hugepages-2Mi=2Mi / hugepages-2Mi=2Mi"), container("init", "/ nvidia.com/gpu=1")))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var s podspec.Snapshot
		var p corev1.Pod
		if json.Unmarshal(first, &s) != nil || json.Unmarshal(second, &p) != nil {
			return
		}
		before, err := json.Marshal(map[string]any{"s": s, "p": p})
		if err != nil {
			return
		}
		prediction, err := podspec.Predict(s, &p)
		if err != nil {
			t.Fatal(err)
		}
		if (prediction.Verdict == podspec.Admit) && len(prediction.Refusals()) > 0 {
			t.Fatalf("admitted in spite of %v", prediction.Refusals())
		}
		_, _, _ = podspec.Harden(&p, podspec.Hardening{OpenShift: true, Namespace: &s.Namespace.Value})
		_ = podspec.NodeRoom([]corev1.Node{node("a", "cpu=4 pods=9")}, []corev1.Pod{p}, &p)
		_ = podspec.VerifyAccepted(&p, prediction.Effective, 0)
		_, _, _ = podspec.Apply(&p, podspec.Plan{Size: oneCore()})
		after, err := json.Marshal(map[string]any{"s": s, "p": p})
		if err != nil || !bytes.Equal(before, after) {
			t.Fatalf("the arguments changed:\n%s\n%s", before, after)
		}
	})
}
