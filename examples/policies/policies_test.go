package policies_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/policytest"
	"github.com/bursar-dev/bursar/policy/policytest/engines"
)

func TestPolicies(t *testing.T) {
	policytest.Run(t, os.DirFS("."), engines.Loaders())
}

// The cases hold for the same policies in Go, too: each of the three engines
// gives the same verdict on each case.
func TestPoliciesInGo(t *testing.T) {
	load := func(_ fs.FS, file string, _ map[string]any) (policy.Hook, error) { return goPolicy(path.Dir(file)) }
	policytest.Run(t, os.DirFS("."), policytest.Loaders{".yaml": load, ".rego": load})
}

// all loads every policy in every engine.
func all(t testing.TB) []policy.Binding {
	t.Helper()
	var out []policy.Binding
	for name := range goPolicies {
		inGo, err := goPolicy(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, bind("go-"+name, inGo))
		for _, ext := range []string{".yaml", ".rego"} {
			hook, err := engines.Loaders()[ext](os.DirFS("."), name+"/policy"+ext, nil)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, bind(ext[1:]+"-"+name, hook))
		}
	}
	return out
}

// bind gives a hook another name, since names are unique in a set.
func bind(name string, h policy.Hook) policy.Binding {
	return policy.Binding{Hook: policy.Func(name, h.Evaluate)}
}

// anyInput draws an input around what the policies look at.
func anyInput(r *rand.Rand) policy.Input {
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	limit := int64(100_000_000)
	in := policytest.Base()
	in.Operation = policy.Operation(pick("Admit", "Renew", "BuildPod", "RecordUsage"))
	in.Now = in.Now.Add(time.Duration(r.IntN(14*24)) * time.Hour)
	in.Task.Model = pick("opus", "ultra", "haiku", "legacy-1", "preview-2", "", "ö\u2028")
	in.Task.Priority = pick("low", "normal", "high", "urgent", "")
	in.Task.Namespace = pick("agents", "sandbox")
	in.Task.UID = pick("u-1", "u-2", "")
	in.Task.Labels = map[string]string{pick("owner", "size", "team"): pick("large", "ada", "", "not a label value!")}
	in.Pod = policy.Pod{Profile: pick("meeting-bot", "agent-worker", ""), CPUMilli: r.Int64N(8000), MemoryBytes: r.Int64N(16 << 30), GPUs: r.Int64N(2)}
	known := r.IntN(2) == 0
	in.Estimate = policy.Amount{Known: known, CostKnown: known, CostMicros: r.Int64N(30_000_000)}
	in.Budgets[0].Cost = policy.Limited(limit, r.Int64N(2*limit), r.Int64N(limit))
	if r.IntN(4) == 0 {
		in.Budgets = nil
	}
	return in.Complete()
}

// The three engines agree on inputs that nobody wrote down.
func TestEnginesAgreeOnAnyInput(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	hooks := map[string][3]policy.Hook{}
	for name := range goPolicies {
		inGo, err := goPolicy(name)
		if err != nil {
			t.Fatal(err)
		}
		inCEL, err := engines.Loaders()[".yaml"](os.DirFS("."), name+"/policy.yaml", nil)
		if err != nil {
			t.Fatal(err)
		}
		inRego, err := engines.Loaders()[".rego"](os.DirFS("."), name+"/policy.rego", nil)
		if err != nil {
			t.Fatal(err)
		}
		hooks[name] = [3]policy.Hook{inGo, inCEL, inRego}
	}
	for range 300 {
		in := anyInput(r)
		before := in.Clone()
		for name, engines := range hooks {
			want := verdict(t, in, policy.Binding{Hook: engines[1]})
			for _, h := range []policy.Hook{engines[0], engines[2]} {
				if diff := cmp.Diff(want, verdict(t, in, policy.Binding{Hook: h})); diff != "" {
					t.Fatalf("%s on %+v (-CEL +%T):\n%s", name, in, h, diff)
				}
			}
		}
		if diff := cmp.Diff(*before, in); diff != "" {
			t.Fatalf("the input changed:\n%s", diff)
		}
	}
}

func verdict(t testing.TB, in policy.Input, bindings ...policy.Binding) policy.Verdict {
	t.Helper()
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, bindings...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := set.Evaluate(context.Background(), &in)
	if err != nil {
		t.Fatal(err)
	}
	v.Revision, v.Skipped, v.Errors = "", nil, nil
	for i := range v.Reasons { // what engines word differently: money
		if v.Reasons[i].Code == "estimate-too-high" {
			v.Reasons[i].Message = ""
		}
	}
	return v
}

// Over all policies in all engines: no order changes the verdict, and adding a
// policy never loosens it.
func TestRealPoliciesOnlyTighten(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	bindings := all(t)
	for range 100 {
		in := anyInput(r)
		r.Shuffle(len(bindings), func(i, j int) { bindings[i], bindings[j] = bindings[j], bindings[i] })
		n := r.IntN(len(bindings))
		few, more := verdict(t, in, bindings[:n]...), verdict(t, in, bindings[:n+1]...)
		if more.Outcome > few.Outcome || !cmp.Equal(few.Caps.Merge(more.Caps), more.Caps) {
			t.Fatalf("%s loosened %+v to %+v", bindings[n].Hook.Name(), few, more)
		}
		shuffled := append([]policy.Binding(nil), bindings[:n]...)
		r.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(few, verdict(t, in, shuffled...)); diff != "" {
			t.Fatalf("shuffled (-before +after):\n%s", diff)
		}
	}
}

// Readers during 1,000 reloads of sets of all engines: each verdict carries
// one revision and is that set's; a bad reload keeps the last good set.
func TestReloadsUnderLoad(t *testing.T) {
	bindings := all(t)
	in := policytest.Base()
	in.Budgets[0].Cost = policy.Limited(100_000_000, 95_000_000, 0)
	in = in.Complete()
	sets := make([]*policy.Set, 4)
	want := map[string]policy.Verdict{}
	for i := range sets {
		set, err := policy.NewSet(policy.Options{Timeout: time.Minute, Name: fmt.Sprint("set-", i)}, bindings[i*4:(i+1)*6]...)
		if err != nil {
			t.Fatal(err)
		}
		sets[i] = set
		if want[set.Revision()], err = set.Evaluate(t.Context(), &in); err != nil {
			t.Fatal(err)
		}
	}
	var h policy.Holder
	if err := h.Store(sets[0], in.Now); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for open := true; open; {
				select {
				case <-done:
					open = false
				default:
				}
				v, err := h.Evaluate(t.Context(), &in)
				if diff := cmp.Diff(want[v.Revision], v); diff != "" || err != nil {
					t.Errorf("revision %s (-want +got):\n%s%v", v.Revision, diff, err)
					return
				}
			}
		})
	}
	for i := range 1000 {
		_ = h.Reload(in.Now, func() (*policy.Set, error) {
			if i%7 == 6 {
				return nil, errors.New("does not compile")
			}
			return sets[i%len(sets)], nil
		})
		if s := h.Status(); s.Stale != (i%7 == 6) {
			t.Fatalf("reload %d: %+v", i, s)
		}
	}
	close(done)
	readers.Wait()
}
