// Command assets prints the folder that holds the control plane for integration tests, for KUBEBUILDER_ASSETS. It says on
// standard error what it does meanwhile. A folder that KUBEBUILDER_ASSETS names already is used when it is complete;
// otherwise what the cache does not hold is built from Go modules. It runs in bursar's module, or below it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/bursar-dev/bursar/internal/apiserver"
)

func main() {
	scheduler := flag.Bool("scheduler", false, "kube-scheduler too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	binaries := apiserver.Usual()
	if *scheduler {
		binaries = append(binaries, apiserver.Scheduler)
	}
	folder, err := find(ctx, os.Getenv("KUBEBUILDER_ASSETS"), binaries)
	if err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1) //nolint:gocritic // the deferred stop only restores signals, and the process ends here
	}
	fmt.Println(folder)
}

// find gives the folder to use: the given one if it is complete, else the cache's, once it is.
func find(ctx context.Context, given string, binaries []string) (string, error) {
	if given != "" {
		missing := apiserver.Missing(given, binaries...)
		if len(missing) == 0 {
			fmt.Fprintln(os.Stderr, "assets: using KUBEBUILDER_ASSETS="+given)
			return given, nil
		}
		fmt.Fprintf(os.Stderr, "assets: KUBEBUILDER_ASSETS=%s has no %s: all of them are taken from Go modules instead\n",
			given, strings.Join(missing, ", "))
	}
	sources, err := apiserver.Locate(ctx)
	if err != nil {
		return "", err
	}
	return apiserver.Builder{Sources: sources, Log: os.Stderr}.Build(ctx, binaries...)
}
