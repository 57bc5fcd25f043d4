package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	apiVersion = "apiextensions.k8s.io/v1"
	kind       = "CustomResourceDefinition"
)

// DefaultFieldManager owns the fields that Install applies.
const DefaultFieldManager = "bursar-install"

// DefaultTimeout is how long Install works where Options say nothing.
const DefaultTimeout = time.Minute

// Options say how to install. The zero value installs the CRDs of bursar.
type Options struct {
	// FieldManager owns what is applied; empty is DefaultFieldManager. Keep it
	// between versions of the host: fields that a manager no longer applies go
	// away only if it was the one that applied them.
	FieldManager string
	// Force takes fields over that other managers own with other values. Without
	// it they are a conflict, and an error.
	Force bool
	// Also are CRDs of the host that are installed together with those of bursar.
	// They are only read.
	Also []*apiextensionsv1.CustomResourceDefinition
	// CABundle is given to those of Also that have a conversion webhook: PEM,
	// checked before anything is written. Empty leaves what they bring.
	CABundle []byte
	// Timeout bounds the whole work, besides the context; zero or less is
	// DefaultTimeout.
	Timeout time.Duration
}

// Install applies the CRDs of bursar and those of Options.Also, and returns when
// the API server serves them all. Nothing is written if one of them is unfit.
//
// An error names the CRD. It wraps what the API server said
// (apierrors.IsConflict: another manager owns a field; apierrors.IsForbidden: the
// client may not), or the context's cause together with what was waited for. CRDs
// that were applied before an error stay.
//
// c must read from the API server, not from a cache. Its scheme need not know
// CRDs.
func Install(ctx context.Context, c client.Client, o Options) error {
	objects, err := o.objects()
	if err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %v", context.DeadlineExceeded, timeout))
	defer cancel()
	for _, object := range objects {
		if err := o.apply(ctx, c, object); err != nil {
			return fmt.Errorf("install CRD %s: %w", object.GetName(), explain(err))
		}
	}
	for _, object := range objects {
		if err := await(ctx, c, object.GetName(), established); err != nil {
			return fmt.Errorf("install CRD %s: %w", object.GetName(), explain(err))
		}
	}
	return nil
}

// objects are what is applied, bursar's own first.
func (o Options) objects() ([]*unstructured.Unstructured, error) {
	crds, err := CRDs()
	if err != nil {
		return nil, err
	}
	if len(o.CABundle) > 0 {
		if err := CheckCABundle(o.CABundle); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	var objects []*unstructured.Unstructured
	for i, crd := range append(crds, o.Also...) {
		if crd == nil || crd.Name == "" {
			return nil, fmt.Errorf("also[%d]: it is nil or has no name", i-len(crds))
		}
		if seen[crd.Name] {
			return nil, fmt.Errorf("CRD %s: it is there twice", crd.Name)
		}
		seen[crd.Name] = true
		crd = crd.DeepCopy()
		if err := setCABundle(crd, o.CABundle); err != nil {
			return nil, err
		}
		object, err := intent(crd)
		if err != nil {
			return nil, fmt.Errorf("CRD %s: %w", crd.Name, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// intent is what the applier wants to own of a CRD: neither its status nor what
// the API server writes into the metadata.
func intent(crd *apiextensionsv1.CustomResourceDefinition) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": fields["spec"]}}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetName(crd.Name)
	object.SetLabels(crd.Labels)
	object.SetAnnotations(crd.Annotations)
	return object, nil
}

// apply writes a CRD. One that is being deleted is let go first: an update of it
// would be lost.
func (o Options) apply(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	if err := await(ctx, c, object.GetName(), notDeleting); err != nil {
		return err
	}
	manager := o.FieldManager
	if manager == "" {
		manager = DefaultFieldManager
	}
	options := []client.ApplyOption{client.FieldOwner(manager)}
	if o.Force {
		options = append(options, client.ForceOwnership)
	}
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), options...)
	if err != nil && ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}

// explain says what to do about an answer of the API server.
func explain(err error) error {
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("another manager owns fields of it: agree on one, or set Options.Force: %w", err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the client may not, it takes the verbs get, create and patch on customresourcedefinitions: %w", err)
	default:
		return err
	}
}
