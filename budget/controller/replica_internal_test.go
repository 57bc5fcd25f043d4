package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// team is the namespace of all tasks here.
const team = "team"

// job stands for a host's task: any object that has conditions will do.
type job = budgetv1alpha1.TaskBudget

// scene is an API server without watches, on which replicas work that are told
// of changes by hand, when the test says so. Its budget has room for one task.
type scene struct {
	*testing.T

	client client.WithWatch
	clock  *clocktesting.FakeClock
	writes []string // verbs and names of what was written
	reads  []string // what was read of holds
	// fail makes a write fail before it reaches the API server.
	fail func(verb string, o client.Object) error
}

func newScene(t *testing.T) *scene {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := budgetv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	s := &scene{T: t, clock: clocktesting.NewFakeClock(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))}
	s.client = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&job{}).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*budgetv1alpha1.TaskHold); ok {
				s.reads = append(s.reads, "get "+key.Name)
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, ok := list.(*budgetv1alpha1.TaskHoldList); ok {
				s.reads = append(s.reads, "list")
			}
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return s.written("create", o, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return s.written("update", o, func() error { return c.Update(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return s.written("delete", o, func() error { return c.Delete(ctx, o, opts...) })
		},
	}).Build()
	return s
}

func (s *scene) written(verb string, o client.Object, write func() error) error {
	if s.fail != nil {
		if err := s.fail(verb, o); err != nil {
			return err
		}
	}
	s.writes = append(s.writes, verb+" "+o.GetName())
	return write()
}

// rival is a replica: its memory and its gate.
type rival struct {
	*scene

	book *Book
	gate *Gate[*job]
}

// replica starts a replica, which knows what is stored by then of budgets alone.
func (s *scene) replica() *rival {
	s.Helper()
	o, err := Options{Mode: Fenced, Clock: s.clock, Metrics: prometheus.NewRegistry(), Events: events.NewFakeRecorder(100)}.complete()
	s.must(err)
	metrics, err := newMeters(o.Metrics)
	s.must(err)
	b := &Book{
		options: o, client: s.client, live: s.client, tell: &teller{events: o.Events, metrics: metrics},
		synced:  func() bool { return true },
		shelves: map[string]*shelf{}, hosts: map[schema.GroupKind]lookUp{},
		statuses: newInbox(), expiries: newInbox(), checks: newInbox(),
	}
	b.fresh.Store(true)
	b.reviewer, err = budget.NewReviewer(nil, budget.ReviewerOptions{Rules: func(ns string) []*budget.Rule { return b.shelf(ns).all() }})
	s.must(err)
	b.waker = newWaker(b)
	b.statusTimes = newTimetable(o.Clock, b.statuses.add)
	b.expiryTimes = newTimetable(o.Clock, b.expiries.add)
	b.checkTimes = newTimetable(o.Clock, b.checks.add)
	b.wakeTimes = newTimetable(o.Clock, func(key reconcile.Request) { b.waker.stir(key.Namespace) })

	h := &bound[*job]{book: b, gvk: budgetv1alpha1.GroupVersion.WithKind("TaskBudget")}
	h.New = func() *job { return &job{} }
	h.Conditions = func(task *job) *[]metav1.Condition { return &task.Status.Conditions }
	h.conditions, err = h.Host.conditions()
	s.must(err)
	h.Estimate = func(*job) usage.Amounts { return usage.Amounts{usage.CostUSD: usage.USD} }
	b.hosts[h.gvk.GroupKind()] = h.exists
	b.shelf(team).setBudget(daily(1))
	return &rival{scene: s, book: b, gate: &Gate[*job]{host: h, book: b, inbox: newInbox()}}
}

// daily is a budget of 1.5 USD a day.
func daily(generation int64) *budgetv1alpha1.TaskBudget {
	limit := usage.USDQuantity(usage.USD * 3 / 2)
	return &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "daily", UID: "budget", Generation: generation},
		Spec: budgetv1alpha1.TaskBudgetSpec{
			TaskSelector: &metav1.LabelSelector{}, Period: budgetv1alpha1.Period{Type: "Daily"}, MaxCostUSD: &limit,
		},
	}
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// task makes a task that is expected to spend 1 USD.
func (s *scene) task(uid string) *job {
	s.Helper()
	task := &job{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: uid, UID: types.UID(uid)}}
	s.must(s.client.Create(s.Context(), task))
	return task
}

// admits asks for a task as it is stored.
func (r *rival) admits(uid string) bool {
	r.Helper()
	task := &job{}
	r.must(r.client.Get(r.Context(), types.NamespacedName{Namespace: team, Name: uid}, task))
	result, err := r.gate.Admit(r.Context(), task)
	r.must(err)
	r.Logf("%s is admitted: %v, %s", uid, result.Admitted, result.Decision.Message())
	return result.Admitted
}

// hold is a hold as it is stored.
func (s *scene) hold(uid string) *budgetv1alpha1.TaskHold {
	s.Helper()
	th := &budgetv1alpha1.TaskHold{}
	s.must(s.client.Get(s.Context(), types.NamespacedName{Namespace: team, Name: uid}, th))
	return th
}

// stored names the holds and the records that are stored.
func (s *scene) stored() string {
	s.Helper()
	holds, records := &budgetv1alpha1.TaskHoldList{}, &budgetv1alpha1.TaskRecordList{}
	s.must(s.client.List(s.Context(), holds))
	s.must(s.client.List(s.Context(), records))
	var names []string
	for i := range holds.Items {
		if name := holds.Items[i].Name; name != fenceName {
			names = append(names, "hold "+name)
		}
	}
	for i := range records.Items {
		names = append(names, "record "+records.Items[i].Name)
	}
	return strings.Join(names, ", ")
}

// checksFirst has the keeper of holds look at that of the first task.
func (r *rival) checksFirst() {
	r.Helper()
	_, err := (&holdKeeper{r.book}).Reconcile(r.Context(), checkKey(team, "first"))
	r.must(err)
}

// dies makes every write of a hold fail, as if the process had ended.
func (s *scene) dies() {
	s.fail = func(_ string, o client.Object) error {
		if _, ok := o.(*budgetv1alpha1.TaskHold); ok && o.GetName() != fenceName {
			return errors.New("the process has ended")
		}
		return nil
	}
}
