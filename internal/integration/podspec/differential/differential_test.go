package differential_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/podspec"
)

const (
	podsPerWorld = 25
	lanes        = 4
)

// TestPredictionsAreWhatTheServerSays is the differential test.
func TestPredictionsAreWhatTheServerSays(t *testing.T) {
	pods, seed := number(t, "BURSAR_PODS", 2000), number(t, "BURSAR_SEED", 1)
	run := &run{t: t, seed: seed, minor: minorOf(t), classes: map[podspec.Category]int{}}
	worlds := (pods + podsPerWorld - 1) / podsPerWorld
	// The default priority class is one for the whole cluster: half of the worlds have one.
	run.part(0, worlds/2, false)
	run.part(worlds/2, worlds, true)
	for _, class := range slices.Sorted(maps.Keys(run.classes)) {
		t.Logf("%7d %s", run.classes[class], class)
	}
	t.Logf("1.%d, seed %d: %d pods in %d worlds, %d of them depend on the order of LimitRanges, %d were really created, %d mismatches",
		run.minor, seed, run.asked, worlds, run.ambiguous, run.created, run.failed)
	for _, class := range []podspec.Category{
		"", podspec.CategoryInvalid, podspec.CategoryLimitRange, podspec.CategoryPodSecurity, podspec.CategoryPriorityClass, podspec.CategoryRuntimeClass,
		podspec.CategoryQuotaMissing, podspec.CategoryQuotaUnknownStatus, podspec.CategoryQuotaExceeded,
	} {
		if run.classes[class] == 0 && run.asked >= 2000 {
			t.Errorf("no pod was answered with %q: the test has lost it", class)
		}
	}
	if run.created == 0 {
		t.Error("no pod was really created")
	}
}

func minorOf(t *testing.T) int {
	t.Helper()
	if number(t, "BURSAR_MINOR", 0) != 0 {
		return int(number(t, "BURSAR_MINOR", 0))
	}
	server, err := discovery.NewDiscoveryClientForConfig(shared.Config)
	if err != nil {
		t.Fatal(err)
	}
	version, err := server.ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	var minor int
	if _, err := fmt.Sscan(version.Minor, &minor); err != nil {
		t.Fatal(err)
	}
	return minor
}

// A run is one differential test.
type run struct {
	t     *testing.T
	seed  uint64
	minor int

	mu                                sync.Mutex
	classes                           map[podspec.Category]int
	asked, ambiguous, created, failed int
}

// part plays some worlds, in several lanes.
func (r *run) part(from, to uint64, withDefault bool) {
	r.t.Helper()
	classes, handlers, err := prepare(r.t.Context(), withDefault)
	if err != nil {
		r.t.Fatal(err)
	}
	known := podspec.Snapshot{
		PriorityClasses: podspec.Known(classes), RuntimeClasses: podspec.Known(handlers), ServerMinor: podspec.Known(r.minor),
		PodSecurity: podspec.Known(podspec.PodSecurityDefaults{}), Webhooks: podspec.Known([]string(nil)), OpenShift: podspec.Known(podspec.OpenShift{}),
	}
	var working sync.WaitGroup
	for number := range uint64(lanes) {
		working.Go(func() {
			l, err := newLane(r.t.Context(), known)
			if err != nil {
				r.t.Errorf("lane %d: %v", number, err)
				return
			}
			for world := from + number; world < to; world += lanes {
				if err := r.world(r.t.Context(), l, world); err != nil {
					r.t.Errorf("world %d: %v", world, err)
					return
				}
			}
		})
	}
	working.Wait()
}

// world plays one world.
func (r *run) world(ctx context.Context, l *lane, number uint64) error {
	c := newChance(r.seed, number)
	s, err := l.place(ctx, c.world())
	if err != nil {
		return err
	}
	var admitted *corev1.Pod
	for i := range podsPerWorld {
		pod := c.pod(fmt.Sprintf("pod-%d", i))
		if err := c.near(s, pod); err != nil {
			return err
		}
		sent := pod.DeepCopy()
		a := answer{err: l.ask(ctx, s.Namespace.Value.Name, sent)}
		if a.err == nil {
			a.pod, admitted = sent, pod
		}
		if err := r.hold(fmt.Sprintf("1.%d-seed%d-world%d-pod%d", r.minor, r.seed, number, i), s, pod, a); err != nil {
			return err
		}
	}
	if admitted == nil {
		return nil
	}
	a, err := create(ctx, l.cluster, s, admitted)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.created++
	r.mu.Unlock()
	return r.hold(fmt.Sprintf("1.%d-seed%d-world%d-created", r.minor, r.seed, number), s, admitted, a)
}

// hold compares one answer with the prediction.
func (r *run) hold(name string, s podspec.Snapshot, pod *corev1.Pod, a answer) error {
	prediction, err := podspec.Predict(s, pod)
	if err != nil {
		return err
	}
	why := disagreement(prediction, a)
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.deltas == nil {
		r.asked++
		r.classes[a.class()]++
		if prediction.Alternatives != nil {
			r.ambiguous++
		}
	}
	if why == "" {
		return nil
	}
	r.failed++
	file, err := record(name, s, pod, a)
	r.t.Errorf("%s: %s\n  recorded in %s", name, why, file)
	return err
}

// create makes a pod for real, sees what that adds to the usage of the quotas, and deletes it.
func create(ctx context.Context, c client.Client, s podspec.Snapshot, pod *corev1.Pod) (answer, error) {
	made := pod.DeepCopy()
	made.Namespace = s.Namespace.Value.Name
	a := answer{deltas: map[string]corev1.ResourceList{}}
	a.err = c.Create(ctx, made)
	if a.class() != "" {
		return a, nil // a refusal is an answer too
	}
	a.pod = made.DeepCopy()
	for i := range s.ResourceQuotas.Value {
		before := &s.ResourceQuotas.Value[i]
		after := &corev1.ResourceQuota{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(before), after); err != nil {
			return a, err
		}
		a.deltas[before.Name] = added(before.Status.Used, after.Status.Used)
	}
	return a, c.Delete(ctx, made, client.GracePeriodSeconds(0))
}

// added is what has come to a usage.
func added(before, after corev1.ResourceList) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, amount := range after {
		delta := amount.DeepCopy()
		delta.Sub(before[name])
		if !delta.IsZero() {
			list[name] = delta
		}
	}
	return list
}
