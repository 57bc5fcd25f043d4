package podspec_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/podspec"
)

func node(name, allocatable string, change ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{Status: corev1.NodeStatus{Allocatable: amounts(allocatable)}}
	n.Name = name
	n.Labels = map[string]string{"zone": name}
	for _, c := range change {
		c(&n)
	}
	return n
}

func bound(to, text string) corev1.Pod {
	p := main(text)
	p.Spec.NodeName = to
	return *p
}

func tainted(effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "gpu", Value: "yes", Effect: effect})
	}
}

func ready(status corev1.ConditionStatus) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
	}
}

func TestNodeRoom(t *testing.T) {
	tolerate := func(toleration corev1.Toleration) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{toleration} }
	}
	running := func(p corev1.Pod, phase corev1.PodPhase) corev1.Pod { p.Status.Phase = phase; return p }
	resized := bound("a", "cpu=1 / cpu=1")
	resized.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: amounts("cpu=2"), Resources: &corev1.ResourceRequirements{Requests: amounts("cpu=3")}}}
	unasked := bound("a", "")
	unasked.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: amounts("cpu=2")}}
	const big = "cpu=4 memory=8Gi pods=110"
	tests := map[string]struct {
		nodes  []corev1.Node
		pods   []corev1.Pod
		shape  string
		change func(*corev1.Pod)
		want   string // per node: fits and what limits or excludes
		pooled int64
	}{
		"the least resource decides":          {[]corev1.Node{node("a", big), node("b", "cpu=3900m memory=7987Mi pods=3")}, nil, "cpu=900m memory=1Gi /", nil, "4 cpu, 3 pods", 8},
		"memory decides":                      {[]corev1.Node{node("a", big)}, nil, "cpu=100m memory=3Gi /", nil, "2 memory", 2},
		"bound pods take their part":          {[]corev1.Node{node("a", big)}, []corev1.Pod{bound("a", "cpu=2500m /"), bound("b", "cpu=4 /"), bound("", "cpu=4 /")}, "cpu=1 /", nil, "1 cpu", 1},
		"pods that ended do not":              {[]corev1.Node{node("a", big)}, []corev1.Pod{running(bound("a", "cpu=4 /"), corev1.PodSucceeded), running(bound("a", "cpu=4 /"), corev1.PodFailed)}, "cpu=1 /", nil, "4 cpu", 4},
		"a pod that is resized holds more":    {[]corev1.Node{node("a", big)}, []corev1.Pod{resized}, "cpu=1 /", nil, "1 cpu", 1},
		"a pod that was given what it has":    {[]corev1.Node{node("a", big)}, []corev1.Pod{unasked}, "cpu=1 /", nil, "2 cpu", 2},
		"an overdrawn node takes nothing":     {[]corev1.Node{node("a", big)}, []corev1.Pod{bound("a", "cpu=9 /")}, "cpu=1 /", nil, "0 cpu", 0},
		"a negative amount adds no room":      {[]corev1.Node{node("a", big)}, []corev1.Pod{bound("a", "cpu=-4 /")}, "cpu=1 /", nil, "4 cpu", 4},
		"more than any node could have":       {[]corev1.Node{node("a", big)}, nil, "cpu=9e18 /", nil, "0 cpu", 0},
		"a pod that takes more than there is": {[]corev1.Node{node("a", big)}, []corev1.Pod{bound("a", "cpu=9e18 memory=9e30 /")}, "cpu=1 /", nil, "0 cpu", 0},
		"a resource that no node has":         {[]corev1.Node{node("a", big)}, nil, "/ nvidia.com/gpu=1", nil, "0 nvidia.com/gpu", 0},
		"nothing is asked for":                {[]corev1.Node{node("a", big)}, nil, "cpu=0 /", nil, "110 pods", 110},
		"slots are taken by pods":             {[]corev1.Node{node("a", "cpu=4 pods=2")}, []corev1.Pod{bound("a", "")}, "cpu=1 /", nil, "1 pods", 1},
		"a node without slots":                {[]corev1.Node{node("a", "cpu=4")}, nil, "cpu=1 /", nil, "0 pods", 0},
		"fragments are lost":                  {[]corev1.Node{node("a", "cpu=1500m pods=9"), node("b", "cpu=1500m pods=9")}, nil, "cpu=1 /", nil, "1 cpu, 1 cpu", 3},
		"a host port is there once":           {[]corev1.Node{node("a", big)}, nil, "cpu=1 /", func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} }, "1 cpu", 4},
		"a node that is not ready":            {[]corev1.Node{node("a", big, ready(corev1.ConditionUnknown))}, nil, "cpu=1 /", nil, "0 not ready", 0},
		"a node that is ready":                {[]corev1.Node{node("a", big, ready(corev1.ConditionTrue))}, nil, "cpu=1 /", nil, "4 cpu", 4},
		"a node that is cordoned":             {[]corev1.Node{node("a", big, func(n *corev1.Node) { n.Spec.Unschedulable = true })}, nil, "cpu=1 /", nil, "0 unschedulable", 0},
		"a pod that does not mind":            {[]corev1.Node{node("a", big, func(n *corev1.Node) { n.Spec.Unschedulable = true })}, nil, "cpu=1 /", tolerate(corev1.Toleration{Operator: corev1.TolerationOpExists}), "4 cpu", 4},
		"a taint":                             {[]corev1.Node{node("a", big, tainted(corev1.TaintEffectNoSchedule))}, nil, "cpu=1 /", nil, "0 taint gpu=yes:NoSchedule", 0},
		"a taint that is a wish":              {[]corev1.Node{node("a", big, tainted(corev1.TaintEffectPreferNoSchedule))}, nil, "cpu=1 /", nil, "4 cpu", 4},
		"a taint that is tolerated":           {[]corev1.Node{node("a", big, tainted(corev1.TaintEffectNoExecute))}, nil, "cpu=1 /", tolerate(corev1.Toleration{Key: "gpu", Value: "yes"}), "4 cpu", 4},
		"another value is tolerated":          {[]corev1.Node{node("a", big, tainted(corev1.TaintEffectNoExecute))}, nil, "cpu=1 /", tolerate(corev1.Toleration{Key: "gpu", Value: "no"}), "0 taint gpu=yes:NoExecute", 0},
		"another effect is tolerated":         {[]corev1.Node{node("a", big, tainted(corev1.TaintEffectNoExecute))}, nil, "cpu=1 /", tolerate(corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}), "0 taint gpu=yes:NoExecute", 0},
		"an operator that nobody knows":       {[]corev1.Node{node("a", big, tainted(corev1.TaintEffectNoExecute))}, nil, "cpu=1 /", tolerate(corev1.Toleration{Key: "gpu", Operator: "Odd"}), "0 taint gpu=yes:NoExecute", 0},
		"a node selector":                     {[]corev1.Node{node("a", big), node("b", big)}, nil, "cpu=1 /", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"zone": "b"} }, "0 node selector or affinity, 4 cpu", 4},
		"a node by its name":                  {[]corev1.Node{node("a", big), node("b", big)}, nil, "cpu=1 /", func(p *corev1.Pod) { p.Spec.NodeName = "b" }, "0 the shape names another node, 4 cpu", 4},
		"init containers and sidecars":        {[]corev1.Node{node("a", big)}, nil, "cpu=1 /", func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{sidecar("s", "cpu=1 /")} }, "2 cpu", 2},
		"no node":                             {nil, nil, "cpu=1 /", nil, "", 0},
		"amounts beyond all thousandths":      {[]corev1.Node{node("a", "memory=7Ei pods=110")}, nil, "memory=1Ei /", nil, "7 memory", 7},
		"an affinity that nobody can compile": {[]corev1.Node{node("a", big)}, nil, "cpu=1 /", badAffinity, "0 the shape's node affinity cannot be read", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			shape := main(test.shape)
			if test.change != nil {
				test.change(shape)
			}
			capacity := podspec.NodeRoom(test.nodes, test.pods, shape)
			var parts []string
			total := int64(0)
			for _, n := range capacity.Nodes {
				why := string(n.Limiting) + n.Excluded
				if strings.HasPrefix(why, "the shape's node affinity") {
					why, _, _ = strings.Cut(why, ":")
				}
				parts = append(parts, resource.NewQuantity(n.Fits, resource.DecimalSI).String()+" "+why)
				total += n.Fits
			}
			if diff := cmp.Diff(test.want, strings.Join(parts, ", ")); diff != "" {
				t.Error(diff)
			}
			if capacity.Total != total || capacity.Pooled != test.pooled || capacity.Lost() != max(0, test.pooled-total) {
				t.Errorf("total %d, pooled %d, lost %d", capacity.Total, capacity.Pooled, capacity.Lost())
			}
		})
	}
}

