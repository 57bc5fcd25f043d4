package capacity_test

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// label keeps worlds apart: each shape selects the nodes of its own.
const label = "example.com/world"

const gpu corev1.ResourceName = "nvidia.com/gpu"

// A world is some nodes with what runs on them, and the shape of the pods that come.
type world struct {
	name  string
	nodes []corev1.Node
	bound []boundPod
	shape corev1.Pod
}

// A boundPod runs on a node, or has ended there, or is in the middle of a resize.
type boundPod struct {
	pod    corev1.Pod
	status corev1.PodStatus
}

type chance struct{ *rand.Rand }

func (c *chance) in(probability float64) bool { return c.Float64() < probability }

func pick[T any](c *chance, list ...T) T { return list[c.IntN(len(list))] }

// newWorld draws a world.
func newWorld(seed, number uint64) world {
	c := &chance{rand.New(rand.NewPCG(seed, number))}
	w := world{name: fmt.Sprintf("w%d", number)}
	for i := range 1 + c.IntN(4) {
		w.nodes = append(w.nodes, c.node(w.name, fmt.Sprintf("%s-n%d", w.name, i)))
	}
	for i := range c.IntN(6) {
		w.bound = append(w.bound, c.bound(fmt.Sprintf("bound-%d", i), pick(c, w.nodes...).Name))
	}
	w.shape = c.pod("next", c.in(0.1))
	w.shape.Spec.NodeSelector = map[string]string{label: w.name}
	if c.in(0.3) {
		w.shape.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	if c.in(0.15) {
		w.shape.Spec.Affinity = onlyFirst(w.nodes[0].Name)
	}
	return w
}

// onlyFirst wants a zone that one node has.
func onlyFirst(zone string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}},
	}}}
}

// node draws a node, with odd amounts: what a kubelet leaves allocatable is never round.
func (c *chance) node(world, name string) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: world, "zone": name}}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewMilliQuantity(1000+c.Int64N(7000), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(1<<30+c.Int64N(15<<30), resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(1<<30+c.Int64N(60<<30), resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(3+c.Int64N(10), resource.DecimalSI),
	}
	if c.in(0.5) {
		n.Status.Allocatable[gpu] = *resource.NewQuantity(c.Int64N(5), resource.DecimalSI)
	}
	n.Status.Capacity = n.Status.Allocatable.DeepCopy()
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if c.in(0.2) {
		n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "yes", Effect: pick(c, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)}}
	}
	n.Spec.Unschedulable = c.in(0.05)
	return n
}

func (c *chance) bound(name, node string) boundPod {
	b := boundPod{pod: c.pod(name, c.in(0.1))}
	b.pod.Spec.NodeName = node
	b.status.Phase = pick(c, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed)
	if b.status.Phase == corev1.PodRunning && c.in(0.4) {
		b.resize(c)
	}
	return b
}

// resize gives the containers other amounts than their spec asks for.
func (b *boundPod) resize(c *chance) {
	for i := range b.pod.Spec.Containers {
		container := &b.pod.Spec.Containers[i]
		status := corev1.ContainerStatus{Name: container.Name, Image: container.Image, Ready: true}
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Unix(1, 0)}
		if c.in(0.7) {
			status.AllocatedResources = c.amounts()
		}
		if c.in(0.7) {
			status.Resources = &corev1.ResourceRequirements{Requests: c.amounts()}
		}
		b.status.ContainerStatuses = append(b.status.ContainerStatuses, status)
	}
	if c.in(0.3) {
		reason := pick(c, corev1.PodReasonInfeasible, corev1.PodReasonDeferred)
		b.status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.Unix(1, 0)}}
	}
}

// amounts draws cpu and memory, or one of them.
func (c *chance) amounts() corev1.ResourceList {
	list := corev1.ResourceList{}
	if c.in(0.85) {
		list[corev1.ResourceCPU] = resource.MustParse(pick(c, "0", "100m", "250m", "333m", "900m", "1", "1500m"))
	}
	if c.in(0.85) {
		list[corev1.ResourceMemory] = resource.MustParse(pick(c, "0", "64Mi", "1Gi", "999M", "1500Mi", "1048577", "2Gi", "1500m"))
	}
	return list
}

func (c *chance) container(name string) corev1.Container {
	container := corev1.Container{Name: name, Image: "example.com/c:1", Resources: corev1.ResourceRequirements{Requests: c.amounts()}}
	if c.in(0.15) {
		container.Resources.Limits = container.Resources.Requests
		container.Resources.Requests = nil
	}
	if c.in(0.2) {
		set(&container.Resources.Requests, corev1.ResourceEphemeralStorage, resource.MustParse(pick(c, "1Gi", "7G", "100Mi")))
	}
	if c.in(0.15) {
		one := resource.MustParse(pick(c, "1", "2"))
		set(&container.Resources.Limits, gpu, one)
		set(&container.Resources.Requests, gpu, one)
	}
	return container
}

func set(list *corev1.ResourceList, name corev1.ResourceName, amount resource.Quantity) {
	copied := list.DeepCopy()
	if copied == nil {
		copied = corev1.ResourceList{}
	}
	copied[name] = amount
	*list = copied
}

func (c *chance) pod(name string, port bool) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for i := range 1 + c.IntN(2) {
		p.Spec.Containers = append(p.Spec.Containers, c.container(fmt.Sprintf("c%d", i)))
	}
	for i := range c.IntN(3) {
		init := c.container(fmt.Sprintf("i%d", i))
		if c.in(0.5) {
			init.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, init)
	}
	if port {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: pick[int32](c, 8080, 9090), HostIP: pick(c, "", "", "10.0.0.1", "10.0.0.2"), Protocol: pick(c, corev1.ProtocolTCP, corev1.ProtocolUDP)}}
	}
	if c.in(0.15) {
		p.Spec.RuntimeClassName = new("heavy")
	}
	if c.in(0.15) {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5")}}
	}
	return p
}
