package podspec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

func TestVerifyAccepted(t *testing.T) {
	annotated := func(p *corev1.Pod) *corev1.Pod {
		p.Annotations = map[string]string{"kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu, memory request for container main; memory limit for container main; cpu limit for init container init"}
		return p
	}
	level := resources("/ cpu=2")
	levelled := resources("cpu=2 / cpu=2")
	tests := map[string]struct {
		intended, accepted *corev1.Pod
		want               []string
		class              corev1.PodQOSClass
	}{
		"the same":                     {main(whole), main(whole), nil, corev1.PodQOSGuaranteed},
		"another spelling":             {main("cpu=1 / cpu=1"), main("cpu=1000m / cpu=1000m"), nil, corev1.PodQOSBurstable},
		"a limit became its request":   {main("/ cpu=1"), main("cpu=1 / cpu=1"), nil, corev1.PodQOSBurstable},
		"a fraction was rounded":       {main("cpu=0.0001 /"), main("cpu=1m /"), nil, corev1.PodQOSBurstable},
		"a LimitRange filled in":       {main(""), annotated(main("cpu=1 memory=64Mi / memory=64Mi")), []string{"spec.containers[main].resources.requests.cpu: intended nothing, accepted 1 (LimitRange)", "spec.containers[main].resources.requests.memory: intended nothing, accepted 64Mi (LimitRange)", "spec.containers[main].resources.limits.memory: intended nothing, accepted 64Mi (LimitRange)"}, corev1.PodQOSBurstable},
		"the provider rounded":         {main("cpu=100m /"), annotated(main("cpu=250m /")), []string{"spec.containers[main].resources.requests.cpu: intended 100m, accepted 250m (webhook, policy or provider)"}, corev1.PodQOSBurstable},
		"somebody took it away":        {main("cpu=1 /"), main(""), []string{"spec.containers[main].resources.requests.cpu: intended 1, accepted nothing (webhook, policy or provider)"}, corev1.PodQOSBestEffort},
		"a sidecar was injected":       {main(whole), pod(container("main", whole), container("init", "/ cpu=1")), []string{"spec.initContainers[init] (added): intended nothing, accepted nothing (webhook, policy or provider)", "spec.initContainers[init].resources.limits.cpu: intended nothing, accepted 1 (webhook, policy or provider)"}, corev1.PodQOSBurstable},
		"a container went":             {pod(container("main", whole), container("b", whole)), main(whole), []string{"spec.containers[b] (removed): intended nothing, accepted nothing (webhook, policy or provider)"}, corev1.PodQOSGuaranteed},
		"an init container was filled": {pod(container("main", whole), container("init", "")), annotated(pod(container("main", whole), container("init", "/ cpu=1"))), []string{"spec.initContainers[init].resources.limits.cpu: intended nothing, accepted 1 (LimitRange)"}, corev1.PodQOSBurstable},
		"the pod level was filled in": {
			with(main(""), func(p *corev1.Pod) { p.Spec.Resources = &level }), with(main(""), func(p *corev1.Pod) { p.Spec.Resources = &levelled }), nil, corev1.PodQOSBurstable,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := test.intended.DeepCopy()
			acceptance := podspec.VerifyAccepted(test.intended, test.accepted, 0)
			var got []string
			for _, drift := range acceptance.Drifts {
				got = append(got, drift.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if acceptance.AcceptedQOS != test.class {
				t.Errorf("class %v, want %v", acceptance.AcceptedQOS, test.class)
			}
			if acceptance.Clean() != (test.want == nil) {
				t.Errorf("clean is %v: %+v", acceptance.Clean(), acceptance)
			}
			if diff := cmp.Diff(before, test.intended); diff != "" {
				t.Errorf("the argument changed: %s", diff)
			}
		})
	}
}

func TestVerifyAcceptedReadsStatusAndConstraint(t *testing.T) {
	accepted := with(main(whole), func(p *corev1.Pod) {
		p.Status.QOSClass = corev1.PodQOSBurstable
		p.Annotations = map[string]string{"openshift.io/scc": "restricted-v2"}
	})
	acceptance := podspec.VerifyAccepted(main(whole), accepted, 36)
	if acceptance.SCC != "restricted-v2" || acceptance.IntendedQOS != corev1.PodQOSGuaranteed || acceptance.AcceptedQOS != corev1.PodQOSBurstable || acceptance.Clean() {
		t.Errorf("got %+v", acceptance)
	}
	if empty := podspec.VerifyAccepted(nil, accepted, 0); empty.Drifts != nil {
		t.Errorf("got %+v", empty)
	}
}
