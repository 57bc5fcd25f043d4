// Preflight says what a live namespace will do to the pod of a manifest, and why.
//
//	go run ./examples/spawner/cmd/preflight -namespace agents pod.yaml
//	go run ./examples/spawner/cmd/preflight -json - < deployment.yaml
//
// The exit code is 0 if the pod is admitted, 3 if it is refused, 4 if that cannot be known, 1 if something went wrong, 2 if the
// command line is wrong.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/bursar-dev/bursar/examples/spawner/preflight"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := preflight.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
