package controller

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// +kubebuilder:rbac:groups=bursar.dev,resources=taskbudgets,verbs=get;list;watch
// +kubebuilder:rbac:groups=bursar.dev,resources=taskbudgets/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=bursar.dev,resources=taskrecords,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=bursar.dev,resources=taskholds,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager adds to a manager what keeps budgets: the informers that
// feed the book, and the reconcilers of budget status, of records whose time is
// up and of holds. It gives the book, for [NewGate] and [NewRecorder]. The
// manager's scheme must know bursar's types (AddToScheme of package
// budget/v1alpha1) and the host's before ctrl.NewManager is called, and the API
// server must serve bursar's resources: package budget/install puts them there.
//
// Call it before the manager starts, and once per manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, o Options) (*Book, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if !mgr.GetScheme().Recognizes(budgetv1alpha1.GroupVersion.WithKind("TaskBudget")) {
		return nil, errors.New("bursar: the manager's scheme does not know TaskBudget: call AddToScheme of budget/v1alpha1 on it before ctrl.NewManager")
	}
	b, err := newBook(mgr, o)
	if err != nil {
		return nil, err
	}
	if err := b.feed(ctx, mgr.GetCache()); err != nil {
		return nil, fmt.Errorf("bursar: %w", err)
	}
	for _, r := range []manager.Runnable{b.statusTimes, b.expiryTimes, b.checkTimes, b.wakeTimes, b.waker, starter{b}} {
		if err := mgr.Add(r); err != nil {
			return nil, fmt.Errorf("bursar: %w", err)
		}
	}
	for _, c := range []struct {
		name       string
		from       *inbox
		reconciler reconcile.Reconciler
		everywhere bool // each replica needs it for its own memory
	}{
		{"budgets", b.statuses, newStatusKeeper(b), false},
		{"records", b.expiries, &expiryKeeper{b}, false},
		{"holds", b.checks, &holdKeeper{b}, b.options.Mode == Fenced},
	} {
		err := ctrl.NewControllerManagedBy(mgr).Named(b.options.ControllerName + "-" + c.name).
			WatchesRawSource(c.from).
			WithOptions(controller.Options{MaxConcurrentReconciles: 2, NeedLeaderElection: new(!c.everywhere)}).
			Complete(c.reconciler)
		if err != nil {
			return nil, fmt.Errorf("bursar: controller of %s: %w", c.name, err)
		}
	}
	return b, nil
}

// newBook makes an empty book; o is complete.
func newBook(mgr ctrl.Manager, o Options) (*Book, error) {
	metrics, err := newMeters(o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("bursar: metrics: %w", err)
	}
	if o.Events == nil {
		o.Events = mgr.GetEventRecorder(o.ControllerName)
	}
	b := &Book{
		options: o, client: mgr.GetClient(), live: mgr.GetAPIReader(), mgr: mgr,
		tell:    &teller{events: o.Events, metrics: metrics},
		synced:  func() bool { return false },
		shelves: map[string]*shelf{}, hosts: map[schema.GroupKind]lookUp{},
		statuses: newInbox(), expiries: newInbox(), checks: newInbox(),
	}
	b.reviewer, err = budget.NewReviewer(o.Policies, budget.ReviewerOptions{
		Timeout: o.PolicyTimeout,
		Rules:   func(namespace string) []*budget.Rule { return b.shelf(namespace).all() },
	})
	if err != nil {
		return nil, fmt.Errorf("bursar: policies: %w", err)
	}
	b.waker = newWaker(b)
	b.statusTimes = newTimetable(o.Clock, b.statuses.add)
	b.expiryTimes = newTimetable(o.Clock, b.expiries.add)
	b.checkTimes = newTimetable(o.Clock, b.checks.add)
	b.wakeTimes = newTimetable(o.Clock, func(key reconcile.Request) { b.waker.stir(key.Namespace) })
	return b, nil
}
