package live

import (
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/podspec"
)

// ErrForeign is the error about a name that is taken by a pod that is not the caller's.
var ErrForeign = errors.New("the name is taken by another pod")

// ErrTerminating is the error about a name that is still taken by a pod that is being deleted.
var ErrTerminating = errors.New("a pod of this name is still being deleted")

// A RefusedError is a pod that the API server did not take, explained.
type RefusedError struct {
	// Pod is the namespace and name.
	Pod client.ObjectKey
	// Attempts is how often the API server was asked.
	Attempts int
	// Diagnosis says what it was, whether to try again, and what to change.
	Diagnosis podspec.Diagnosis
	// Err is the last error of the client.
	Err error
}

// Error names the pod, what happened and the remedy.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("create pod %s: %s", e.Pod, e.Diagnosis)
}

// Unwrap gives the client's error.
func (e *RefusedError) Unwrap() error { return e.Err }
