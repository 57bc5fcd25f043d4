package install

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pause is between two looks at a CRD. The API server needs some 100 ms to
// establish one.
const pause = 100 * time.Millisecond

// A check says what is still missing of a CRD, "" if nothing. The CRD is nil
// where there is none.
type check func(*apiextensionsv1.CustomResourceDefinition) string

// await looks at the CRD until the check has nothing to say. What the context's
// end interrupts is told with its cause.
func await(ctx context.Context, c client.Client, name string, missing check) error {
	var says string
	err := wait.PollUntilContextCancel(ctx, pause, true, func(ctx context.Context) (bool, error) {
		crd, err := get(ctx, c, name)
		if transient(err) {
			says = err.Error()
			return false, nil
		}
		if err != nil {
			return false, err
		}
		says = missing(crd)
		return says == "", nil
	})
	if ctx.Err() == nil {
		return err
	}
	if says == "" {
		says = "the API server has not answered"
	}
	return fmt.Errorf("%s: %w", says, context.Cause(ctx))
}

// transient errors go away by themselves.
func transient(err error) bool {
	return apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsTimeout(err) || apierrors.IsInternalError(err) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err)
}

// get reads a CRD through a client whose scheme need not know the type; nil if
// there is none.
func get(ctx context.Context, c client.Client, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	if err := c.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	return crd, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, crd)
}

func notDeleting(crd *apiextensionsv1.CustomResourceDefinition) string {
	if crd == nil || crd.DeletionTimestamp.IsZero() {
		return ""
	}
	return fmt.Sprintf("it is being deleted, and waits for %d finalizers: %v", len(crd.Finalizers), crd.Finalizers)
}

func established(crd *apiextensionsv1.CustomResourceDefinition) string {
	if crd == nil {
		return "it was deleted while it was installed"
	}
	says := "the API server has not looked at it yet"
	for _, condition := range crd.Status.Conditions {
		if condition.Status == apiextensionsv1.ConditionTrue {
			if condition.Type == apiextensionsv1.Established {
				return ""
			}
			continue
		}
		switch condition.Type {
		case apiextensionsv1.NamesAccepted:
			return fmt.Sprintf("another CRD has its names (%s): %s", condition.Reason, condition.Message)
		case apiextensionsv1.Established:
			says = fmt.Sprintf("it is not established (%s): %s", condition.Reason, condition.Message)
		default:
		}
	}
	return says
}
