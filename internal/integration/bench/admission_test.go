package bench_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/examples/taskcontroller/tasks"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/usage"
)

var platform = map[string]string{"team": "platform"}

const (
	// workers reconcile tasks, and create what there is at the beginning.
	workers = 8
	// enough calls for one admission: its hold, the task's new phase, and what is written of the budget now and then.
	enough = 2.5
)

// row is what was measured with a number of stored records.
type row struct {
	records, admitted int
	stored, synced    time.Duration // until the records were stored, and until the manager was ready
	took              time.Duration // for all admissions, from the first reconcile to the last task that runs
	calls             map[string]int
}

func (r *row) rate() float64 { return float64(r.admitted) / r.took.Seconds() }

func (r *row) perAdmission() float64 {
	sum := 0
	for _, n := range r.calls {
		sum += n
	}
	return float64(sum) / float64(r.admitted)
}

// TestAdmissionsDoNotDependOnStoredRecords. BURSAR_RECORDS lists the numbers of records, BURSAR_ADMISSIONS says how many tasks
// are admitted.
func TestAdmissionsDoNotDependOnStoredRecords(t *testing.T) {
	var rows []*row
	for _, n := range numbers(t, "BURSAR_RECORDS", "0,500") {
		r := measure(t, n, numbers(t, "BURSAR_ADMISSIONS", "100")[0])
		rows = append(rows, r)
		show(rows)
		if got := r.perAdmission(); got > enough {
			t.Errorf("with %d records an admission takes %.2f calls, want %v at most: %v", r.records, got, enough, r.calls)
		}
		for call := range r.calls {
			if strings.HasPrefix(call, "LIST") {
				t.Errorf("with %d records something was listed on the way: %v", r.records, r.calls)
			}
		}
	}
}

// show prints a row as soon as it is there: the next one may take minutes.
func show(rows []*row) {
	r, first := rows[len(rows)-1], rows[0]
	if r == first {
		fmt.Println("records   stored in   ready in   admissions   per second   ratio   calls per admission   ratio")
	}
	fmt.Printf("%7d   %7.1f s   %6.1f s   %10d   %10.0f   %5.2f   %19.2f   %5.2f  ", r.records, r.stored.Seconds(), r.synced.Seconds(), r.admitted,
		r.rate(), r.rate()/first.rate(), r.perAdmission(), r.perAdmission()/first.perAdmission())
	for _, call := range slices.Sorted(maps.Keys(r.calls)) {
		fmt.Printf(" %s %d", call, r.calls[call])
	}
	fmt.Println()
}

func numbers(t *testing.T, variable, standard string) []int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		text = standard
	}
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 {
			t.Fatalf("%s=%q: %q is no number", variable, text, part)
		}
		list = append(list, n)
	}
	return list
}

// measure stores records that count in the budget's window, and admits tasks.
func measure(t *testing.T, records, admissions int) *row {
	t.Helper()
	r := &row{records: records, admitted: admissions}
	namespace := shared.Namespace(t, nil)
	now := time.Now()
	storeBudget(t, namespace)
	start := time.Now()
	parallel(t, records, func(ctx context.Context, i int) error { return shared.Client.Create(ctx, recordOf(namespace, i, now)) })
	r.stored = time.Since(start)
	parallel(t, admissions, func(ctx context.Context, i int) error { return shared.Client.Create(ctx, taskOf(namespace, i)) })

	h := newHost(t, namespace)
	start = time.Now()
	h.run(t)
	cluster.Eventually(t, "the manager is ready and the budget's status counts every record", func(ctx context.Context) error {
		tb := &budgetv1alpha1.TaskBudget{}
		if err := shared.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "lifetime"}, tb); err != nil {
			return err
		}
		if !h.book.Ready() || tb.Status.Used == nil || tb.Status.Used.CostUSD.Value() != int64(records) {
			return fmt.Errorf("ready: %v, status %+v", h.book.Ready(), tb.Status)
		}
		return nil
	})
	r.synced = time.Since(start)

	h.calls.seen()
	start = time.Now()
	close(h.start)
	for h.started.Load() < int64(admissions) {
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("%d of %d tasks were admitted", h.started.Load(), admissions)
		}
		time.Sleep(time.Millisecond)
	}
	r.took, r.calls = time.Since(start), h.calls.seen()
	return r
}

