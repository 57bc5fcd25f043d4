package controller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// feed lets the informers of a cache fill the book.
func (b *Book) feed(ctx context.Context, informers cache.Informers) error {
	registered := []toolscache.ResourceEventHandlerRegistration{}
	for _, f := range []struct {
		kind    string
		object  client.Object
		handler toolscache.ResourceEventHandler
	}{
		{"TaskBudget", &budgetv1alpha1.TaskBudget{}, follow(
			func(tb *budgetv1alpha1.TaskBudget) { b.followBudget(client.ObjectKeyFromObject(tb), tb) },
			func(tb *budgetv1alpha1.TaskBudget) { b.followBudget(client.ObjectKeyFromObject(tb), nil) })},
		{"TaskRecord", &budgetv1alpha1.TaskRecord{}, follow(b.followRecord, b.forgetRecord)},
		{"TaskHold", &budgetv1alpha1.TaskHold{}, follow(b.watchHold, b.loseHold)},
	} {
		informer, err := informers.GetInformer(ctx, f.object, cache.BlockUntilSynced(false))
		if err != nil {
			const remedy = "call install.Install of budget/install, or apply budget/v1alpha1/crds,"
			return informerFault(budgetv1alpha1.GroupVersion.WithKind(f.kind), remedy, err)
		}
		registration, err := informer.AddEventHandler(f.handler)
		if err != nil {
			return fmt.Errorf("informer of %s: %w", f.kind, err)
		}
		registered = append(registered, registration)
	}
	b.synced = func() bool {
		for _, r := range registered {
			if !r.HasSynced() {
				return false
			}
		}
		return true
	}
	return nil
}

// informerFault says why there is no informer of a kind, and what to do where the
// API server does not serve it.
func informerFault(gvk schema.GroupVersionKind, remedy string, err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("the API server does not serve %s of %s: %s before the manager is made: %w", gvk.Kind, gvk.GroupVersion(), remedy, err)
	}
	return fmt.Errorf("informer of %s: %w", gvk.Kind, err)
}

// follow makes an event handler of what is to be done with an object as it is
// now, and with one that was deleted.
func follow[T client.Object](set, gone func(T)) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if object, ok := obj.(T); ok {
				set(object)
			}
		},
		UpdateFunc: func(_, obj any) {
			if object, ok := obj.(T); ok {
				set(object)
			}
		},
		DeleteFunc: func(obj any) {
			if unseen, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = unseen.Obj
			}
			if object, ok := obj.(T); ok {
				gone(object)
			}
		},
	}
}

// starter opens the book when its replica may admit: it reads the holds once
// more, from the API server itself, so that what the leader before has written
// last is known whatever the watches have delivered.
type starter struct{ book *Book }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s starter) NeedLeaderElection() bool { return s.book.options.Mode != Fenced }

// Start implements manager.Runnable. It returns when ctx is done.
func (s starter) Start(ctx context.Context) error {
	const pause = 50 * time.Millisecond
	opened := wait.PollUntilContextCancel(ctx, pause, true, func(ctx context.Context) (bool, error) {
		if !s.book.synced() {
			return false, nil
		}
		if err := s.book.readHolds(ctx); err != nil {
			log.FromContext(ctx).Error(err, "The holds can't be read; nothing is admitted, it is tried again")
			return false, nil
		}
		return true, nil
	}) == nil
	if !opened {
		return nil // ctx is done
	}
	s.book.fresh.Store(true)
	log.FromContext(ctx).Info("Budgets are enforced", "mode", s.book.options.Mode)
	s.book.waker.stirAll()
	s.book.checkAll()
	<-ctx.Done()
	s.book.fresh.Store(false)
	return nil
}

// readHolds compares the holds with those in the API server.
func (b *Book) readHolds(ctx context.Context) error {
	namespaces := b.options.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		if err := b.readHoldsOf(ctx, namespace); err != nil {
			return err
		}
	}
	return nil
}

// readHoldsOf reads the holds of a namespace, or of all where it is "".
func (b *Book) readHoldsOf(ctx context.Context, namespace string) error {
	before := b.stored(namespace)
	const page = 500
	list := &budgetv1alpha1.TaskHoldList{}
	for {
		err := b.live.List(ctx, list, client.InNamespace(namespace), client.Limit(page), client.Continue(list.Continue))
		if err != nil {
			return fmt.Errorf("list TaskHolds: %w", err)
		}
		for i := range list.Items {
			delete(before, client.ObjectKeyFromObject(&list.Items[i]))
			b.followHold(&list.Items[i])
		}
		if list.Continue == "" {
			break
		}
	}
	for key := range before {
		b.loseHold(&budgetv1alpha1.TaskHold{ObjectMeta: metaOf(key)})
	}
	return nil
}

// stored lists the holds that are known to be stored.
func (b *Book) stored(namespace string) map[client.ObjectKey]struct{} {
	keys := map[client.ObjectKey]struct{}{}
	for _, s := range b.all() {
		if namespace != "" && namespace != s.namespace {
			continue
		}
		s.mu.Lock()
		for uid, h := range s.holds {
			if h.stored {
				keys[types.NamespacedName{Namespace: s.namespace, Name: string(uid)}] = struct{}{}
			}
		}
		s.mu.Unlock()
	}
	return keys
}
