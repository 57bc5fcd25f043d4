package controller

import (
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// shelf is what the book knows of one namespace. Namespaces share nothing: a
// record of one never touches a hold of another.
type shelf struct {
	namespace string
	compile   []budget.CompileOption
	rules     atomic.Pointer[[]*budget.Rule] // of budgets, by name; replaced, never changed

	mu      sync.Mutex
	ledger  *usage.Memory
	budgets map[string]shelved
	holds   map[types.UID]*holding
	// unread are records and holds that can't be read, by kind and name, with
	// the labels that say which budgets they might count in.
	unread  map[string]labels.Set
	waiting map[waiterKey]*waiter
	// moves counts the changes of rules, records and holds, and looks how often
	// those that wait were looked at.
	moves, looks uint64
	// caughtUp is the claim up to which all holds are known, under [Fenced], and
	// ahead are the later ones that are known.
	caughtUp place
	ahead    map[int64]struct{}
	// scopes are those of the budgets.
	scopes map[*usage.Scope]struct{}
	// keeper is the book, which keeps the shelf unless it is empty.
	keeper *Book
	kept   bool
}

// holding is a hold that counts, or will count as soon as its record is gone.
type holding struct {
	hold usage.Hold
	task usage.Task
	// stored says that the TaskHold is known to be in the API server; until
	// then it may or may not be.
	stored  bool
	version string // resourceVersion of the TaskHold
	// place is that of the claim as which it was admitted, under [Fenced].
	place place
	// before is the stored hold, expired by then, whose place in memory it has
	// taken.
	before *holding
	// vanished says that the TaskHold was deleted. The hold counts all the same
	// until it is known whether a record has taken its place.
	vanished bool
}

func newShelf(namespace string, compile []budget.CompileOption) *shelf {
	return &shelf{
		namespace: namespace,
		compile:   compile,
		ledger:    usage.NewMemory(),
		budgets:   map[string]shelved{},
		holds:     map[types.UID]*holding{},
		unread:    map[string]labels.Set{},
		waiting:   map[waiterKey]*waiter{},
		ahead:     map[int64]struct{}{},
	}
}

// setRecord enters a record as it is stored. What is stored is the truth: it
// takes the place of another record of the same UID.
func (s *shelf) setRecord(tr *budgetv1alpha1.TaskRecord) {
	record, faults := budget.RecordFrom(tr)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter()
	s.moves++
	key := "TaskRecord " + tr.Name
	if len(faults) > 0 {
		s.unread[key] = labels.Set(tr.Spec.TaskLabels)
		return
	}
	delete(s.unread, key)
	if err := s.ledger.Add(record); err != nil {
		s.ledger.Remove(record.UID)
		if err := s.ledger.Add(record); err != nil {
			s.unread[key] = labels.Set(record.Labels)
		}
	}
}

func (s *shelf) dropRecord(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves++
	delete(s.unread, "TaskRecord "+name)
	s.ledger.Remove(types.UID(name))
}

// setHold enters a hold as it is stored.
func (s *shelf) setHold(th *budgetv1alpha1.TaskHold) {
	hold, faults := budget.HoldFrom(th)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter()
	s.moves++
	key := "TaskHold " + th.Name
	if len(faults) > 0 {
		s.unread[key] = labels.Set(th.Spec.TaskLabels)
		return
	}
	delete(s.unread, key)
	known, ok := s.holds[hold.UID]
	if ok && (newer(known.version, th.ResourceVersion) || known.before != nil && known.version == th.ResourceVersion) {
		return // it is no news
	}
	if err := s.ledger.Renew(hold); err != nil {
		s.unread[key] = labels.Set(hold.Labels)
		return
	}
	s.holds[hold.UID] = &holding{hold: hold, task: taskOf(th), stored: true, version: th.ResourceVersion, place: placeOf(th)}
}

// newer reports whether a known version comes after another one.
func newer(known, other string) bool {
	order, err := resourceversion.CompareResourceVersion(known, other)
	return err == nil && order > 0
}

func taskOf(th *budgetv1alpha1.TaskHold) usage.Task {
	ref := th.Spec.TaskRef
	return usage.Task{
		UID: types.UID(ref.UID), Namespace: th.Namespace, Name: ref.Name, APIVersion: ref.APIVersion, Kind: ref.Kind,
	}
}

// vanish notes that a TaskHold was deleted and reports whether its hold still
// counts: until its record is seen, or is known not to be.
func (s *shelf) vanish(name string) (counts bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves++
	delete(s.unread, "TaskHold "+name)
	uid := types.UID(name)
	known, ok := s.holds[uid]
	if !ok {
		return false
	}
	if _, counts = s.ledger.Held(uid); counts {
		known.vanished = true
		return true
	}
	s.release(uid)
	return false
}

func (s *shelf) drop(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(uid)
}

func (s *shelf) release(uid types.UID) {
	s.moves++
	s.ledger.Release(uid)
	delete(s.holds, uid)
}

// held gives what is known of a task's hold: a copy, and whether it is recorded
// already.
func (s *shelf) held(uid types.UID) (h holding, recorded, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.holds[uid]
	if !ok {
		return holding{}, false, false
	}
	_, counts := s.ledger.Held(uid)
	return *known, !counts, true
}

// view answers questions about the ledger while the shelf is locked.
func (s *shelf) view() budget.View { return clouded{s.ledger, s} }

// clouded is a ledger that does not answer where something that it lacks might
// count.
type clouded struct {
	usage.Ledger
	shelf *shelf
}

func (c clouded) Used(q usage.Query) (usage.Balance, error) {
	for name, set := range c.shelf.unread {
		if q.Scope != nil && q.Scope.Selector != nil && q.Scope.Selector.Matches(set) {
			return usage.Balance{}, fmt.Errorf("%s in namespace %s can't be read, and it might count here: correct it or delete it",
				name, c.shelf.namespace)
		}
	}
	return c.Ledger.Used(q)
}