// host is taskcontroller's reconciler behind a starting line.
type host struct {
	mgr     ctrl.Manager
	book    *controller.Book
	inner   *tasks.Reconciler
	calls   *calls
	start   chan struct{}
	started atomic.Int64
}

func newHost(t *testing.T, namespace string) *host {
	t.Helper()
	h := &host{calls: &calls{count: map[string]int{}}, start: make(chan struct{})}
	counted := rest.CopyConfig(shared.Config)
	counted.Wrap(h.calls.wrap)
	scheme, err := tasks.NewScheme()
	must(t, err)
	h.mgr, err = ctrl.NewManager(counted, ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}, ByObject: controller.CacheObjects()},
	})
	must(t, err)
	h.book, err = controller.SetupWithManager(t.Context(), h.mgr, controller.Options{Metrics: prometheus.NewRegistry(), Namespaces: []string{namespace}})
	must(t, err)
	gate, err := controller.NewGate(h.book, tasks.Host())
	must(t, err)
	h.inner = &tasks.Reconciler{Client: h.mgr.GetClient(), Gate: gate, Book: h.book, Clock: clock.RealClock{}}
	must(t, ctrl.NewControllerManagedBy(h.mgr).For(&examplev1alpha1.AgentTask{}).WatchesRawSource(gate.Wakeups()).
		WithOptions(ctrlcontroller.Options{MaxConcurrentReconciles: workers}).Complete(h))
	return h
}

// Reconcile starts a task that waits for the starting line.
func (h *host) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	select {
	case <-h.start:
	case <-ctx.Done():
		return reconcile.Result{}, nil
	}
	task := &examplev1alpha1.AgentTask{}
	if err := h.inner.Get(ctx, req.NamespacedName, task); err != nil || task.Status.Phase == examplev1alpha1.Running {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	result, err := h.inner.Reconcile(ctx, req)
	if err == nil && result.RequeueAfter == 0 {
		h.started.Add(1)
	}
	return result, err
}

func (h *host) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func storeBudget(t *testing.T, namespace string) {
	t.Helper()
	limit := resource.MustParse("100000000")
	must(t, shared.Client.Create(t.Context(), &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "lifetime"},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{MatchLabels: platform}, Period: budgetv1alpha1.Period{Type: "Lifetime"}, MaxCostUSD: &limit,
		},
	}))
}

// recordOf is a record of a task that has cost a dollar.
func recordOf(namespace string, i int, now time.Time) *budgetv1alpha1.TaskRecord {
	uid := types.UID(fmt.Sprintf("record-%08d", i))
	return budget.NewTaskRecord(usage.Record{
		Task:  usage.Task{UID: uid, Namespace: namespace, Name: string(uid), Type: "coding-agent", Model: "large"},
		Phase: usage.Succeeded, Labels: platform, CompletionTime: now.Add(-time.Duration(i) * time.Second).UTC().Truncate(time.Second),
		Usage: usage.Figures{
			usage.CostUSD: {Amount: usage.MustUSD("1"), Basis: usage.Reported}, usage.InputTokens: {Amount: 12000, Basis: usage.Reported},
			usage.OutputTokens: {Amount: 800, Basis: usage.Reported}, usage.Tasks: {Amount: 1, Basis: usage.Reported},
		},
	})
}

func taskOf(namespace string, i int) *examplev1alpha1.AgentTask {
	return &examplev1alpha1.AgentTask{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("task-%05d", i), Labels: platform},
		Spec:       examplev1alpha1.AgentTaskSpec{Prompt: "mend it", Type: "coding-agent", Model: "large", EstimateUSD: "0.75"},
	}
}

// parallel does something n times, some at once, and fails the test with the first error.
func parallel(t *testing.T, n int, do func(ctx context.Context, i int) error) {
	t.Helper()
	const streams = 4 * workers
	var next atomic.Int64
	faults := make(chan error, streams)
	for range streams {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					faults <- nil
					return
				}
				if err := do(t.Context(), i); err != nil {
					next.Store(int64(n))
					faults <- err
					return
				}
			}
		}()
	}
	var all error
	for range streams {
		all = errors.Join(all, <-faults)
	}
	must(t, all)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
