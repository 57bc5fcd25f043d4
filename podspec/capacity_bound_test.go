package podspec_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/podspec"
)

// someAmounts draws a list of amounts, or none.
func someAmounts(t *rapid.T, label string) corev1.ResourceList {
	if rapid.IntRange(0, 3).Draw(t, label+" there") == 0 {
		return nil
	}
	list := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu"} {
		if rapid.Bool().Draw(t, label+" has "+string(name)) {
			list[name] = *resource.NewQuantity(rapid.Int64Range(0, 5).Draw(t, label+" "+string(name)), resource.DecimalSI)
		}
	}
	return list
}

func someRequirements(t *rapid.T, label string) *corev1.ResourceRequirements {
	if rapid.Bool().Draw(t, label+" absent") {
		return nil
	}
	return &corev1.ResourceRequirements{Requests: someAmounts(t, label+" requests"), Limits: someAmounts(t, label+" limits")}
}

// resizing draws a pod that runs on node a and may be in the middle of a resize.
func resizing(t *rapid.T) *corev1.Pod {
	p := pod()
	p.Spec.NodeName, p.Spec.Overhead = "a", someAmounts(t, "overhead")
	p.Spec.Resources, p.Status.Resources = someRequirements(t, "level"), someRequirements(t, "status")
	p.Status.AllocatedResources = someAmounts(t, "allocated")
	for i, name := range []string{"main", "other", "init", "sidecar"} {
		c, status := container(name, ""), corev1.ContainerStatus{Name: name, AllocatedResources: someAmounts(t, name+" allocated"), Resources: someRequirements(t, name+" status")}
		c.Resources.Requests, c.Resources.Limits = someAmounts(t, name), someAmounts(t, name+" limits")
		for limited := range c.Resources.Limits { // as the API server leaves it: no limit without a request
			if _, ok := c.Resources.Requests[limited]; !ok {
				delete(c.Resources.Limits, limited)
			}
		}
		reported := rapid.Bool().Draw(t, name+" reported")
		if i < 2 {
			p.Spec.Containers = append(p.Spec.Containers, c)
			if reported {
				p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, status)
			}
			continue
		}
		if name == "sidecar" {
			c = sidecar(name, "")
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		if reported {
			p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, status)
		}
	}
	if reason := rapid.SampledFrom([]string{"", corev1.PodReasonDeferred, corev1.PodReasonInfeasible}).Draw(t, "resize"); reason != "" {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady}, {Type: corev1.PodResizePending, Reason: reason}}
	}
	return p
}

// TestRunningPodsCountAsInKubernetes holds what a node has left, and what a quota counts, against the library of Kubernetes.
func TestRunningPodsCountAsInKubernetes(t *testing.T) {
	const plenty = 1000
	n := node("a", "cpu=1000 memory=1000 nvidia.com/gpu=1000 pods=1000000")
	hard := quota("q", "requests.cpu=1000 requests.memory=1000 requests.nvidia.com/gpu=1000 limits.cpu=1000 limits.memory=1000", "")
	rapid.Check(t, func(t *rapid.T) {
		p := resizing(t)
		held := resourcehelper.PodRequests(p.DeepCopy(), resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true})
		for _, name := range []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu"} {
			shape := main(string(name) + "=1 / " + string(name) + "=1")
			amount := held[name]
			if got := podspec.NodeRoom([]corev1.Node{n}, []corev1.Pod{*p}, shape).Total; got != plenty-amount.Value() {
				t.Errorf("%s: room for %d, and the pod holds %v", name, got, amount.String())
			}
		}
		usage, err := podspec.QuotaUsage(&hard, []corev1.Pod{*p}, time.Unix(0, 0), 37)
		if err != nil {
			t.Fatal(err)
		}
		requests := resourcehelper.PodRequests(p.DeepCopy(), resourcehelper.PodResourcesOptions{UseStatusResources: true})
		limits := resourcehelper.PodLimits(p.DeepCopy(), resourcehelper.PodResourcesOptions{UseStatusResources: true})
		want := corev1.ResourceList{
			"requests.cpu": requests["cpu"], "requests.memory": requests["memory"], "requests.nvidia.com/gpu": requests["nvidia.com/gpu"],
			"limits.cpu": limits["cpu"], "limits.memory": limits["memory"],
		}
		for name, amount := range want {
			if got := usage[name]; got.Cmp(amount) != 0 {
				t.Errorf("%s: counted %v, not %v", name, got.String(), amount.String())
			}
		}
	})
}

func TestHostPortsThatAreTaken(t *testing.T) {
	with8080 := func(change func(*corev1.ContainerPort)) *corev1.Pod {
		p := main("cpu=1 /")
		port := corev1.ContainerPort{ContainerPort: 80, HostPort: 8080}
		change(&port)
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{port}
		return p
	}
	as := func(*corev1.ContainerPort) {}
	at := func(ip string) func(*corev1.ContainerPort) { return func(p *corev1.ContainerPort) { p.HostIP = ip } }
	tests := map[string]struct {
		shape, bound *corev1.Pod
		want         int64
	}{
		"one per node":                    {with8080(as), main(""), 1},
		"the same port":                   {with8080(as), with8080(as), 0},
		"another port":                    {with8080(as), with8080(func(p *corev1.ContainerPort) { p.HostPort = 9090 }), 1},
		"another protocol":                {with8080(as), with8080(func(p *corev1.ContainerPort) { p.Protocol = corev1.ProtocolUDP }), 1},
		"TCP by name":                     {with8080(as), with8080(func(p *corev1.ContainerPort) { p.Protocol = corev1.ProtocolTCP }), 0},
		"two addresses":                   {with8080(at("10.0.0.1")), with8080(at("10.0.0.2")), 1},
		"one address":                     {with8080(at("10.0.0.1")), with8080(at("10.0.0.1")), 0},
		"one address and all of them":     {with8080(at("10.0.0.1")), with8080(at("0.0.0.0")), 0},
		"the port of the network of node": {with8080(as), with(with8080(func(p *corev1.ContainerPort) { p.HostPort, p.ContainerPort = 0, 8080 }), func(p *corev1.Pod) { p.Spec.HostNetwork = true }), 0},
		"no port of the node at all":      {main("cpu=1 /"), with8080(as), 8},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.bound.Spec.NodeName = "a"
			got := podspec.NodeRoom([]corev1.Node{node("a", "cpu=9 pods=9")}, []corev1.Pod{*test.bound}, test.shape)
			if got.Total != test.want {
				t.Errorf("room for %d, want %d: %+v", got.Total, test.want, got)
			}
		})
	}
}
