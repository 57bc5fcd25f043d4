package differential_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod draws a pod. Most are valid.
func (c *chance) pod(name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	valid := c.in(0.75)
	for i := range pick(c, 1, 1, 1, 2, 3) {
		pod.Spec.Containers = append(pod.Spec.Containers, c.container(fmt.Sprintf("c%d", i), valid))
	}
	for i := range pick(c, 0, 0, 0, 1, 2, 3) {
		init := c.container(fmt.Sprintf("i%d", i), valid)
		if c.in(0.4) {
			init.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, init)
	}
	if c.in(0.15) {
		pod.Spec.Resources = c.podLevel(valid)
	}
	c.surroundings(&pod.Spec)
	c.security(&pod.Spec)
	return pod
}

func (c *chance) container(name string, valid bool) corev1.Container {
	container := corev1.Container{Name: name, Image: "example.com/agent:1"}
	if valid || c.in(0.5) {
		container.Resources = c.resources()
	} else {
		container.Resources = c.anyResources()
	}
	return container
}

// resources draws amounts that are valid by themselves.
func (c *chance) resources() corev1.ResourceRequirements {
	var r corev1.ResourceRequirements
	often := pick(c, 0.3, 0.8, 0.8, 1)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if c.in(often) {
			c.pair(&r, name, true)
		}
	}
	if c.in(0.12) {
		c.pair(&r, corev1.ResourceEphemeralStorage, true)
	}
	if c.in(0.1) {
		c.pair(&r, gpu, false)
	}
	if c.in(0.05) && len(r.Limits) > 0 {
		c.pair(&r, pages, false)
	}
	return r
}

// pair draws a request, a limit or both.
func (c *chance) pair(r *corev1.ResourceRequirements, name corev1.ResourceName, apart bool) {
	amounts := c.ascending(name, 2)
	request, limit := amounts[0], amounts[1]
	if !apart {
		request = limit
	}
	switch c.IntN(5) {
	case 0:
		set(&r.Limits, name, limit)
	case 1:
		if apart {
			set(&r.Requests, name, request)
			return
		}
		fallthrough
	case 2:
		set(&r.Requests, name, request)
		set(&r.Limits, name, limit)
	default:
		set(&r.Requests, name, limit)
		set(&r.Limits, name, limit)
	}
}

// anyResources draws amounts without regard for validity.
func (c *chance) anyResources() corev1.ResourceRequirements {
	var r corev1.ResourceRequirements
	for _, list := range []*corev1.ResourceList{&r.Requests, &r.Limits} {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, gpu, pages} {
			if c.in(0.4) {
				set(list, name, c.amount(name))
			}
		}
	}
	switch c.IntN(8) {
	case 0:
		odd := pick[corev1.ResourceName](c, "gpu", "requests.cpu", "kubernetes.io/foo", "pods", "requests.nvidia.com/gpu", "x.y/z", "hugepages-3x", "storage")
		set(&r.Limits, odd, resource.MustParse(pick(c, "1", "0", "500m")))
	case 1:
		set(&r.Requests, corev1.ResourceCPU, resource.MustParse("-1"))
	case 2:
		set(&r.Limits, pages, resource.MustParse("3Mi"))
	}
	return r
}

// podLevel draws amounts of the whole pod, mostly larger than those of its containers.
func (c *chance) podLevel(valid bool) *corev1.ResourceRequirements {
	r := &corev1.ResourceRequirements{}
	for _, list := range []*corev1.ResourceList{&r.Requests, &r.Limits} {
		for _, ample := range []struct {
			name corev1.ResourceName
			most string
		}{{corev1.ResourceCPU, "20"}, {corev1.ResourceMemory, "20Gi"}, {pages, "64Mi"}} {
			if ample.name == pages && c.in(0.8) || c.in(0.55) {
				continue
			}
			set(list, ample.name, resource.MustParse(ample.most))
			if !valid {
				set(list, ample.name, c.amount(ample.name))
			}
		}
	}
	if !valid && c.in(0.1) {
		set(&r.Limits, gpu, resource.MustParse("1"))
	}
	return r
}

// surroundings draws what quotas and classes look at.
func (c *chance) surroundings(spec *corev1.PodSpec) {
	if c.in(0.25) {
		spec.ActiveDeadlineSeconds = new(int64(pick(c, 1, 30)))
	}
	if c.in(0.3) {
		spec.PriorityClassName = pick(c, "high", "low")
	}
	if c.in(0.01) {
		spec.PriorityClassName = "nowhere"
	}
	if c.in(0.2) {
		spec.RuntimeClassName = new(pick(c, "kata", "tiny", "plain"))
	}
	if c.in(0.01) {
		spec.RuntimeClassName = new("nowhere")
	}
	if c.in(0.08) {
		term := corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}
		if c.in(0.5) {
			term.Namespaces = []string{"elsewhere"}
		}
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
	}
}

// security draws what PodSecurity looks at.
func (c *chance) security(spec *corev1.PodSpec) {
	if c.in(0.6) {
		spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
			for i := range list {
				list[i].SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
			}
		}
	}
	if c.in(0.04) {
		spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	}
	if c.in(0.05) {
		spec.HostNetwork = true
		spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
	}
	if c.in(0.1) {
		spec.Volumes = []corev1.Volume{{Name: "v"}}
	}
	if c.in(0.03) {
		spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}}}}
	}
}
