package podspec_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/podspec"
)

func unscheduled(reason, message string) *corev1.Pod {
	return with(main(whole), func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse},
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message},
		}
	})
}

func TestExplainPodUnschedulable(t *testing.T) {
	tests := map[string]struct {
		message string
		reasons []string
		figures []string
	}{
		"insufficient amounts": {
			"0/5 nodes are available: 1 Too many pods, 2 Insufficient cpu, 3 Insufficient nvidia.com/gpu. preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod.",
			[]string{"1 Too many pods", "2 Insufficient cpu", "3 Insufficient nvidia.com/gpu"}, []string{"pods - - -", "cpu - - -", "nvidia.com/gpu - - -"},
		},
		"a taint with its key": {
			"0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: a, b}. preemption: 0/1 nodes are available.",
			[]string{"1 node(s) had untolerated taint {dedicated: a, b}"}, nil,
		},
		"words that nobody knows": {"no idea", []string{"no idea"}, nil},
		"nothing":                 {"", nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := podspec.ExplainPod(unscheduled(corev1.PodReasonUnschedulable, test.message), nil)
			if len(found) != 1 || found[0].Category != podspec.CategoryUnschedulable || found[0].Retry != podspec.RetryWhenUsageDrops || found[0].Original != test.message {
				t.Fatalf("got %+v", found)
			}
			if diff := cmp.Diff(test.reasons, found[0].Reasons); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.figures, figures(found[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
	counts := podspec.ExplainPod(unscheduled(corev1.PodReasonUnschedulable, tests["insufficient amounts"].message), nil)[0].Figures
	if counts[1].Count != 2 {
		t.Errorf("counts %+v", counts)
	}
}

func TestExplainPodFromEvents(t *testing.T) {
	event := func(at int64, reason, message string) corev1.Event {
		return corev1.Event{Reason: reason, Message: message, LastTimestamp: metav1.NewTime(time.Unix(at, 0))}
	}
	events := []corev1.Event{event(2, "FailedScheduling", "0/2 nodes are available: 2 Insufficient memory."), event(1, "FailedScheduling", "0/2 nodes are available: 2 Insufficient cpu."), event(3, "Pulled", "x")}
	found := podspec.ExplainPod(main(whole), events)
	if len(found) != 1 || found[0].Figures[0].Resource != "memory" {
		t.Errorf("got %+v", found)
	}
	if found := podspec.ExplainPod(with(main(whole), func(p *corev1.Pod) { p.Spec.NodeName = "n" }), events); found != nil {
		t.Errorf("a pod that has a node: %+v", found)
	}
	if found := podspec.ExplainPod(main(whole), nil); found != nil {
		t.Errorf("nothing is wrong: %+v", found)
	}
	if found := podspec.ExplainPod(nil, nil); found != nil {
		t.Errorf("no pod: %+v", found)
	}
}

func TestExplainPodStates(t *testing.T) {
	waiting := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	ended := func(reason string, code int32) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code}}
	}
	state := func(s corev1.ContainerState) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: s}}
		}
	}
	resized := resources("/ memory=2Gi")
	tests := map[string]struct {
		amounts string
		change  func(*corev1.Pod)
		want    podspec.Category
		figures []string
	}{
		"gated": {whole, func(p *corev1.Pod) {
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "queue"}}
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated}}
		}, podspec.CategorySchedulingGated, nil},
		"refused by the node": {whole, func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "OutOfcpu" }, podspec.CategoryOutOfResource, []string{"cpu - - -"}},
		"evicted":             {whole, func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" }, podspec.CategoryEvicted, nil},
		"out of memory":       {whole, state(ended("OOMKilled", 137)), podspec.CategoryOOMKilled, []string{"main/memory.limits - 1536Mi 1Gi"}},
		"out of memory, before the last start": {whole, func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "main", LastTerminationState: ended("OOMKilled", 137)}}
		}, podspec.CategoryOOMKilled, []string{"main/memory.limits - 1536Mi 1Gi"}},
		"out of memory, after a resize": {whole, func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: ended("OOMKilled", 137), Resources: &resized}}
		}, podspec.CategoryOOMKilled, []string{"main/memory.limits - 3Gi 2Gi"}},
		"out of memory without a limit":  {"", state(ended("OOMKilled", 137)), podspec.CategoryOOMKilled, nil},
		"out of memory with a mad limit": {"/ memory=8Ei", state(ended("OOMKilled", 137)), podspec.CategoryOOMKilled, []string{"main/memory.limits - 9223372036854775807 9223372036854775807"}},
		"killed":                         {whole, state(ended("Error", 137)), podspec.CategoryKilled, nil},
		"runs as root":                   {whole, state(waiting("CreateContainerConfigError", "container has runAsNonRoot and image will run as root")), podspec.CategoryRunAsNonRoot, nil},
		"a user with a name":             {whole, state(waiting("CreateContainerConfigError", "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root")), podspec.CategoryRunAsNonRoot, nil},
		"a secret that is missing":       {whole, state(waiting("CreateContainerConfigError", `secret "x" not found`)), podspec.CategoryContainerConfig, nil},
		"an image that cannot be pulled": {whole, state(waiting("ImagePullBackOff", "x")), podspec.CategoryImagePull, nil},
		"creating":                       {whole, state(waiting("ContainerCreating", "")), "", nil},
		"completed":                      {whole, state(ended("Completed", 0)), "", nil},
		"scheduled": {whole, func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
		}, "", nil},
		"another reason of the scheduler": {whole, func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Odd"}}
		}, "", nil},
		"a status of another container": {whole, func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "x", State: ended("OOMKilled", 137)}}
		}, podspec.CategoryOOMKilled, nil},
		"refused by the node, says a phase": {whole, func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodRunning, "OutOfcpu" }, "", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := podspec.ExplainPod(with(main(test.amounts), test.change), nil)
			if test.want == "" {
				if found != nil {
					t.Errorf("got %+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Category != test.want || found[0].Message == "" || found[0].Remedy == "" {
				t.Fatalf("got %+v, want %v", found, test.want)
			}
			if diff := cmp.Diff(test.figures, figures(found[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}
