package cluster_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/discovery"

	"github.com/bursar-dev/bursar/internal/apiserver"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

var shared cluster.Cluster

// dieBy has the test binary start a cluster and end badly; TestTheServersEndWithTheTests sets it.
const dieBy = "BURSAR_CLUSTER_TEST_DIE_BY"

func TestMain(m *testing.M) {
	if how := os.Getenv(dieBy); how != "" {
		var c cluster.Cluster
		os.Exit(c.Main(dying{how}, cluster.Options{}))
	}
	os.Exit(shared.Main(m, cluster.Options{Controllers: []string{"resourcequota-controller", "namespace-controller"}}))
}

// dying are tests that never come to their end.
type dying struct{ how string }

func (d dying) Run() int {
	if d.how == "panic" {
		panic("a test has a fault")
	}
	select {}
}

func TestTheServersEndWithTheTests(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct{ how, upTo string }{
		"that panic":                           {"panic", "kubeconfig"},
		"that are killed":                      {"kill", "kubeconfig"},
		"that are killed as the servers start": {"kill", "scratch/k8s_test_framework_*"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), dieBy+"="+c.how, "TMPDIR="+folder)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			cluster.Eventually(t, "the servers have come far enough", func(context.Context) error {
				return present(folder, c.upTo)
			})
			if c.how == "kill" {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Wait(); err == nil {
				t.Error("the tests have passed")
			}
			cluster.Eventually(t, "the supervisor has stopped the servers and removed their data", func(context.Context) error {
				if present(folder, "scratch") == nil {
					return errors.New("the data is still there")
				}
				return nil
			})
			if left := processesWith(t, folder); len(left) > 0 {
				t.Errorf("still running: %s", left)
			}
		})
	}
}

// present tells whether the folder of a run, somewhere below a temporary one, holds what the pattern says.
func present(folder, pattern string) error {
	found, err := filepath.Glob(filepath.Join(folder, "bursar-cluster-*", filepath.FromSlash(pattern)))
	if err == nil && len(found) == 0 {
		err = errors.New("no " + pattern)
	}
	return err
}

// processesWith lists the processes that have a folder's path among their arguments, on systems that have /proc.
func processesWith(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		arguments, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(arguments), folder) {
			found = append(found, strings.ReplaceAll(string(arguments), "\x00", " "))
		}
	}
	return found
}

func TestTheServerSaysItsVersion(t *testing.T) {
	said, err := exec.CommandContext(t.Context(), filepath.Join(shared.Assets, apiserver.APIServer), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(strings.TrimSpace(string(said)), "Kubernetes ")

	// Binaries that we have built are of the release that we pin.
	sources, err := apiserver.Locate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ours := apiserver.Builder{Sources: sources}
	if folder, _, err := ours.Find(); err != nil {
		t.Fatal(err)
	} else if folder == shared.Assets {
		versions, err := ours.Versions()
		if err != nil {
			t.Fatal(err)
		}
		want = versions.Kubernetes
	}

	server, err := discovery.NewDiscoveryClientForConfig(shared.Config)
	if err != nil {
		t.Fatal(err)
	}
	got, err := server.ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.GitVersion); diff != "" {
		t.Error(diff)
	}
}