func badAffinity(p *corev1.Pod) {
	p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "x", Operator: "Odd"}}}}}}}
}

// TestNodeRoomFillsUp: as many pods as were promised fit one after the other, and not one more.
func TestNodeRoomFillsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		milli := func(most int64, label string) string {
			return resource.NewMilliQuantity(rapid.Int64Range(1, most).Draw(t, label), resource.DecimalSI).String()
		}
		nodes := []corev1.Node{node("a", "cpu="+milli(5000, "node")+" memory="+milli(9e6, "node")+" pods=7")}
		shape := main("cpu=" + milli(2000, "shape") + " memory=" + milli(3e6, "shape") + " /")
		var pods []corev1.Pod
		promised := podspec.NodeRoom(nodes, nil, shape).Total
		for left := promised; left >= 0; left-- {
			if got := podspec.NodeRoom(nodes, pods, shape).Total; got != left {
				t.Fatalf("after %d pods there is room for %d, want %d", len(pods), got, left)
			}
			next := *shape.DeepCopy()
			next.Spec.NodeName = "a"
			pods = append(pods, next)
		}
	})
}

func TestQuotaRoom(t *testing.T) {
	tests := map[string]struct {
		world podspec.Snapshot
		want  podspec.QuotaRoom
	}{
		"no quota":                {world(), podspec.QuotaRoom{}},
		"one quota":               {world(quota("q", "limits.cpu=4 pods=9", "limits.cpu=500m")), podspec.QuotaRoom{Limited: true, Fits: 3, Quota: "q", Resource: "limits.cpu"}},
		"the smaller of two":      {world(quota("q", "limits.cpu=4", ""), quota("r", "pods=3", "pods=1")), podspec.QuotaRoom{Limited: true, Fits: 2, Quota: "r", Resource: "pods"}},
		"an overdrawn quota":      {world(quota("q", "pods=1", "pods=3")), podspec.QuotaRoom{Limited: true, Quota: "q", Resource: "pods"}},
		"a quota of other things": {world(quota("q", "services=1", "")), podspec.QuotaRoom{}},
		"absurd room":             {world(quota("q", "limits.memory=8Ei", "")), podspec.QuotaRoom{Limited: true, Fits: 8589934591, Quota: "q", Resource: "limits.memory"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := predict(t, test.world, main(whole)).QuotaRoom()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	nodes := podspec.Capacity{Total: 5}
	if podspec.Room(nodes, podspec.QuotaRoom{}) != 5 || podspec.Room(nodes, podspec.QuotaRoom{Limited: true, Fits: 3}) != 3 || podspec.Room(nodes, podspec.QuotaRoom{Limited: true, Fits: math.MaxInt64}) != 5 {
		t.Error("Room is not the smaller of the two")
	}
}
