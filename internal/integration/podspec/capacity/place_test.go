package capacity_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

// place writes nodes and what runs on them, and gives them as they were stored, once the scheduler knows the nodes.
func place(t *testing.T, w world, namespace string) (nodes []corev1.Node, pods []corev1.Pod) {
	t.Helper()
	for i := range w.nodes {
		nodes = append(nodes, placeNode(t, &w.nodes[i]))
	}
	for i := range w.bound {
		made := w.bound[i].pod.DeepCopy()
		made.Namespace = namespace
		if err := shared.Client.Create(t.Context(), made); err != nil {
			t.Logf("%s has one pod less: %v", w.name, err)
			continue
		}
		want := w.bound[i].status
		made.Status.Phase, made.Status.ContainerStatuses, made.Status.Conditions = want.Phase, want.ContainerStatuses, want.Conditions
		if err := shared.Client.Status().Update(t.Context(), made); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		pods = append(pods, *made)
	}
	return nodes, pods
}

// placeNode writes a node. The API server taints new nodes until something says that they are ready; here that is the test.
func placeNode(t *testing.T, node *corev1.Node) corev1.Node {
	t.Helper()
	made := node.DeepCopy()
	if err := shared.Client.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	made.Spec.Taints = node.Spec.Taints
	if err := shared.Client.Update(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	made.Status = node.Status
	if err := shared.Client.Status().Update(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	return *made
}

// remove takes a world away: with nobody to end pods, and no controller to empty namespaces, they go at once.
func remove(t *testing.T, w world, namespace string) {
	t.Helper()
	err := shared.Client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(namespace), client.GracePeriodSeconds(0))
	for i := range w.nodes {
		err = errors.Join(err, shared.Client.Delete(t.Context(), &w.nodes[i]))
	}
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, w.name+" is gone", func(ctx context.Context) error {
		var left corev1.PodList
		if err := shared.Client.List(ctx, &left, client.InNamespace(namespace)); err != nil || len(left.Items) == 0 {
			return err
		}
		return errors.New("pods are left")
	})
}
