package controller_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/rego"
)

// refusing is a policy that refuses tasks of one color.
func refusing(color string) string {
	return fmt.Sprintf(`package bursar.colors

deny contains {"code": "no-%[1]s", "msg": "no %[1]s task starts"} if {
	input.operation == "Admit"
	input.task.labels.color == "%[1]s"
}
`, color)
}

// folder is a folder of policies that a host reads.
type folder struct{ dir string }

func newFolder(t *testing.T, text string) folder {
	t.Helper()
	f := folder{t.TempDir()}
	f.write(t, text)
	return f
}

func (f folder) write(t *testing.T, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(f.dir, "colors.rego"), []byte(text), 0o600))
}

// load is what a host gives ReloadPolicies.
func (f folder) load() (*policy.Set, error) {
	hooks, err := rego.Load(os.DirFS(f.dir), rego.Options{})
	if err != nil {
		return nil, err
	}
	var bindings []policy.Binding
	for _, h := range hooks {
		bindings = append(bindings, policy.Binding{Hook: h})
	}
	return policy.NewSet(policy.Options{}, bindings...)
}

func TestC8_AFolderOfRegoIsReloadedABadOneKeepsTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("daily", "100", nil)
	holder := &policy.Holder{}
	r := w.start(settings{options: controller.Options{Policies: holder}})
	red, blue := map[string]string{"color": "red"}, map[string]string{"color": "blue"}
	w.task("early", "1", blue)
	if c := w.awaitBlocked("early"); c.Reason != budget.ReasonPolicyDenied || !strings.Contains(c.Message, policy.CodeNotReady) {
		t.Errorf("before any policy is loaded: %s: %s", c.Reason, c.Message)
	}

	f := newFolder(t, "package bursar.colors\n\nden")
	if err := r.book.ReloadPolicies(t.Context(), f.load); err == nil || !strings.Contains(err.Error(), "every task is refused until they are") {
		t.Errorf("the first folder is bad: %v", err)
	}
	f.write(t, refusing("red"))
	must(t, r.book.ReloadPolicies(t.Context(), f.load))
	first := holder.Revision()
	w.awaitRunning("early") // it was woken by the reload
	w.task("red", "1", red)
	if c := w.awaitBlocked("red"); !strings.Contains(c.Message, "Policy colors denies: no red task starts (no-red)") {
		t.Errorf("%s: %s", c.Reason, c.Message)
	}

	f.write(t, "package bursar.colors\n\ndeny contains {\"code\": \"x\"} if input.task.colour == \"red\"\n")
	err := r.book.ReloadPolicies(t.Context(), f.load)
	if err == nil || !strings.Contains(err.Error(), "colors.rego:3") || !strings.Contains(err.Error(), "colour") {
		t.Errorf("a bad folder is not reported with its place: %v", err)
	}
	if status := holder.Status(); holder.Revision() != first || !status.Stale || status.Failures != 1 {
		t.Errorf("a bad folder does not keep the last good one: %+v", status)
	}
	if stale, failed := r.metric(t, "bursar_policies_stale"), r.metric(t, "bursar_policy_reloads_total", "failed"); stale != 1 || failed != 2 {
		t.Errorf("metrics: stale %v, failed %v", stale, failed)
	}
	w.task("red-too", "1", red)
	w.awaitBlocked("red-too")
	w.task("blue-too", "1", blue)
	w.awaitRunning("blue-too")

	f.write(t, refusing("blue"))
	must(t, r.book.ReloadPolicies(t.Context(), f.load))
	begin := time.Now()
	w.awaitRunning("red")
	w.awaitRunning("red-too")
	t.Logf("what waited starts %v after the reload", time.Since(begin))
	if stale := r.metric(t, "bursar_policies_stale"); stale != 0 {
		t.Errorf("stale %v after a good reload", stale)
	}
}

// TestC8_EachVerdictCarriesOneRevision swaps the folder while tasks arrive.
func TestC8_EachVerdictCarriesOneRevision(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, clock.RealClock{})
			w.budget("daily", "100000", nil)
			holder := &policy.Holder{}
			r := w.start(settings{idle: true, options: controller.Options{Policies: holder, Mode: mode}})
			colors := []string{"red", "blue"}
			refuses := map[string]string{} // the color that a revision refuses
			folders := map[string]folder{}
			for _, color := range colors {
				folders[color] = newFolder(t, refusing(color))
				must(t, r.book.ReloadPolicies(t.Context(), folders[color].load))
				refuses[holder.Revision()] = color
			}
			bad := newFolder(t, "package bursar.colors\n\nden")
			done := make(chan struct{})
			swaps := 0
			var wait sync.WaitGroup
			wait.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					for _, color := range colors {
						if err := r.book.ReloadPolicies(t.Context(), folders[color].load); err != nil {
							t.Error(err)
						}
						if r.book.ReloadPolicies(t.Context(), bad.load) == nil {
							t.Error("a bad folder is loaded")
						}
						swaps++
					}
				}
			})
			seen := map[string]int{}
			for i := range 150 {
				color := colors[i%2]
				task := w.task(fmt.Sprintf("task-%03d", i), "1", map[string]string{"color": color})
				answer, err := r.gate.Admit(t.Context(), task)
				must(t, err)
				v := answer.Decision.Policy
				if v == nil || refuses[v.Revision] == "" {
					t.Fatalf("no known revision: %+v", v)
				}
				seen[refuses[v.Revision]+" "+color]++
				if answer.Admitted == (refuses[v.Revision] == color) {
					t.Errorf("a %s task under the set that refuses %s: %s", color, refuses[v.Revision], answer.Decision.Message())
				}
				if !answer.Admitted && v.Reasons[0].Code != "no-"+color {
					t.Errorf("%+v", v.Reasons)
				}
			}
			close(done)
			wait.Wait()
			t.Logf("%d swaps and as many bad folders: tasks by what was refused and their color: %v", swaps, seen)
			if len(seen) != 4 {
				t.Errorf("the tasks did not meet both sets: %v", seen)
			}
		})
	}
}
