package cluster_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
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
		c := &cluster.Cluster{}
		os.Exit(c.Main(dying{how, c}, cluster.Options{}))
	}
	os.Exit(shared.Main(m, cluster.Options{Controllers: []string{"resourcequota-controller", "namespace-controller"}}))
}

// dying are tests that never come to their end.
type dying struct {
	how string
	c   *cluster.Cluster
}

func (d dying) Run() int {
	fmt.Println(d.c.Config.Host, filepath.Dir(d.c.Kubeconfig))
	if d.how == "panic" {
		panic("a test has a fault")
	}
	select {}
}

func TestTheServersEndWithTheTests(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"panic", "kill"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), dieBy+"="+how)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(stdout).ReadString('\n')
			if err != nil {
				t.Fatalf("the cluster does not start: %v", err)
			}
			host, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
			defer os.RemoveAll(dir)
			if how == "kill" {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Wait(); err == nil {
				t.Error("the tests have passed")
			}
			address, err := url.Parse(host)
			if err != nil {
				t.Fatal(err)
			}
			cluster.Eventually(t, "the API server is gone, and its data", func(ctx context.Context) error {
				if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address.Host); err == nil {
					return errors.Join(errors.New("it still listens"), conn.Close())
				}
				if _, err := os.Stat(filepath.Join(dir, "scratch")); err == nil {
					return errors.New("its data is still there")
				}
				return nil
			})
		})
	}
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
