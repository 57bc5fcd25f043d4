package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Cluster is the API server of one test binary. The zero value is ready for [Cluster.Main], which fills it; afterwards
// nobody changes it, and the tests may use it at once from several goroutines.
type Cluster struct {
	// Config reaches the API server as an administrator, without a rate limit. Copy it before a change.
	Config *rest.Config
	// Client talks to the API server without a cache.
	Client client.WithWatch
	// Scheme is the client's.
	Scheme *runtime.Scheme
	// Kubeconfig is the path of a file with what Config says.
	Kubeconfig string
	// Assets is the folder of the binaries that run.
	Assets string
}

// startWithin bounds the start of all processes, on a machine that has other work.
const startWithin = 2 * time.Minute

// Main starts the API server, runs the tests (m is a *testing.M), stops the API server and gives the exit code for os.Exit.
// Where the API server does not start it says why and gives 1: nothing is skipped.
func (c *Cluster) Main(m interface{ Run() int }, o Options) int {
	if dir := os.Getenv(superviseIn); dir != "" {
		return supervise(dir, o)
	}
	s, err := c.start(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		return 1
	}
	code := m.Run()
	if err := s.stop(code == 0); err != nil {
		fmt.Fprintln(os.Stderr, "cluster: stopping:", err)
		return max(code, 1)
	}
	return code
}

// start runs the supervisor and connects to what it has started.
func (c *Cluster) start(o Options) (*supervisor, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), startWithin, errors.New("it is not up after "+startWithin.String()))
	defer cancel()
	var err error
	if c.Assets, err = o.assets(ctx); err != nil {
		return nil, err
	}
	s, err := startSupervisor(ctx, c.Assets)
	if err != nil {
		return nil, err
	}
	c.Kubeconfig = filepath.Join(s.dir, kubeconfigFile)
	if err := c.connect(o); err != nil {
		return nil, errors.Join(err, s.stop(false))
	}
	fmt.Fprintf(os.Stderr, "cluster: API server at %s, logs in %s if a test fails\n", c.Config.Host, s.dir)
	return s, nil
}

func (c *Cluster) connect(o Options) error {
	c.Scheme = runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme}, o.AddToScheme...) {
		if err := add(c.Scheme); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	c.Config = config
	c.Client, err = client.NewWithWatch(config, client.Options{Scheme: c.Scheme})
	return err
}

// A supervisor is the process that holds the servers, as its parent sees it.
type supervisor struct {
	dir   string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	log   *os.File
}

// startSupervisor returns when the servers are up.
func startSupervisor(ctx context.Context, assets string) (*supervisor, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bursar-cluster-")
	if err != nil {
		return nil, err
	}
	s := &supervisor{dir: dir, cmd: exec.Command(self)} //nolint:noctx // it ends when its standard input closes, not before it has stopped the servers
	s.cmd.Env = append(os.Environ(), superviseIn+"="+dir, "KUBEBUILDER_ASSETS="+assets)
	if s.log, err = os.Create(filepath.Join(dir, "supervisor.log")); err != nil {
		return nil, err
	}
	s.cmd.Stderr = s.log
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := awaitReady(ctx, stdout); err != nil {
		err = errors.Join(err, s.stop(false))
		said, _ := os.ReadFile(s.log.Name())
		return nil, fmt.Errorf("the API server does not start: %w; logs in %s\n%s", err, dir, said)
	}
	return s, nil
}

// awaitReady reads the supervisor's only line.
func awaitReady(ctx context.Context, stdout io.Reader) error {
	line := make(chan string, 1)
	go func() {
		said, _ := bufio.NewReader(stdout).ReadString('\n')
		line <- strings.TrimSpace(said)
	}()
	select {
	case said := <-line:
		if said != ready {
			return errors.New("its supervisor gave up")
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stop has the supervisor stop the servers. It removes the logs when all went well.
func (s *supervisor) stop(passed bool) error {
	word := failed
	if passed {
		word = done
	}
	_, err := io.WriteString(s.stdin, word+"\n")
	return errors.Join(err, s.stdin.Close(), s.cmd.Wait(), s.log.Close())
}
