package controller

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"weak"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// ErrNotReady says that nothing can be decided yet, since what was spent and is
// held is not all known.
var ErrNotReady = errors.New("bursar: the caches of budgets, records and holds have not synced yet")

// Book is what one manager knows of budgets, records and holds, in memory: the
// compiled rules and the ledger of each namespace. Informers feed it, and
// gates and recorders enter what they write themselves, which therefore counts
// at once. Build it with [SetupWithManager].
//
// It is safe for concurrent use.
type Book struct {
	options Options
	client  client.Client // reads from the cache
	live    client.Reader // reads from the API server
	mgr     ctrl.Manager
	tell    *teller
	// reviewer decides, by the rules that a shelf has at that moment.
	reviewer *budget.Reviewer

	synced func() bool // the informers have delivered what there was
	fresh  atomic.Bool // and what the last leader has written was read

	mu      sync.Mutex // may be taken while a shelf is locked, never the other way round
	shelves map[string]*shelf
	idle    map[string]weak.Pointer[shelf]
	hosts   map[schema.GroupKind]lookUp

	statuses, expiries, checks *inbox // keys of the reconcilers
	statusTimes, expiryTimes,
	checkTimes, wakeTimes *timetable
	waker *waker
}

// Ready reports whether the book knows all that it has to know. Until then
// every gate refuses.
func (b *Book) Ready() bool { return b.synced() && b.fresh.Load() }

// ReadyzCheck is [Book.Ready] as a check for the manager's readiness endpoint.
// Under leader election a replica that waits to lead is not ready to admit, but
// it is well: there the check looks at the caches alone.
func (b *Book) ReadyzCheck(*http.Request) error {
	if b.synced() {
		return nil
	}
	return ErrNotReady
}

// followBudget enters a budget, nil where it was deleted.
func (b *Book) followBudget(name types.NamespacedName, tb *budgetv1alpha1.TaskBudget) {
	s := b.shelf(name.Namespace)
	var changed bool
	if tb == nil {
		changed = s.dropBudget(name.Name)
	} else {
		changed = s.setBudget(tb)
	}
	if changed {
		b.statuses.add(reconcile.Request{NamespacedName: name})
		b.waker.stir(s.namespace)
	}
}

func (b *Book) followRecord(tr *budgetv1alpha1.TaskRecord) {
	s := b.shelf(tr.Namespace)
	s.setRecord(tr)
	b.scheduleExpiry(tr)
	if _, recorded, held := s.held(types.UID(tr.Name)); held && recorded {
		b.checks.addAfter(requestOf(tr), settleGrace)
	}
	b.changed(s, tr.Spec.TaskLabels)
}

func (b *Book) forgetRecord(tr *budgetv1alpha1.TaskRecord) {
	s := b.shelf(tr.Namespace)
	s.dropRecord(tr.Name)
	b.changed(s, tr.Spec.TaskLabels)
}

// watchHold follows a hold that the watch has delivered.
func (b *Book) watchHold(th *budgetv1alpha1.TaskHold) {
	if th.Name == fenceName {
		return
	}
	b.followHold(th)
	if b.options.Mode == Fenced {
		b.shelf(th.Namespace).delivered(th)
	}
}

func (b *Book) followHold(th *budgetv1alpha1.TaskHold) {
	if th.Name == fenceName {
		return
	}
	s := b.shelf(th.Namespace)
	s.setHold(th)
	b.scheduleCheck(th.Namespace, types.UID(th.Name))
	b.changed(s, th.Spec.TaskLabels)
}

// loseHold follows a TaskHold that was deleted.
func (b *Book) loseHold(th *budgetv1alpha1.TaskHold) {
	if th.Name == fenceName {
		return
	}
	s := b.shelf(th.Namespace)
	if s.vanish(th.Name) {
		b.checks.add(requestOf(th))
	}
	b.changed(s, th.Spec.TaskLabels)
}

// release lets go of a hold for good.
func (b *Book) release(namespace string, uid types.UID) {
	s := b.shelf(namespace)
	known, _, ok := s.held(uid)
	s.drop(uid)
	if ok {
		b.changed(s, known.hold.Labels)
	}
}

// dropUnstored lets go of a hold that was not stored, if that is all there is.
func (b *Book) dropUnstored(namespace string, uid types.UID) {
	s := b.shelf(namespace)
	if dropped, ok := s.dropUnstored(uid); ok {
		b.changed(s, dropped.hold.Labels)
	}
}

// changed tells those who depend on tasks with these labels that figures have
// changed.
func (b *Book) changed(s *shelf, set labels.Set) {
	for _, r := range s.matching(set) {
		b.statuses.add(reconcile.Request{NamespacedName: r.Name()})
	}
	b.waker.stir(s.namespace)
}

func requestOf(o client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
}
