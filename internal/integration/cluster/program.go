package cluster

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// KubeconfigOf writes a kubeconfig of a user, and gives its path.
func (c *Cluster) KubeconfigOf(t testing.TB, user string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, as := range config.AuthInfos {
		as.Impersonate = user
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// Grant gives a user roles, which it creates, in the whole cluster.
func (c *Cluster) Grant(t testing.TB, user string, roles ...*rbacv1.ClusterRole) {
	t.Helper()
	for _, role := range roles {
		role.ObjectMeta = metav1.ObjectMeta{GenerateName: "test-"}
		if err := c.Client.Create(t.Context(), role); err != nil {
			t.Fatal(err)
		}
		if err := c.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// Program builds a program and runs it as a user until the test ends: then it is interrupted, as by Ctrl-C, and must end
// well. Said gives what it has printed so far.
func (c *Cluster) Program(t testing.TB, user, pkg string, arguments ...string) (said func() string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, pkg)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	// It is interrupted below, after the test's context has ended.
	run := exec.CommandContext(context.Background(), binary, append([]string{"-kubeconfig", c.KubeconfigOf(t, user)}, arguments...)...)
	log := &safeBuffer{}
	run.Stdout, run.Stderr = log, log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Process.Signal(os.Interrupt); err != nil {
			t.Errorf("interrupt %s: %v", pkg, err)
		}
		if err := run.Wait(); err != nil || t.Failed() {
			t.Errorf("%s has ended: %v\n%s", pkg, err, log)
		}
	})
	return log.String
}

// safeBuffer is written to by a process while a test reads it.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String gives what was written so far.
func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
