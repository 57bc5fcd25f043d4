package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/bursar-dev/bursar/internal/apiserver"
)

// Options say what runs beside etcd and kube-apiserver. The zero value asks for nothing more.
type Options struct {
	// Controllers of kube-controller-manager, by the names that its --controllers flag knows. None: it is not started, and
	// nobody fills the status of quotas or empties namespaces that are deleted.
	Controllers []string
	// Scheduler starts kube-scheduler.
	Scheduler bool
	// APIServerFlags are added to those that envtest sets, by name without dashes.
	APIServerFlags map[string][]string
	// AddToScheme makes types known to the client, besides those of Kubernetes and CustomResourceDefinitions.
	AddToScheme []func(*runtime.Scheme) error
}

// binaries that the options need.
func (o Options) binaries() []string {
	needed := []string{apiserver.Etcd, apiserver.APIServer}
	if len(o.Controllers) > 0 {
		needed = append(needed, apiserver.ControllerManager)
	}
	if o.Scheduler {
		needed = append(needed, apiserver.Scheduler)
	}
	return needed
}

// assets finds the folder of the binaries. It builds none: that takes longer than a test may.
func (o Options) assets(ctx context.Context) (string, error) {
	needed := o.binaries()
	if given := os.Getenv("KUBEBUILDER_ASSETS"); given != "" {
		if missing := apiserver.Missing(given, needed...); len(missing) > 0 {
			return "", fmt.Errorf("KUBEBUILDER_ASSETS=%s has no %s", given, strings.Join(missing, ", "))
		}
		return given, nil
	}
	sources, err := apiserver.Locate(ctx)
	if err != nil {
		return "", err
	}
	folder, missing, err := apiserver.Builder{Sources: sources}.Find(needed...)
	if err != nil {
		return "", err
	}
	if len(missing) > 0 {
		return "", errors.New("the cache has no " + strings.Join(missing, ", ") +
			": run `make apiserver` once (`make apiserver-scheduler` for kube-scheduler), or set KUBEBUILDER_ASSETS")
	}
	return folder, nil
}
