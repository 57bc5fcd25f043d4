// Spawner is a service that runs workloads as bare pods of two profiles, under the quota of their namespace. It shows how a
// spawner of yours uses podspec and podspec/live; package spawn is the part to read.
//
//	RUNTIME_BOT_CPU=1 RUNTIME_BOT_MEMORY_MB=1024 RUNTIME_AGENT_WORKER_CPU=0.5 RUNTIME_AGENT_WORKER_MEMORY_MB=512 \
//	  go run ./examples/spawner -namespace agents -image example.com/agent:1
//	curl -d '{"id": "standup", "profile": "meeting-bot"}' localhost:8080/workloads
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/bursar-dev/bursar/examples/spawner/spawn"
	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/podspec/live"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	s := &spawn.Spawner{}
	listen := flag.String("listen", "localhost:8080", "address of the service")
	flag.StringVar(&s.Namespace, "namespace", "default", "namespace of the pods")
	flag.StringVar(&s.Image, "image", "example.com/agent:1", "image of the pods")
	flag.Parse()

	profiles, warnings, err := podspec.EnvironmentOf(os.Environ()).Profiles()
	for _, warning := range warnings {
		fmt.Fprintln(os.Stderr, "warning:", warning)
	}
	if err != nil {
		return err
	}
	s.Profiles = profiles
	cluster, err := config.GetConfig()
	if err != nil {
		return err
	}
	c, err := client.New(cluster, client.Options{})
	if err != nil {
		return err
	}
	if s.Reader, err = live.NewReader(cluster, c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: *listen, Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
