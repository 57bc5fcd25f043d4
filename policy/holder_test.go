package policy_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bursar-dev/bursar/policy"
)

// setNamed denies everything with the given code, so that a verdict shows
// which set it came from.
func setNamed(t testing.TB, code string) *policy.Set {
	t.Helper()
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, says("p-"+code, policy.Refuse(code, code), nil), says("q-"+code, policy.Refuse(code, code), nil))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestAHolderDeniesUntilItIsLoaded(t *testing.T) {
	var h policy.Holder
	if s := h.Status(); s != (policy.Status{}) || h.Current() != nil || h.Revision() != "" || h.Name() != "policies" {
		t.Errorf("empty: got %+v", s)
	}
	in := base()
	if v, err := h.Evaluate(t.Context(), &in); err != nil || v.Allowed() || v.Reasons[0].Code != policy.CodeNotReady {
		t.Errorf("empty: got %+v, %v", v, err)
	}
	if err := h.Reload(noon, func() (*policy.Set, error) { return nil, errors.New("line 3: no such field") }); err == nil {
		t.Error("a failed load gave no error")
	}
	v, _ := h.Evaluate(t.Context(), &in)
	if v.Allowed() || v.Reasons[0].Code != policy.CodeNotReady || v.Errors[0].Message != "line 3: no such field" {
		t.Errorf("failed: got %+v", v)
	}
	if v, err := h.EvaluateChecked(t.Context(), &in); err != nil || v.Allowed() {
		t.Errorf("checked: got %+v, %v", v, err)
	}
	if x, err := h.Explain(t.Context(), &in); err != nil || x.Why != "denied by policies (policy-not-ready)" {
		t.Errorf("explained: got %+v, %v", x, err)
	}
	if s := h.Status(); s.Ready || !s.Stale {
		t.Errorf("status: got %+v", s)
	}
}

func TestABadReloadKeepsTheLastGoodSet(t *testing.T) {
	h := policy.Holder{MaxStale: time.Hour}
	if err := h.Store(setNamed(t, "one"), noon); err != nil {
		t.Fatal(err)
	}
	good := h.Revision()
	for _, load := range []func() (*policy.Set, error){
		func() (*policy.Set, error) { return nil, errors.New("bad") },
		func() (*policy.Set, error) { return nil, nil },
		func() (*policy.Set, error) { panic("bad") },
	} {
		if err := h.Reload(noon, load); err == nil {
			t.Error("a bad load gave no error")
		}
	}
	if s := h.Status(); !s.Ready || !s.Stale || s.Failures != 3 || s.Err == nil || s.Revision != good || !s.Since.Equal(noon) {
		t.Errorf("status: got %+v", s)
	}
	in := base()
	if v, _ := h.Evaluate(t.Context(), &in); v.Reasons[0].Code != "one" || v.Revision != good {
		t.Errorf("got %+v", v)
	}
	in.Now = noon.Add(time.Hour + time.Second)
	in = in.Complete()
	if v, _ := h.Evaluate(t.Context(), &in); v.Allowed() || v.Reasons[0].Code != policy.CodeStale {
		t.Errorf("after MaxStale: got %+v", v)
	}
	if err := h.Store(setNamed(t, "two"), noon); err != nil {
		t.Fatal(err)
	}
	if s := h.Status(); s.Stale || s.Failures != 0 || s.Err != nil {
		t.Errorf("after a good load: got %+v", s)
	}
}

// A holder is a hook of a set like any other, and stands for the set that it
// serves.
func TestAHolderIsAHook(t *testing.T) {
	var h policy.Holder
	set, err := policy.NewSet(policy.Options{Name: "team"}, tells("p", policy.Refuse("no", "m"), func() (policy.Trace, error) { return policy.Trace{Cost: 3}, nil }))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Store(set, noon); err != nil {
		t.Fatal(err)
	}
	if v := evaluate(t, base(), policy.Binding{Hook: &h}); v.Outcome != policy.Deny || v.Reasons[0].Policy != "team/p" {
		t.Errorf("got %+v", v)
	}
	in := base()
	if x, err := h.Explain(t.Context(), &in); err != nil || x.Why != "denied by p (no)" || x.Policies[0].Cost != 3 {
		t.Errorf("explained: got %+v, %v", x, err)
	}
}

func TestEachVerdictComesFromOneSetDuringAThousandReloads(t *testing.T) {
	var h policy.Holder
	codes := map[string]string{}
	sets := make([]*policy.Set, 8)
	for i := range sets {
		code := fmt.Sprintf("c%d", i)
		sets[i] = setNamed(t, code)
		codes[sets[i].Revision()] = code
	}
	if err := h.Store(sets[0], noon); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			in := base()
			for {
				select {
				case <-done:
					return
				default:
				}
				v, err := h.Evaluate(t.Context(), &in)
				if err != nil || len(v.Reasons) != 2 || v.Reasons[0].Code != codes[v.Revision] || v.Reasons[1].Code != codes[v.Revision] {
					t.Errorf("revision %s: got %+v, %v", v.Revision, v.Reasons, err)
					return
				}
			}
		})
	}
	for i := range 1000 {
		_ = h.Reload(noon, func() (*policy.Set, error) {
			if i%10 == 9 {
				return nil, errors.New("bad")
			}
			return sets[i%len(sets)], nil
		})
	}
	close(done)
	readers.Wait()
}
