package live_test

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/podspec/live"
)

var podsResource = schema.GroupResource{Resource: "pods"}

// A step is what happens to one create: an error, and whether the pod is there all the same.
type step struct {
	err    error
	stored bool
}

// stub is a client of one pod. Other calls than those below panic.
type stub struct {
	client.Client
	stored  *corev1.Pod
	steps   []step
	creates int
	gets    int
}

func (s *stub) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	s.gets++
	pod, ok := object.(*corev1.Pod)
	if !ok || s.stored == nil {
		return apierrors.NewNotFound(podsResource, key.Name)
	}
	s.stored.DeepCopyInto(pod)
	return nil
}

func (s *stub) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return apierrors.NewBadRequest("no pod")
	}
	var next step
	if s.creates < len(s.steps) {
		next = s.steps[s.creates]
	} else {
		next.stored = true
	}
	s.creates++
	if next.stored {
		s.stored = pod.DeepCopy()
	}
	return next.err
}

// stopwatch is a clock whose timers fire at once; it keeps what they were set to.
type stopwatch struct {
	clock.RealClock
	waits []time.Duration
}

func (s *stopwatch) NewTimer(d time.Duration) clock.Timer {
	s.waits = append(s.waits, d)
	return clock.RealClock{}.NewTimer(0)
}

func creator(s *stub, watch *stopwatch) live.Creator {
	return live.Creator{Client: s, Clock: watch, Backoff: wait.Backoff{Steps: 4, Duration: time.Second, Factor: 2}}
}

func wanted() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "agents", Name: "bot", Labels: map[string]string{"bursar.dev/workload-id": "bot"}}}
}
