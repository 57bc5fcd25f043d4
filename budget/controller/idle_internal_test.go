package controller

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// isFreed reports whether nobody refers to an object any more.
func isFreed[T any](p weak.Pointer[T]) bool {
	for range 10 {
		runtime.GC()
		if p.Value() == nil {
			return true
		}
	}
	return false
}

// An answer about a budget as it was must not have the ledger keep its scope.
func TestScopesOfFormerBudgetsAreForgotten(t *testing.T) {
	t.Parallel()
	for sentence, ask := range map[string]func(s *shelf, tb *budgetv1alpha1.TaskBudget, r *budget.Rule){
		"nobody asks": func(*shelf, *budgetv1alpha1.TaskBudget, *budget.Rule) {},
		"its status is written": func(s *shelf, tb *budgetv1alpha1.TaskBudget, _ *budget.Rule) {
			if rule, _ := s.stand(tb, time.Unix(0, 0)); rule != nil {
				t.Error("it stands for a budget as it is not")
			}
		},
		"policies see a figure": func(s *shelf, _ *budgetv1alpha1.TaskBudget, r *budget.Rule) {
			if _, err := (glance{s}).Used(queryOf(r)); err != nil {
				t.Error(err)
			}
		},
		"policies see when a figure changes": func(s *shelf, _ *budgetv1alpha1.TaskBudget, r *budget.Rule) {
			if _, err := (glance{s}).Turns(queryOf(r)); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newShelf(team, nil)
			scope := func() weak.Pointer[usage.Scope] {
				tb := daily(1)
				s.setBudget(tb)
				rule, _ := s.stand(tb, time.Unix(0, 0))
				s.setBudget(daily(2))
				ask(s, tb, rule)
				return weak.Make(rule.Scope())
			}()
			if !isFreed(scope) {
				t.Error("its scope is tracked")
			}
			if rule, _ := s.stand(daily(2), time.Unix(0, 0)); rule == nil {
				t.Error("the budget as it is stands for nothing")
			}
		})
	}
}

func queryOf(r *budget.Rule) usage.Query {
	return usage.Query{Scope: r.Scope(), Meter: r.Scope().Meters[0], At: time.Unix(0, 0)}
}

func TestAGlanceKeepsTheScopesOfBudgets(t *testing.T) { // alone: it counts allocations
	s := newShelf(team, nil)
	s.setBudget(daily(1))
	rule := s.rule(daily(1))
	hold := usage.Hold{UID: "first", Namespace: team, Amounts: usage.Amounts{usage.CostUSD: 7}, ExpiresAt: time.Unix(9, 0)}
	s.setHold(budget.NewTaskHold(hold, usage.Task{}))
	for range 2 {
		if got, err := (glance{s}).Used(queryOf(rule)); err != nil || got.Held != 7 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = (glance{s}).Used(queryOf(rule)) }); n > 5 {
		t.Errorf("%v allocations: the scope is tracked anew each time", n)
	}
}

// A shelf goes when the last thing has gone from its namespace, whatever that
// was.
func TestAShelfGoesWithTheLastThing(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		come, leave func(r *rival, namespace string)
	}{
		"a hold": {
			func(r *rival, ns string) { r.book.watchHold(someHold(ns, "first")) },
			func(r *rival, ns string) { r.book.release(ns, "first") },
		},
		"a hold that can't be read": {
			func(r *rival, ns string) {
				th := someHold(ns, "first")
				th.Spec.TaskRef.UID = "other"
				r.book.watchHold(th)
			},
			func(r *rival, ns string) { r.book.loseHold(someHold(ns, "first")) },
		},
		"a record": {
			func(r *rival, ns string) { r.book.followRecord(someRecord(r, ns)) },
			func(r *rival, ns string) { r.book.forgetRecord(someRecord(r, ns)) },
		},
		"a budget": {
			func(r *rival, ns string) {
				tb := daily(1)
				r.book.followBudget(types.NamespacedName{Namespace: ns, Name: "daily"}, tb)
			},
			func(r *rival, ns string) {
				r.book.followBudget(types.NamespacedName{Namespace: ns, Name: "daily"}, nil)
			},
		},
		"a task that waits": {
			func(r *rival, ns string) {
				s := r.book.shelf(ns)
				s.await(&request{task: budget.Task{UID: "first", Namespace: ns}}, &budget.Decision{}, newInbox())
			},
			func(r *rival, ns string) {
				r.book.shelf(ns).stopWaiting("first")
				r.book.waker.stir(ns)
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			r := newScene(t).replica()
			const namespace = "passing"
			c.come(r, namespace)
			r.book.waker.look(t.Context())
			p := weak.Make(r.book.shelf(namespace))
			if isFreed(p) || len(r.book.all()) != 2 {
				t.Fatal("the shelf is gone")
			}
			c.leave(r, namespace)
			r.book.waker.look(t.Context())
			if len(r.book.all()) != 1 || !isFreed(p) {
				t.Error("the shelf is kept")
			}
			if r.book.Waiting("nowhere") != 0 || len(r.book.all()) != 1 {
				t.Error("a question makes a shelf")
			}
		})
	}
}

// The book does not keep the names of namespaces either.
func TestABookForgetsNamespaces(t *testing.T) {
	t.Parallel()
	r := newScene(t).replica()
	for n := range 100 {
		ns := fmt.Sprint("passing-", n)
		r.book.watchHold(someHold(ns, "first"))
		r.book.release(ns, "first")
	}
	r.book.waker.look(t.Context())
	left := 0
	for range 100 { // what is freed is told of in the background
		runtime.GC()
		r.book.mu.Lock()
		left = len(r.book.shelves) + len(r.book.idle)
		r.book.mu.Unlock()
		if left == 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d namespaces are known", left)
}

// Whoever has a shelf in hand while it is found empty enters what others find.
func TestNothingIsLostWhileShelvesGo(t *testing.T) {
	t.Parallel()
	r := newScene(t).replica()
	const namespace, each = "passing", 200
	var writers, others sync.WaitGroup
	done := make(chan struct{})
	others.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				r.book.tidy(r.book.shelf(namespace))
				runtime.GC()
			}
		}
	})
	for worker := range 4 {
		writers.Go(func() {
			for n := range each {
				uid := types.UID(fmt.Sprintf("task-%d-%d", worker, n))
				s := r.book.shelf(namespace)
				runtime.Gosched()
				s.setHold(someHold(namespace, uid))
				if _, _, ok := r.book.shelf(namespace).held(uid); !ok {
					t.Errorf("the hold of %s is lost", uid)
				}
				r.book.release(namespace, uid)
			}
		})
	}
	writers.Wait()
	close(done)
	others.Wait()
}

func someHold(namespace string, uid types.UID) *budgetv1alpha1.TaskHold {
	h := usage.Hold{UID: uid, Namespace: namespace, ExpiresAt: time.Unix(1e10, 0), Labels: labels.Set{"team": "gold"}}
	return budget.NewTaskHold(h, usage.Task{UID: uid, Namespace: namespace, Name: "task"})
}

func someRecord(r *rival, namespace string) *budgetv1alpha1.TaskRecord {
	r.Helper()
	record, err := usage.RecordUsage(usage.Completion{
		Task:  usage.Task{UID: "first", Namespace: namespace, Name: "task", APIVersion: "v1", Kind: "Task"},
		Phase: usage.Failed, CompletionTime: r.clock.Now(),
	})
	r.must(err)
	return budget.NewTaskRecord(record)
}
