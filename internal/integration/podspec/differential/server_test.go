package differential_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/podspec"
)

// A lane puts worlds on the API server and asks it, one after the other. Lanes work side by side.
//
// The server's admission plugins see what is written some time later. A lane has a LimitRange and a quota of its own, the
// sentinels, that it writes after those of a world: as soon as a dry run shows them, the plugins know the world too, since
// they learn of objects of one kind in the order of writing.
type lane struct {
	cluster client.Client
	// known are the parts of a snapshot that are the same for every world.
	known  podspec.Snapshot
	limits *corev1.LimitRange
	quota  *corev1.ResourceQuota
	mark   int64
}

func newLane(ctx context.Context, known podspec.Snapshot) (*lane, error) {
	l := &lane{cluster: shared.Client, known: known}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "lane-"}}
	if err := l.cluster.Create(ctx, namespace); err != nil {
		return nil, err
	}
	l.limits = &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "sentinel"}}
	l.limits.Spec.Limits = []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m")}}}
	l.quota = &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "sentinel"}}
	l.quota.Spec.Hard = corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("0")}
	return l, errors.Join(l.cluster.Create(ctx, l.limits), l.cluster.Create(ctx, l.quota))
}

// place writes a world and returns what is known of it once the API server goes by it.
func (l *lane) place(ctx context.Context, w world) (podspec.Snapshot, error) {
	if err := l.cluster.Create(ctx, &w.namespace); err != nil {
		return podspec.Snapshot{}, err
	}
	for i := range w.limits {
		w.limits[i].Namespace = w.namespace.Name
		if err := l.cluster.Create(ctx, &w.limits[i]); err != nil {
			return podspec.Snapshot{}, err
		}
	}
	for i := range w.quotas {
		quota := &w.quotas[i]
		quota.Namespace = w.namespace.Name
		status := *quota.Status.DeepCopy()
		if err := l.cluster.Create(ctx, quota); err != nil {
			return podspec.Snapshot{}, err
		}
		if quota.Status = status; status.Hard == nil {
			continue
		}
		if err := l.cluster.Status().Update(ctx, quota); err != nil {
			return podspec.Snapshot{}, err
		}
	}
	if err := l.settle(ctx); err != nil {
		return podspec.Snapshot{}, err
	}
	// Who wrote which field decides nothing, and fills what is recorded.
	w.namespace.ManagedFields = nil
	for i := range w.limits {
		w.limits[i].ManagedFields = nil
	}
	for i := range w.quotas {
		w.quotas[i].ManagedFields = nil
	}
	s := l.known
	s.Namespace, s.LimitRanges, s.ResourceQuotas = podspec.Known(w.namespace), podspec.Known(w.limits), podspec.Known(w.quotas)
	return s, nil
}

// settle returns when the API server goes by everything that was written before.
func (l *lane) settle(ctx context.Context) error {
	l.mark++
	marked := *resource.NewMilliQuantity(l.mark, resource.DecimalSI)
	l.limits.Spec.Limits = []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{corev1.ResourceCPU: marked}}}
	if err := l.cluster.Update(ctx, l.limits); err != nil {
		return err
	}
	l.quota.Status.Hard = l.quota.Spec.Hard
	l.quota.Status.Used = corev1.ResourceList{corev1.ResourceRequestsCPU: marked}
	if err := l.cluster.Status().Update(ctx, l.quota); err != nil {
		return err
	}
	want := fmt.Sprintf("exceeded quota: sentinel, requested: requests.cpu=%[1]s, used: requests.cpu=%[1]s, limited: requests.cpu=0", marked.String())
	return until(ctx, func() error {
		err := l.ask(ctx, l.quota.Namespace, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "sentinel"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/c:1"}}}})
		if got := fmt.Sprint(err); !contains(got, want) {
			return fmt.Errorf("the sentinel gets %q, not %q", got, want)
		}
		return nil
	})
}

// ask sends a pod as a dry run. The pod becomes the one that the server would store.
func (l *lane) ask(ctx context.Context, namespace string, pod *corev1.Pod) error {
	pod.Namespace = namespace
	return l.cluster.Create(ctx, pod, client.DryRunAll)
}

// until calls check until it gives nil, for a minute at most.
func until(ctx context.Context, check func() error) error {
	start := time.Now()
	for {
		err := check()
		if err == nil || time.Since(start) > time.Minute || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// priorities are the classes of the cluster.
func priorities(high bool) []schedulingv1.PriorityClass {
	return []schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 10, GlobalDefault: high},
		{ObjectMeta: metav1.ObjectMeta{Name: "low"}, Value: 5},
	}
}

// runtimes are the runtime classes of the cluster.
func runtimes() []nodev1.RuntimeClass {
	overhead := func(cpu string) *nodev1.Overhead {
		return &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("64Mi")}}
	}
	return []nodev1.RuntimeClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "kata"}, Handler: "kata", Overhead: overhead("250m")},
		{ObjectMeta: metav1.ObjectMeta{Name: "tiny"}, Handler: "tiny", Overhead: overhead("0.0001")},
		{ObjectMeta: metav1.ObjectMeta{Name: "plain"}, Handler: "plain"},
	}
}

// prepare brings the classes of the cluster to where class high is the default one, or none is.
func prepare(ctx context.Context, high bool) ([]schedulingv1.PriorityClass, []nodev1.RuntimeClass, error) {
	classes, handlers := priorities(high), runtimes()
	for i := range classes {
		if err := put(ctx, &classes[i], func(stored client.Object) {
			if class, ok := stored.(*schedulingv1.PriorityClass); ok {
				class.GlobalDefault = classes[i].GlobalDefault
			}
		}); err != nil {
			return nil, nil, err
		}
	}
	for i := range handlers {
		if err := put(ctx, &handlers[i], func(client.Object) {}); err != nil {
			return nil, nil, err
		}
	}
	want := map[bool]string{true: "high"}[high]
	for _, handler := range []string{"kata", "tiny", "plain"} {
		err := until(ctx, func() error {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "probe"}}
			pod.Spec = corev1.PodSpec{RuntimeClassName: &handler, Containers: []corev1.Container{{Name: "c", Image: "example.com/c:1"}}}
			if err := shared.Client.Create(ctx, pod, client.DryRunAll); err != nil {
				return err
			}
			if got := pod.Spec.PriorityClassName; got != want {
				return fmt.Errorf("the default priority class is %q, not %q", got, want)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return classes, handlers, nil
}

// put creates an object, or changes the one that is there.
func put(ctx context.Context, object client.Object, change func(stored client.Object)) error {
	err := shared.Client.Create(ctx, object)
	if err == nil || client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	stored, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object", object)
	}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(object), stored); err != nil {
		return err
	}
	change(stored)
	return shared.Client.Update(ctx, stored)
}
