package capacity_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/podspec"
)

// surplus is how many pods more than fit are sent, to see that they do not.
const surplus = 3

// TestTheSchedulerBindsAsManyPodsAsNodeRoomSays: on every node of every world, to the pod.
func TestTheSchedulerBindsAsManyPodsAsNodeRoomSays(t *testing.T) {
	heavy := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "heavy"}, Handler: "heavy", Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("120m"), corev1.ResourceMemory: resource.MustParse("100Mi"),
	}}}
	if err := shared.Client.Create(t.Context(), heavy); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the runtime class is known", func(ctx context.Context) error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "probe"}}
		pod.Spec = corev1.PodSpec{RuntimeClassName: &heavy.Name, Containers: []corev1.Container{{Name: "c", Image: "example.com/c:1"}}}
		return shared.Client.Create(ctx, pod, client.DryRunAll)
	})
	seed, bound, full, explained := number(t, "BURSAR_SEED", 1), int64(0), 0, 0
	worlds := number(t, "BURSAR_WORLDS", 48)
	for number := range worlds {
		r := play(t, newWorld(seed, number))
		bound, full, explained = bound+r.bound, full+r.full, explained+r.explained
	}
	t.Logf("seed %d: %d worlds, %d pods bound, %d nodes filled, %d refusals of the scheduler explained", seed, worlds, bound, full, explained)
	if bound == 0 || full == 0 || explained == 0 {
		t.Error("the worlds have lost what they are for")
	}
}

// result is what a world has shown.
type result struct {
	bound           int64
	full, explained int
}

// play puts a world on the API server, predicts, sends the pods and counts.
func play(t *testing.T, w world) result {
	t.Helper()
	namespace := shared.Namespace(t, nil)
	nodes, pods := place(t, w, namespace)
	shape := w.shape.DeepCopy()
	shape.Namespace = namespace
	if err := shared.Client.Create(t.Context(), shape, client.DryRunAll); err != nil {
		// A shape that the API server refuses is no shape; that is for the differential test.
		t.Logf("%s has no shape: %v", w.name, err)
		return result{}
	}
	room := podspec.NodeRoom(nodes, pods, shape)
	sent := room.Total + surplus
	for i := range sent {
		pod := w.shape.DeepCopy()
		pod.Namespace, pod.Name = namespace, fmt.Sprintf("next-%d", i)
		if err := shared.Client.Create(t.Context(), pod); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
	}
	r := result{bound: room.Total}
	cluster.Eventually(t, fmt.Sprintf("%s: the scheduler does what is foreseen: %+v", w.name, room), func(ctx context.Context) error {
		counts, waiting, err := seen(ctx, namespace)
		if err != nil {
			return err
		}
		if undecided := sent - total(counts) - int64(len(waiting)); undecided > 0 {
			return fmt.Errorf("%d pods are undecided", undecided)
		}
		for _, node := range room.Nodes {
			if counts[node.Node] != node.Fits {
				return fmt.Errorf("node %s has taken %d pods, not %d: %v", node.Node, counts[node.Node], node.Fits, messages(waiting))
			}
		}
		r.explained = explain(t, waiting)
		return nil
	})
	for _, node := range room.Nodes {
		if node.Fits > 0 {
			r.full++
		}
	}
	remove(t, w, namespace)
	return r
}

// seen counts the pods of the shape on each node, and gives those that the scheduler has turned down.
func seen(ctx context.Context, namespace string) (counts map[string]int64, waiting []corev1.Pod, err error) {
	var list corev1.PodList
	if err := shared.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, nil, err
	}
	counts = map[string]int64{}
	for i := range list.Items {
		pod := &list.Items[i]
		switch {
		case !strings.HasPrefix(pod.Name, "next-"):
		case pod.Spec.NodeName != "":
			counts[pod.Spec.NodeName]++
		case len(pod.Status.Conditions) > 0:
			waiting = append(waiting, *pod)
		}
	}
	return counts, waiting, nil
}

func total(counts map[string]int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

func messages(pods []corev1.Pod) []string {
	var all []string
	for i := range pods {
		all = append(all, pods[i].Status.Conditions[0].Message)
	}
	return all
}

// explain holds what ExplainPod reads from the scheduler's own words against them.
func explain(t *testing.T, waiting []corev1.Pod) int {
	t.Helper()
	for i := range waiting {
		message := waiting[i].Status.Conditions[0].Message
		found := podspec.ExplainPod(&waiting[i], nil)
		if len(found) != 1 || found[0].Category != podspec.CategoryUnschedulable || found[0].Original != message || len(found[0].Reasons) == 0 {
			t.Errorf("%q is explained as %+v", message, found)
			continue
		}
		for _, figure := range found[0].Figures {
			words := fmt.Sprintf("%d Insufficient %s", figure.Count, figure.Resource)
			if figure.Resource == corev1.ResourcePods {
				words = fmt.Sprintf("%d Too many pods", figure.Count)
			}
			if !strings.Contains(message, words) {
				t.Errorf("%q does not say %q", message, words)
			}
		}
		if strings.Count(message, "Insufficient ")+strings.Count(message, "Too many pods") != len(found[0].Figures) {
			t.Errorf("%q has more figures than %+v", message, found[0].Figures)
		}
	}
	return len(waiting)
}
