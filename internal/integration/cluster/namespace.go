package cluster

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Namespace makes a namespace for one test, with the given labels, and deletes it when the test has ended. (It is gone
// for real only where the namespace-controller runs.)
func (c *Cluster) Namespace(t testing.TB, labels map[string]string) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Labels: labels}}
	if err := c.Client.Create(t.Context(), namespace); err != nil {
		t.Fatalf("create a namespace: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context is cancelled by now.
		if err := client.IgnoreNotFound(c.Client.Delete(context.Background(), namespace)); err != nil {
			t.Errorf("delete namespace %s: %v", namespace.Name, err)
		}
	})
	return namespace.Name
}

// Eventually calls check until it gives nil, and fails the test with its last error after a minute. What says in words
// what is awaited. The API server is eventually consistent with its own informers: a quota that was just written is
// enforced some milliseconds later.
func Eventually(t testing.TB, what string, check func(ctx context.Context) error) {
	t.Helper()
	const patience, pause = 4 * time.Minute, 20 * time.Millisecond
	start := time.Now()
	for {
		err := check(t.Context())
		if err == nil {
			return
		}
		if waited := time.Since(start); waited > patience {
			t.Fatalf("%s: not after %v: %v", what, waited.Round(time.Second), err)
		}
		time.Sleep(pause)
	}
}
