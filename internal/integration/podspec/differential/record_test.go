package differential_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

// The format of podspec/testdata/worlds.
type (
	recordedWorld struct {
		Snapshot podspec.Snapshot `json:"snapshot"`
		Pods     []recordedPod    `json:"pods"`
	}
	recordedPod struct {
		Pod     *corev1.Pod                           `json:"pod"`
		Quotas  map[string]corev1.ResourceQuotaStatus `json:"quotas,omitempty"`
		Answers []recordedAnswer                      `json:"answers"`
		// Seen says that the answers are those that a server gave, which settles on one order of LimitRanges.
		Seen bool `json:"seen,omitempty"`
	}
	recordedAnswer struct {
		Category podspec.Category               `json:"category,omitempty"`
		Message  string                         `json:"message,omitempty"`
		QOS      corev1.PodQOSClass             `json:"qos,omitempty"`
		Amounts  []corev1.ResourceRequirements  `json:"amounts,omitempty"`
		Level    *corev1.ResourceRequirements   `json:"level,omitempty"`
		Overhead corev1.ResourceList            `json:"overhead,omitempty"`
		Deltas   map[string]corev1.ResourceList `json:"deltas,omitempty"`
	}
)

// record writes a pod with its world and the server's answer to the folder of failures, and says where.
func record(name string, s podspec.Snapshot, pod *corev1.Pod, a answer) (string, error) {
	folder := os.Getenv("BURSAR_FAILURES")
	if folder == "" {
		folder = filepath.Join(os.TempDir(), "bursar-failures")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	recorded := recordedPod{Pod: pod, Quotas: map[string]corev1.ResourceQuotaStatus{}, Seen: true}
	for i := range s.ResourceQuotas.Value {
		quota := &s.ResourceQuotas.Value[i]
		recorded.Quotas[quota.Name] = quota.Status
	}
	said := recordedAnswer{Category: a.class(), Deltas: a.deltas}
	if a.err != nil {
		said.Message = a.err.Error()
	}
	if a.pod != nil {
		said.QOS, said.Level, said.Overhead = a.pod.Status.QOSClass, a.pod.Spec.Resources, a.pod.Spec.Overhead
		for _, list := range [][]corev1.Container{a.pod.Spec.Containers, a.pod.Spec.InitContainers} {
			for i := range list {
				said.Amounts = append(said.Amounts, list[i].Resources)
			}
		}
	}
	recorded.Answers = []recordedAnswer{said}
	text, err := json.Marshal(recordedWorld{Snapshot: s, Pods: []recordedPod{recorded}})
	if err != nil {
		return "", fmt.Errorf("record %s: %w", name, err)
	}
	file := filepath.Join(folder, name+".jsonl")
	return file, os.WriteFile(file, append(text, '\n'), 0o644)
}
