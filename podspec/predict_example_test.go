package podspec_test

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/bursar-dev/bursar/podspec"
)

// namespaceWith is a snapshot of a namespace with one quota, of which everything is known.
func namespaceWith(hard, used corev1.ResourceList) podspec.Snapshot {
	quota := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}, Status: corev1.ResourceQuotaStatus{Hard: hard, Used: used}}
	snapshot := podspec.PlainCluster(37)
	snapshot.ResourceQuotas = podspec.Known([]corev1.ResourceQuota{quota})
	return snapshot
}

func limitsOf(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse(cpu), corev1.ResourceLimitsMemory: resource.MustParse(memory)}
}

func ExamplePredict() {
	snapshot := namespaceWith(limitsOf("4", "8Gi"), limitsOf("3", "1Gi"))
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "bot"}}}}

	prediction, _ := podspec.Predict(snapshot, pod)
	fmt.Println(prediction.Verdict, prediction.Category)
	for _, finding := range prediction.Refusals() {
		fmt.Println("-", finding)
	}

	pod, _, _ = podspec.Apply(pod, podspec.Plan{Size: podspec.MustSize(podspec.Cores(2), podspec.MiB(1024))})
	prediction, _ = podspec.Predict(snapshot, pod)
	fmt.Println(prediction.Verdict, prediction.Category)
	for _, finding := range prediction.Refusals() {
		fmt.Println("-", finding)
	}
	// Output:
	// Reject QuotaMissing
	// - Refuses: container bot declares no limits.cpu, which ResourceQuota team demands of every container; set it; one size sets request and limit
	// - Refuses: container bot declares no limits.memory, which ResourceQuota team demands of every container; set it; one size sets request and limit
	// Reject QuotaExceeded
	// - Refuses: ResourceQuota team has 3 of 4 limits.cpu in use, and the pod needs 2; wait until other pods end, ask for less, or raise the quota
}

// What a namespace does to a pod is stated as literals: no cluster is asked.
func ExamplePlainCluster() {
	snapshot := podspec.PlainCluster(37)
	snapshot.LimitRanges = podspec.Known([]corev1.LimitRange{{
		ObjectMeta: metav1.ObjectMeta{Name: "bounds"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer,
			Max:  corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		}}},
	}})
	for _, mebibytes := range []int64{1024, 2048} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "bot"}}}}
		pod, _, _ = podspec.Apply(pod, podspec.Plan{Size: podspec.MustSize(podspec.Cores(2), podspec.MiB(mebibytes))})
		prediction, _ := podspec.Predict(snapshot, pod)
		fmt.Println(prediction.Verdict, prediction.Refusals())
	}
	// Output:
	// Admit []
	// Reject [Refuses: container bot has a limit of 2Gi of memory, more than the maximum of 1Gi in LimitRange bounds; lower the limit to 1Gi]
}

func ExampleExplainError() {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "bot-1", errors.New("exceeded quota: team, requested: limits.cpu=2, used: limits.cpu=3, limited: limits.cpu=4"))
	diagnosis := podspec.ExplainError(err)
	fmt.Println(diagnosis.Category, diagnosis.Retry)
	fmt.Println(diagnosis)
	// Output:
	// QuotaExceeded WhenUsageDrops
	// quota team is exceeded: 3 of 4 limits.cpu are in use and the pod needs 2; wait until other pods end, ask for less, or raise the quota
}

func ExampleExplainPod() {
	pod := &corev1.Pod{
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "bot", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}}}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "bot", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}}}}},
	}
	for _, diagnosis := range podspec.ExplainPod(pod, nil) {
		fmt.Println(diagnosis)
	}
	// Output:
	// container bot used more memory than it may (OOMKilled), which is 64Mi; give it more memory, 96Mi next
}

func ExampleHarden() {
	pod := &corev1.Pod{Spec: corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Name: "bot"}}}}
	_, result, err := podspec.Harden(pod, podspec.Hardening{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result)
	for _, conflict := range result.Conflicts {
		fmt.Println(conflict.Message)
	}
	// Output:
	// set spec.securityContext.runAsNonRoot true (hardening)
	// set spec.securityContext.seccompProfile.type RuntimeDefault (hardening)
	// set spec.containers[bot].securityContext.allowPrivilegeEscalation false (hardening)
	// set spec.containers[bot].securityContext.capabilities.drop ALL (hardening)
	// PodSecurity restricted:latest forbids: host namespaces (hostNetwork=true)
}

func ExampleFit() {
	snapshot := namespaceWith(limitsOf("4", "8Gi"), limitsOf("3", "1Gi"))
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "bot"}}}}
	plan := podspec.Plan{Size: podspec.MustSize(podspec.Cores(2), podspec.MiB(1024))}
	fitted, err := podspec.Fit(snapshot, pod, plan, podspec.ShrinkToQuota(podspec.MustSize(podspec.Cores(0.5))))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(fitted.Size)
	for _, adjustment := range fitted.Adjustments {
		fmt.Println(adjustment)
	}
	// Output:
	// cpu=1 (code, shrunk to ResourceQuota team), memory=1Gi (code)
	// cpu from 2 to 1: ResourceQuota team has 3 of 4 limits.cpu in use, and the pod needs 2
}

func ExampleNodeRoom() {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("3900m"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}}}
	resources, _ := podspec.BuildPodResources(podspec.MustSize(podspec.CPU("900m"), podspec.MiB(1024)))
	shape := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "bot", Resources: resources}}}}
	capacity := podspec.NodeRoom([]corev1.Node{node}, nil, shape)
	fmt.Println(capacity.Total, capacity.Nodes[0].Limiting)
	// Output:
	// 4 cpu
}

func ExampleVerifyAccepted() {
	intended := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "bot"}}}}
	accepted := intended.DeepCopy()
	accepted.Annotations = map[string]string{"kubernetes.io/limit-ranger": "LimitRanger plugin set: memory limit for container bot"}
	accepted.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
	for _, drift := range podspec.VerifyAccepted(intended, accepted, 37).Drifts {
		fmt.Println(drift)
	}
	// Output:
	// spec.containers[bot].resources.limits.memory: intended nothing, accepted 64Mi (LimitRange)
}
