package podspec_test

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

func ExampleBuildPodResources() {
	size, err := podspec.NewSize(podspec.Cores(0.5), podspec.MiB(1024))
	if err != nil {
		fmt.Println(err)
		return
	}
	resources, err := podspec.BuildPodResources(size)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, limit := resources.Requests[name], resources.Limits[name]
		fmt.Println(name, request.String(), limit.String())
	}
	// Output:
	// cpu 500m 500m
	// memory 1Gi 1Gi
}

func ExampleBuildPodResources_incomplete() {
	_, err := podspec.BuildPodResources(podspec.MustSize(podspec.Cores(2)))
	fmt.Println(errors.Is(err, podspec.ErrIncomplete))
	fmt.Println(err)
	// Output:
	// true
	// size: does not set memory; a namespace whose quota counts them rejects the pod; set them, or say with WithRequired what is needed
}

func ExampleNewSize() {
	_, err := podspec.NewSize(podspec.CPU("0,5"), podspec.Memory("512m"))
	fmt.Println(err)
	// Output:
	// cpu: "0,5" is not a quantity; a decimal comma is not understood, write 0.5
	// memory: "512m" is not a whole number of bytes; m means a thousandth of a byte, write 512Mi
}

func ExampleProfilesFromEnv() {
	variables := map[string]string{
		"RUNTIME_BOT_CPU":          "0.5",
		"RUNTIME_BOT_MEMORY_MB":    "1024",
		"RUNTIME_AGENT_WORKER_CPU": "", // empty is undeclared
	}
	lookup := func(name string) (string, bool) { value, found := variables[name]; return value, found } // os.LookupEnv in a program
	profiles, err := podspec.ProfilesFromEnv(lookup)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(profiles["meeting-bot"])
	fmt.Println(profiles["agent-worker"])
	// Output:
	// cpu=500m (env RUNTIME_BOT_CPU), memory=1Gi (env RUNTIME_BOT_MEMORY_MB)
	// (nothing set)
}

func ExampleResolve() {
	spec := podspec.MustSize(podspec.Cores(4).From("spec"))
	profile := podspec.MustSize(podspec.Cores(1).From("profile meeting-bot"), podspec.MiB(2048).From("profile meeting-bot"))
	fmt.Println(podspec.Resolve(spec, profile))
	// Output:
	// cpu=4 (spec), memory=2Gi (profile meeting-bot)
}

func ExampleApply() {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "bot", Image: "registry.example/bot"}}}}
	size := podspec.MustSize(podspec.Cores(2), podspec.MiB(1024).From("env RUNTIME_BOT_MEMORY_MB"))
	sized, report, err := podspec.Apply(pod, podspec.Plan{Size: size, Identity: podspec.Identity{Workload: "meeting-42"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report)
	fmt.Println(len(pod.Labels), len(sized.Labels))
	// Output:
	// set metadata.labels[bursar.dev/managed] true (identity)
	// set metadata.labels[bursar.dev/workload-id] meeting-42 (identity)
	// set spec.containers[bot].resources.requests.cpu 2 (code)
	// set spec.containers[bot].resources.limits.cpu 2 (code)
	// set spec.containers[bot].resources.requests.memory 1Gi (env RUNTIME_BOT_MEMORY_MB)
	// set spec.containers[bot].resources.limits.memory 1Gi (env RUNTIME_BOT_MEMORY_MB)
	// 0 2
}

func ExampleIdentity_Selector() {
	selector, err := podspec.Identity{Workload: "meeting-42"}.Selector()
	fmt.Println(selector, err)
	// Output:
	// bursar.dev/managed=true,bursar.dev/workload-id=meeting-42 <nil>
}
