package live

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/podspec"
)

// VersionSource tells the version of the API server. The discovery client of client-go is one.
type VersionSource interface {
	ServerVersionWithContext(ctx context.Context) (*version.Info, error)
}

// Reader reads snapshots of namespaces.
type Reader struct {
	// Client reads the objects, without a cache. Required. Kinds that its scheme lacks are unknown.
	Client client.Client
	// Version tells the server's version; nil leaves it unknown.
	Version VersionSource
	// PodSecurity is the API server's configuration of PodSecurity, which no client can read. The zero Part is unknown;
	// podspec.Known(podspec.PodSecurityDefaults{}) is what Kubernetes does without a configuration.
	PodSecurity podspec.Part[podspec.PodSecurityDefaults]
	// Clock stamps the snapshots; nil is the real clock.
	Clock clock.PassiveClock
}

// NewReader gives a reader that also asks for the server's version.
func NewReader(config *rest.Config, c client.Client) (Reader, error) {
	source, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return Reader{}, fmt.Errorf("a client for the server's version: %w", err)
	}
	return Reader{Client: c, Version: source}, nil
}

// Read gives what is known of a namespace. What the caller may not read, what the cluster does not serve and what the
// client's scheme lacks is unknown with that reason. Whatever else keeps a part from being read makes it unknown too and is
// reported in the error; the snapshot is usable all the same. A namespace that does not exist is an error that wraps NotFound.
func (r Reader) Read(ctx context.Context, namespace string) (podspec.Snapshot, error) {
	var found faults
	s := podspec.Snapshot{PodSecurity: r.PodSecurity, ReadAt: metav1.NewTime(clockOr(r.Clock).Now())}
	in := client.InNamespace(namespace)

	var own corev1.Namespace
	s.Namespace = part(&found, "namespace "+namespace, r.Client.Get(ctx, client.ObjectKey{Name: namespace}, &own), func() corev1.Namespace { return own })
	var limits corev1.LimitRangeList
	s.LimitRanges = part(&found, "LimitRanges", r.Client.List(ctx, &limits, in), func() []corev1.LimitRange { return limits.Items })
	var quotas corev1.ResourceQuotaList
	s.ResourceQuotas = part(&found, "ResourceQuotas", r.Client.List(ctx, &quotas, in), func() []corev1.ResourceQuota { return quotas.Items })
	var priorities schedulingv1.PriorityClassList
	s.PriorityClasses = part(&found, "PriorityClasses", r.Client.List(ctx, &priorities), func() []schedulingv1.PriorityClass { return priorities.Items })
	var runtimes nodev1.RuntimeClassList
	s.RuntimeClasses = part(&found, "RuntimeClasses", r.Client.List(ctx, &runtimes), func() []nodev1.RuntimeClass { return runtimes.Items })

	minor, err := r.minor(ctx)
	s.ServerMinor = part(&found, "the server's version", err, func() int { return minor })
	hooks, err := r.webhooks(ctx, s.Namespace)
	s.Webhooks = part(&found, "admission webhooks", err, func() []string { return hooks })
	openShift, err := r.openShift(ctx, in)
	s.OpenShift = part(&found, "OpenShift's quotas", err, func() podspec.OpenShift { return openShift })
	return s, found.err(namespace)
}

// errNoVersion is the reason of a version that nobody asks for.
var errNoVersion = errors.New("nobody asks for it")

// minor asks for the minor version whose rules the server follows: where it emulates an older one, that one.
func (r Reader) minor(ctx context.Context) (int, error) {
	if r.Version == nil {
		return 0, errNoVersion
	}
	info, err := r.Version.ServerVersionWithContext(ctx)
	if err != nil {
		return 0, err
	}
	text := info.EmulationMinor
	if text == "" {
		text = info.Minor
	}
	minor, err := strconv.Atoi(strings.TrimRight(text, "+"))
	if err != nil {
		return 0, fmt.Errorf("minor version %q: %w", text, err)
	}
	return minor, nil
}

// part is known where there is no error.
func part[T any](found *faults, what string, err error, value func() T) podspec.Part[T] {
	if err == nil {
		return podspec.Known(value())
	}
	reason, expected := reasonOf(err)
	if !expected {
		*found = append(*found, fmt.Errorf("%s: %w", what, err))
	}
	return podspec.Unknown[T](reason)
}

// reasonOf says why something is not known, and whether that is to be expected of a cluster that works.
func reasonOf(err error) (reason string, expected bool) {
	switch {
	case apierrors.IsForbidden(err):
		return "forbidden", true
	case meta.IsNoMatchError(err):
		return "not served by this cluster", true
	case runtime.IsNotRegisteredError(err):
		return "not in the client's scheme", true
	case errors.Is(err, errNoVersion), errors.Is(err, errNoNamespace):
		return err.Error(), true
	}
	return err.Error(), false
}

// faults collects what could not be read.
type faults []error

func (f faults) err(namespace string) error {
	if len(f) == 0 {
		return nil
	}
	return fmt.Errorf("read what decides in namespace %s: %w", namespace, errors.Join(f...))
}

func clockOr(c clock.PassiveClock) clock.PassiveClock {
	if c == nil {
		return clock.RealClock{}
	}
	return c
}
