package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/podspec"
)

// Creator creates pods of deterministic names: calling it again for the same work, after a crash, a lost answer or a
// restart, gives the pod that is there already. The zero value with a Client is ready.
type Creator struct {
	// Client gets and creates pods, without a cache, and needs the right to. Required.
	Client client.Client
	// Owns says whether a pod that was found under the name of a wanted one is the caller's. Nil: it carries every label
	// that the wanted pod has (bursar's identity labels among them, see podspec.Identity) with the same value.
	Owns func(found, wanted *corev1.Pod) bool
	// Backoff is the wait between attempts; Steps is how many attempts there are. The zero value is 6 attempts from 100 ms
	// on, doubled each time, at most 5 s. A time that the server names is waited for in its place.
	Backoff wait.Backoff
	// Clock waits; nil is the real clock.
	Clock clock.Clock
}

// Created is a pod that exists.
type Created struct {
	// Pod is as the server stores it.
	Pod *corev1.Pod
	// Adopted says that it was there already. It may have ended: look at its phase.
	Adopted bool
	// Charged counts attempts that failed although their use may have been charged to the namespace's quotas; the quota
	// controller corrects that when it counts again, at the latest after its resync period.
	Charged int
	// Attempts is how often the API server was asked to create.
	Attempts int
}

// Create gives the pod of a name, made or found. Each attempt looks for the name first, since a create that fails because
// the name is taken is charged to the quotas all the same. It tries again, later each time, where time alone may help: the
// quota was written at the same time by others (409) or not counted yet, the server or a webhook failed or did not answer
// (500), asked to slow down (429), was not reached, or a pod of this name is still being deleted. Everything else is a
// *RefusedError at once, with the quota untouched. A name that is taken by a pod that the caller does not own is an
// ErrForeign. When the attempts are used up or ctx is done, the error is that of the last attempt.
func (c Creator) Create(ctx context.Context, pod *corev1.Pod) (Created, error) {
	if pod == nil || pod.Name == "" || pod.Namespace == "" {
		return Created{}, errors.New("create a pod: it needs a name and a namespace; a generated name cannot be found again")
	}
	backoff := c.Backoff
	if backoff.Steps == 0 {
		backoff = wait.Backoff{Steps: 6, Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Cap: 5 * time.Second}
	}
	var made Created
	steps := backoff.Steps
	for step := 1; ; step++ {
		err := c.attempt(ctx, pod, &made)
		if err == nil {
			return made, nil
		}
		delay, again := patience(err)
		if step >= steps || !again {
			return made, err
		}
		if next := backoff.Step(); delay == 0 {
			delay = next
		}
		if err := c.sleep(ctx, delay, err); err != nil {
			return made, err
		}
	}
}

// attempt looks, and creates what is not there.
func (c Creator) attempt(ctx context.Context, pod *corev1.Pod, made *Created) error {
	key := client.ObjectKeyFromObject(pod)
	err := c.find(ctx, key, pod, made)
	if !apierrors.IsNotFound(err) {
		return err
	}
	wanted := pod.DeepCopy()
	made.Attempts++
	err = c.Client.Create(ctx, wanted)
	switch {
	case err == nil:
		made.Pod = wanted
		return nil
	case apierrors.IsAlreadyExists(err):
		made.Charged++
		return c.find(ctx, key, pod, made)
	}
	diagnosis := podspec.ExplainError(err)
	if diagnosis.Category == podspec.CategoryNetwork || diagnosis.Category == podspec.CategoryOther {
		made.Charged++ // nobody can tell how far it came
	}
	return &RefusedError{Pod: key, Attempts: made.Attempts, Diagnosis: diagnosis, Err: err}
}

// find adopts the pod of a name.
func (c Creator) find(ctx context.Context, key client.ObjectKey, wanted *corev1.Pod, made *Created) error {
	found := &corev1.Pod{}
	if err := c.Client.Get(ctx, key, found); err != nil {
		return err
	}
	owns := c.Owns
	if owns == nil {
		owns = sameLabels
	}
	switch {
	case !owns(found, wanted):
		return fmt.Errorf("pod %s: %w", key, ErrForeign)
	case found.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s: %w", key, ErrTerminating)
	}
	made.Pod, made.Adopted = found, true
	return nil
}

// sameLabels says whether a pod carries all labels of a wanted one, of which there must be one.
func sameLabels(found, wanted *corev1.Pod) bool {
	for key, value := range wanted.Labels {
		if own, ok := found.Labels[key]; !ok || own != value {
			return false
		}
	}
	return len(wanted.Labels) > 0
}

// patience says whether to try again after an error, and how long the server asks to wait, zero if it does not say.
func patience(err error) (time.Duration, bool) {
	if errors.Is(err, ErrForeign) {
		return 0, false
	}
	if errors.Is(err, ErrTerminating) {
		return 0, true
	}
	named := time.Duration(0)
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		named = time.Duration(seconds) * time.Second
	}
	diagnosis := podspec.ExplainError(err)
	if diagnosis.Retry == podspec.RetryBackoff || diagnosis.Retry == podspec.RetryWhenSynced {
		return named, true
	}
	var status apierrors.APIStatus
	failed := errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError
	return named, failed && diagnosis.Category == podspec.CategoryOther
}

// sleep waits, and gives up with the error of the last attempt when ctx is done.
func (c Creator) sleep(ctx context.Context, delay time.Duration, last error) error {
	var timer clock.Timer
	if c.Clock != nil {
		timer = c.Clock.NewTimer(delay)
	} else {
		timer = clock.RealClock{}.NewTimer(delay)
	}
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return errors.Join(last, context.Cause(ctx))
	}
}
