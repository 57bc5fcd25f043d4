package main

import (
	"cmp"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/bursar-dev/bursar/podspec"
)

// A pod is a Pod as one writes it, without the status that an API server adds.
type pod struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              corev1.PodSpec `json:"spec"`
}

// worker is the profile of the pods. RUNTIME_AGENT_WORKER_CPU, _MEMORY_MB and
// so on change it where the program runs.
func worker() podspec.Declaration {
	d := podspec.AgentWorker()
	d.Default = podspec.MustSize(podspec.Cores(0.5), podspec.MiB(1024))
	return d
}

// podFor builds the pod that a controller would start for an admitted run. One
// amount per dimension is its request and its limit, so that a namespace with a
// quota takes it, and two labels let a restarted controller find it again.
func podFor(r finishedRun) (*pod, error) {
	profiles, err := podspec.ProfilesFromEnv(os.LookupEnv, worker())
	if err != nil {
		return nil, err
	}
	size, err := profiles.Size(worker().Name)
	if err != nil {
		return nil, err
	}
	sized, _, err := podspec.Apply(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: r.title(), Namespace: r.Namespace, Labels: r.Labels},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "agent", Image: "registry.example/agents/" + cmp.Or(r.Type, "any")}},
		},
	}, podspec.Plan{Size: size, Identity: podspec.Identity{Workload: string(r.UID)}})
	if err != nil {
		return nil, err
	}
	return &pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: sized.ObjectMeta,
		Spec:       sized.Spec,
	}, nil
}

func (p *pod) yaml() (string, error) {
	text, err := sigsyaml.Marshal(p)
	return string(text), err
}
