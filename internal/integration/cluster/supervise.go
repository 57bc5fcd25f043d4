package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/bursar-dev/bursar/internal/apiserver"
)

const (
	// superviseIn names the folder of the run in the supervisor's environment; it makes a test binary a supervisor.
	superviseIn    = "BURSAR_CLUSTER_SUPERVISE_IN"
	kubeconfigFile = "kubeconfig"
)

// The words between the tests and their supervisor.
const (
	ready  = "ready"
	done   = "done"
	failed = "failed"
)

// supervise is the life of the supervisor: start the servers, say so, wait for the end of the tests, stop the servers.
func supervise(dir string, o Options) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	// Tests that are killed while the servers start read no word from us: that must not end us before the servers.
	signal.Ignore(syscall.SIGPIPE)
	ctx, ended := context.WithCancel(ctx)
	passed := make(chan bool, 1)
	go func() {
		// However the tests end, the pipe from them closes.
		word, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		passed <- strings.TrimSpace(word) == done
		ended()
	}()

	scratch := filepath.Join(dir, "scratch")
	err := serve(ctx, dir, scratch, o)
	err = errors.Join(err, os.RemoveAll(scratch))
	if err != nil {
		log.Print(err)
		return 1
	}
	select {
	case ok := <-passed:
		if ok {
			err = os.RemoveAll(dir)
		}
	default: // a signal came first: the logs stay
	}
	if err != nil {
		log.Print(err)
		return 1
	}
	return 0
}

// serve keeps the servers up until ctx is done. All that they write for themselves lies in scratch.
func serve(ctx context.Context, dir, scratch string, o Options) (err error) {
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return err
	}
	if err := os.Setenv("TMPDIR", scratch); err != nil {
		return err
	}
	env, closeLogs, err := o.environment(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLogs()) }()
	if _, err := env.Start(); err != nil {
		return errors.Join(err, env.Stop())
	}
	defer func() { err = errors.Join(err, env.Stop()) }()
	kubeconfig := filepath.Join(dir, kubeconfigFile)
	if err := os.WriteFile(kubeconfig, env.KubeConfig, 0o600); err != nil {
		return err
	}
	stop, err := o.follow(ctx, dir, kubeconfig)
	defer stop()
	if err != nil {
		return err
	}
	if _, err := fmt.Println(ready); err != nil {
		return fmt.Errorf("nobody waits for the servers: %w", err)
	}
	<-ctx.Done()
	return nil
}

// environment is etcd and kube-apiserver as the options want them, each with its own log.
func (o Options) environment(dir string) (env *envtest.Environment, closeLogs func() error, err error) {
	etcd, err := os.Create(filepath.Join(dir, apiserver.Etcd+".log"))
	if err != nil {
		return nil, nil, err
	}
	server, err := os.Create(filepath.Join(dir, apiserver.APIServer+".log"))
	if err != nil {
		return nil, nil, errors.Join(err, etcd.Close())
	}
	env = &envtest.Environment{
		// Whatever the environment says: tests never run on a cluster that somebody uses.
		UseExistingCluster:       new(false),
		ControlPlaneStartTimeout: time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	env.ControlPlane.Etcd = &envtest.Etcd{Out: etcd, Err: etcd}
	control := env.ControlPlane.GetAPIServer()
	control.Out, control.Err = server, server
	for name, values := range o.APIServerFlags {
		control.Configure().Append(name, values...)
	}
	return env, func() error { return errors.Join(etcd.Close(), server.Close()) }, nil
}

// A follower is a process that works on the API server.
type follower struct {
	binary    string
	arguments []string
}

func (o Options) followers(kubeconfig string) []follower {
	usual := []string{"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0"}
	var all []follower
	if len(o.Controllers) > 0 {
		all = append(all, follower{apiserver.ControllerManager, append(usual[:3:3], "--controllers="+strings.Join(o.Controllers, ","))})
	}
	if o.Scheduler {
		all = append(all, follower{apiserver.Scheduler, usual})
	}
	return all
}

// follow starts all of them. Stop ends those that run, also where one has not started.
func (o Options) follow(ctx context.Context, dir, kubeconfig string) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for _, f := range o.followers(kubeconfig) {
		s, err := f.start(ctx, dir)
		if err != nil {
			return stop, err
		}
		stops = append(stops, s)
	}
	return stop, nil
}

// start runs the process with its own log; stop ends it and waits for that. The end of ctx does not.
func (f follower) start(ctx context.Context, dir string) (stop func(), err error) {
	out, err := os.Create(filepath.Join(dir, f.binary+".log"))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cmd := exec.CommandContext(ctx, filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), f.binary), f.arguments...)
	cmd.Stdout, cmd.Stderr = out, out
	// A group of its own keeps the terminal's interrupt from it: it ends before the API server, never by surprise.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, errors.Join(fmt.Errorf("%s: %w", f.binary, err), out.Close())
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		err := cmd.Wait()
		if ctx.Err() == nil {
			log.Printf("%s has ended by itself: %v", f.binary, err)
		}
	}()
	return func() {
		cancel()
		<-exited
		if err := out.Close(); err != nil {
			log.Print(err)
		}
	}, nil
}
