package podspec

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Capacity is how many more pods of a shape fit on nodes.
type Capacity struct {
	// Total is the sum over the nodes.
	Total int64 `json:"total"`
	// Pooled is how many would fit if the free amounts of all usable nodes were on one node; Pooled minus Total is lost to
	// fragmentation.
	Pooled int64 `json:"pooled"`
	// Nodes are the single nodes, in the order in which they were given.
	Nodes []NodeCapacity `json:"nodes"`
}

// NodeCapacity is how many more pods of a shape fit on one node.
type NodeCapacity struct {
	Node string `json:"node"`
	// Fits is the number, never negative.
	Fits int64 `json:"fits"`
	// Limiting is the resource that is used up first ("pods" for the slots); empty if the node is excluded.
	Limiting corev1.ResourceName `json:"limiting,omitempty"`
	// Excluded is why the node takes no such pod at all; empty if it does.
	Excluded string `json:"excluded,omitempty"`
}

// Lost is how many pods are lost to fragmentation.
func (c Capacity) Lost() int64 { return max(0, c.Pooled-c.Total) }

// NodeRoom computes how many more pods of a shape a cluster takes: on each node, the least over all requested resources of
// the free amount divided by the request, and no more than its free slots. Free is what is allocatable less the effective
// requests of the pods that are bound to the node and have not ended; what the pods do not request is not looked at. Nodes
// are left out by their taints, by the shape's node selector and required affinity, when they are unschedulable or not
// ready. A shape with a host port fits once, and not where a pod has the port. Affinity between pods, spreading and
// volumes are not looked at.
//
// All arithmetic is in integers: millicores for cpu, whole units for everything else, rounded as the scheduler does it. A
// limit without a request counts as its own request. What a LimitRange would fill in is not known here: give the Effective
// pod of a prediction where it matters. A nil shape fits nowhere.
func NodeRoom(nodes []corev1.Node, pods []corev1.Pod, shape *corev1.Pod) Capacity {
	if shape == nil {
		return Capacity{}
	}
	shape = shape.DeepCopy()
	decode(shape, latestMinor)
	fillPodLevel(&shape.Spec)
	need := units(PodRequests(shape))
	used, slots := usedOn(pods)
	ports, taken := hostPortsOf(&shape.Spec), portsOn(pods)
	capacity := Capacity{Nodes: make([]NodeCapacity, 0, len(nodes))}
	pool := map[corev1.ResourceName]int64{}
	for i := range nodes {
		node := &nodes[i]
		room := NodeCapacity{Node: node.Name, Excluded: excluded(node, shape)}
		if room.Excluded == "" && collide(ports, taken[node.Name]) {
			room.Excluded = "a host port is taken"
		}
		if room.Excluded == "" {
			free := freeOn(node, used[node.Name], slots[node.Name])
			room.Fits, room.Limiting = least(free, need)
			if len(ports) > 0 {
				room.Fits = min(room.Fits, 1)
			}
			for name, amount := range free {
				pool[name] = plus(pool[name], max(0, amount))
			}
		}
		capacity.Total = plus(capacity.Total, room.Fits)
		capacity.Nodes = append(capacity.Nodes, room)
	}
	if len(pool) > 0 {
		capacity.Pooled, _ = least(pool, need)
	}
	return capacity
}

// usedOn is what the pods that have not ended take of each node: amounts, and slots.
func usedOn(pods []corev1.Pod) (used map[string]map[corev1.ResourceName]int64, slots map[string]int64) {
	used, slots = map[string]map[corev1.ResourceName]int64{}, map[string]int64{}
	for i := range pods {
		pod := &pods[i]
		if !holds(pod) {
			continue
		}
		slots[pod.Spec.NodeName]++
		if used[pod.Spec.NodeName] == nil {
			used[pod.Spec.NodeName] = map[corev1.ResourceName]int64{}
		}
		for name, amount := range units(scheduled(pod).requests()) {
			used[pod.Spec.NodeName][name] = plus(used[pod.Spec.NodeName][name], amount)
		}
	}
	return used, slots
}

// units brings amounts to integers: millicores for cpu, whole units else, rounded up. A negative amount, which no API server
// stores, is none; one that is too large for an int64 is the largest.
func units(list corev1.ResourceList) map[corev1.ResourceName]int64 {
	amounts := make(map[corev1.ResourceName]int64, len(list))
	for name, quantity := range list {
		scale := int64(1)
		if name == corev1.ResourceCPU {
			scale = 1000
		}
		switch {
		case quantity.Sign() < 0:
			amounts[name] = 0
		case quantity.CmpInt64(math.MaxInt64/scale) >= 0:
			amounts[name] = math.MaxInt64
		case scale == 1:
			amounts[name] = quantity.Value()
		default:
			amounts[name] = quantity.MilliValue()
		}
	}
	return amounts
}

// plus adds without wrapping around.
func plus(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// freeOn is what a node has left, slots for pods included.
func freeOn(node *corev1.Node, used map[corev1.ResourceName]int64, pods int64) map[corev1.ResourceName]int64 {
	free := units(node.Status.Allocatable)
	for name, amount := range used {
		free[name] -= amount
	}
	slots := node.Status.Allocatable[corev1.ResourcePods]
	free[corev1.ResourcePods] = slots.Value() - pods
	return free
}

// least is how many times a need goes into what is free, and the resource that ends first. The slots are a need of one. A
// resource of which nothing is needed is not looked at.
func least(free, need map[corev1.ResourceName]int64) (count int64, limiting corev1.ResourceName) {
	count, limiting = max(0, free[corev1.ResourcePods]), corev1.ResourcePods
	for _, name := range sortedNames(need) {
		if need[name] <= 0 {
			continue
		}
		if n := max(0, free[name]) / need[name]; n < count {
			count, limiting = n, name
		}
	}
	return count, limiting
}

// excluded says why a node takes no pod of the shape; empty if it does.
func excluded(node *corev1.Node, shape *corev1.Pod) string {
	for i := range node.Status.Conditions {
		condition := &node.Status.Conditions[i]
		if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
			return "not ready"
		}
	}
	if why := repelled(node, shape.Spec.Tolerations); why != "" {
		return why
	}
	match, err := nodeaffinity.GetRequiredNodeAffinity(shape).Match(node)
	switch {
	case err != nil:
		return "the shape's node affinity cannot be read: " + err.Error()
	case !match:
		return "node selector or affinity"
	case shape.Spec.NodeName != "" && shape.Spec.NodeName != node.Name:
		return "the shape names another node"
	}
	return ""
}

// repelled names the taint that keeps a pod away; being unschedulable is one.
func repelled(node *corev1.Node, tolerations []corev1.Toleration) string {
	if node.Spec.Unschedulable && !tolerates(tolerations, &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) {
		return "unschedulable"
	}
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(tolerations, taint) {
			return "taint " + taint.ToString()
		}
	}
	return ""
}

// tolerates says whether some toleration covers a taint: by key (an empty one with Exists covers all), effect (an empty one
// covers all) and, unless it asks for existence, value.
func tolerates(tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
		if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
			return false
		}
		switch t.Operator {
		case "", corev1.TolerationOpEqual:
			return t.Key != "" && t.Value == taint.Value
		case corev1.TolerationOpExists:
			return true
		}
		return false
	})
}
