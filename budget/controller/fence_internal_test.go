package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// A task that is admitted twice is claimed twice: a replica that knows of the
// first admission knows nothing of the second.
func TestATaskThatIsAdmittedAgainPassesTheFenceAgain(t *testing.T) {
	t.Parallel()
	for sentence, end := range map[string]func(a, b *rival, first *job){
		"its hold was released, as the other knows": func(a, b *rival, first *job) {
			th := a.hold("first")
			a.must(a.gate.Release(a.Context(), first))
			b.book.loseHold(th)
			b.checksFirst()
		},
		"its hold was released, as the other does not know yet": func(a, _ *rival, first *job) {
			a.must(a.gate.Release(a.Context(), first))
		},
		"its hold has expired": func(a, _ *rival, _ *job) {
			a.clock.Step(a.book.options.HoldTTL + time.Hour)
		},
		"its hold was deleted by hand": func(a, b *rival, _ *job) {
			th := a.hold("first")
			a.must(a.client.Delete(a.Context(), th))
			a.book.loseHold(th)
			b.book.loseHold(th)
			b.checksFirst() // a has not looked yet
		},
	} {
		for told, tell := range map[string]func(b *rival){
			"and nobody has told of the new one": func(*rival) {},
			"and the watch has told of it":       func(b *rival) { b.book.watchHold(b.hold("first")) },
		} {
			t.Run(sentence+" "+told, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				a, b := s.replica(), s.replica()
				first := s.task("first")
				s.task("second")
				if !a.admits("first") || b.admits("second") {
					t.Fatal("there is room for one")
				}
				b.book.watchHold(s.hold("first"))
				end(a, b, first)
				if !a.admits("first") {
					t.Fatal("there is room for it again")
				}
				tell(b)
				if b.admits("second") {
					t.Error("two tasks of 1 USD are admitted under a limit of 1.5")
				}
				if diff := cmp.Diff("hold first", s.stored()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// What was claimed, created and has ended is not created again by one who missed
// it.
func TestAClaimThatHasEndedStaysEnded(t *testing.T) {
	t.Parallel()
	for sentence, end := range map[string]func(a *rival, first *job){
		"released": func(a *rival, first *job) { a.must(a.gate.Release(a.Context(), first)) },
		"released on a replica that does not know it": func(a *rival, first *job) {
			other := a.replica()
			a.must(other.gate.Release(a.Context(), first))
		},
		"recorded, and its record has expired": func(a *rival, _ *job) {
			a.must(a.book.deleteHold(a.Context(), team, "first")) // as the recorder does
		},
		"deleted by hand": func(a *rival, _ *job) {
			th := a.hold("first")
			a.must(a.client.Delete(a.Context(), th))
			a.book.loseHold(th)
			a.checksFirst()
		},
		"expired, and deleted while nobody looked": func(a *rival, _ *job) {
			a.must(a.client.Delete(a.Context(), a.hold("first")))
			a.clock.Step(a.book.options.HoldTTL)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			a := s.replica()
			first := s.task("first")
			s.task("second")
			if !a.admits("first") {
				t.Fatal("there is room for it")
			}
			end(a, first)
			s.must(s.client.Delete(t.Context(), first))
			b := s.replica()
			if !b.admits("second") {
				t.Error("nothing runs, and nothing was spent")
			}
			b.checksFirst()
			if diff := cmp.Diff("hold second", s.stored()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A claim whose hold is not there yet counts, whoever creates it.
func TestAClaimWithoutItsHoldCounts(t *testing.T) {
	t.Parallel()
	for sentence, before := range map[string]func(a, b *rival){
		"of a task that was never admitted": func(_, _ *rival) {},
		"of a task whose hold has expired": func(a, b *rival) {
			if !a.admits("first") {
				a.Fatal("there is room for it")
			}
			b.book.watchHold(a.hold("first"))
			a.clock.Step(a.book.options.HoldTTL + time.Hour)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			a, b := s.replica(), s.replica()
			first := s.task("first")
			s.task("second")
			before(a, b)
			s.dies()
			if result, err := a.gate.Admit(t.Context(), first.DeepCopy()); err == nil {
				t.Fatalf("%+v", result)
			}
			s.fail = nil
			if b.admits("second") {
				t.Error("what was claimed does not count")
			}
			if !a.admits("first") {
				t.Error("the task that was claimed is refused")
			}
			if diff := cmp.Diff("hold first", s.stored()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A replica whose own hold was refused after it was claimed must look whether
// another one has created it.
func TestAHoldThatWasRefusedMayBeCreatedByOthers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	a, b := s.replica(), s.replica()
	first := s.task("first")
	s.task("second")
	s.fail = func(verb string, o client.Object) error {
		if verb == "create" && o.GetName() == "first" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "taskholds"}, "first", errors.New("not now"))
		}
		return nil
	}
	if _, err := a.gate.Admit(t.Context(), first.DeepCopy()); !apierrors.IsForbidden(err) {
		t.Fatal(err)
	}
	s.fail = nil
	if b.admits("second") || a.admits("second") {
		t.Error("what was claimed does not count")
	}
}

// An admission costs one read and one write more than without a fence, and an
// end costs any only where no later admission is known.
func TestWhatTheFenceCosts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	a := s.replica()
	a.book.shelf(team).dropBudget("daily")
	first, second := s.task("first"), s.task("second")
	s.reads, s.writes = nil, nil
	for _, uid := range []string{"first", "second", "second"} {
		if !a.admits(uid) {
			t.Fatal("there is no limit")
		}
	}
	s.must(a.gate.Release(t.Context(), first))
	s.must(a.gate.Release(t.Context(), second))
	s.must(a.gate.Release(t.Context(), second))
	if diff := cmp.Diff([]string{
		"create fence", "update fence", "create first",
		"update fence", "create second",
		"delete first",
		"update fence", "delete second",
		"delete second",
	}, s.writes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"get fence", "list", // the first time
		"get fence",
		"get fence", "get second", // the release of the second
		"get fence", // and once more
	}, s.reads); diff != "" {
		t.Error(diff)
	}
}

// A hold that has expired keeps the snapshot of the labels, also where the task
// is not admitted again.
func TestAnExpiredHoldIsKnownWhenItsRenewalFails(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	a := s.replica()
	first := s.task("first")
	if !a.admits("first") {
		t.Fatal("there is room for it")
	}
	s.clock.Step(a.book.options.HoldTTL + time.Hour)
	s.fail = func(string, client.Object) error { return errors.New("no answer") }
	if _, err := a.gate.Admit(t.Context(), first); err == nil {
		t.Fatal("the fence was not moved")
	}
	if known, _, ok := a.book.shelf(team).held("first"); !ok || !known.stored || known.hold.Live(s.clock.Now()) {
		t.Errorf("%+v, %v", known, ok)
	}
}

// A release must not end the admission that comes after it.
func TestAReleaseLeavesALaterClaimAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	a, b := s.replica(), s.replica()
	first := s.task("first")
	s.task("second")
	if !a.admits("first") {
		t.Fatal("there is room for it")
	}
	b.book.watchHold(s.hold("first"))
	s.clock.Step(a.book.options.HoldTTL + time.Hour)
	s.dies()
	if result, err := a.gate.Admit(t.Context(), first.DeepCopy()); err == nil {
		t.Fatalf("%+v", result) // claimed, and its hold is on its way
	}
	s.fail = nil
	s.must(b.gate.Release(t.Context(), first)) // of the hold that has expired
	if s.replica().admits("second") {
		t.Error("the later admission does not count")
	}
}

func TestAFenceThatStartsAnew(t *testing.T) {
	t.Parallel()
	for sentence, spoil := range map[string]func(s *scene, fence *budgetv1alpha1.TaskHold){
		"deleted": func(s *scene, fence *budgetv1alpha1.TaskHold) { s.must(s.client.Delete(s.Context(), fence)) },
		"corrected": func(s *scene, fence *budgetv1alpha1.TaskHold) {
			delete(fence.Annotations, claimAnnotation)
			s.must(s.client.Update(s.Context(), fence))
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			a, b := s.replica(), s.replica()
			first := s.task("first")
			s.task("second")
			for range 3 {
				if !b.admits("first") {
					t.Fatal("there is room for it")
				}
				s.must(b.gate.Release(t.Context(), first))
			}
			spoil(s, s.hold(fenceName))
			if !a.admits("first") || b.admits("second") {
				t.Error("there is room for one")
			}
		})
	}
}

// Watches tell of the holds of different tasks in any order.
func TestAReplicaKnowsAllClaimsUpToOneWhenNoneIsMissed(t *testing.T) {
	t.Parallel()
	s := newShelf(team, nil)
	told := func(series string, number int64) {
		th := newHold(&holding{place: place{series, number}})
		s.delivered(th)
	}
	told("x", 1)
	if s.hasReached(place{"x", 1}) {
		t.Error("what came before is not known")
	}
	s.reach(place{"x", 3})
	told("x", 5)
	told("y", 4)
	if !s.hasReached(place{"x", 2}) || s.hasReached(place{"x", 4}) || s.hasReached(place{"x", 5}) {
		t.Errorf("reached %v without the fourth", s.caughtUp)
	}
	told("x", 4)
	if !s.hasReached(place{"x", 5}) || s.hasReached(place{"x", 6}) || len(s.ahead) != 0 {
		t.Errorf("reached %v, ahead are %v", s.caughtUp, s.ahead)
	}
	for n := range int64(2 * mostAhead) {
		told("x", 7+n)
	}
	if len(s.ahead) > mostAhead {
		t.Errorf("%d are remembered", len(s.ahead))
	}
	s.reach(place{"x", 10})
	if s.caughtUp.number != 6+mostAhead {
		t.Errorf("reached %v", s.caughtUp)
	}
	s.reach(place{"x", 2})
	s.reach(place{})
	if s.caughtUp.number != 6+mostAhead {
		t.Errorf("went back to %v", s.caughtUp)
	}
}

func TestStripKeepsThePlaceOfAnAdmission(t *testing.T) {
	t.Parallel()
	th := newHold(&holding{place: place{"x", 7}})
	th.Annotations["a"] = "b"
	got, err := Strip()(th)
	if err != nil || placeOf(th) != (place{"x", 7}) || len(th.Annotations) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
