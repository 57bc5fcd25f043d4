package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// ReloadPolicies has the host's policies read again: Options.Policies must be a
// *policy.Holder. If load fails, the last good set stays in force and the error
// is returned, logged, counted in bursar_policy_reloads_total and shown by
// bursar_policies_stale until a reload succeeds. After a good one, tasks that
// wait are asked for again, and those for which the answer has changed wake. Each
// answer comes from one set, whatever is reloaded meanwhile.
//
// Call it once before the manager starts, or every task is refused until the
// first set is there, and then whenever the policies may have changed. It is
// safe for concurrent use.
func (b *Book) ReloadPolicies(ctx context.Context, load func() (*policy.Set, error)) error {
	holder, ok := b.options.Policies.(*policy.Holder)
	if !ok {
		return errors.New("bursar: only policies in a policy.Holder can be reloaded")
	}
	err := holder.Reload(b.options.Clock.Now(), load)
	status := holder.Status()
	b.tell.reloaded(&status, err)
	switch {
	case err == nil:
	case !status.Ready:
		log.FromContext(ctx).Error(err, "The policies can't be loaded; every task is refused until they are", "failures", status.Failures)
		return fmt.Errorf("bursar: load policies, every task is refused until they are: %w", err)
	default:
		log.FromContext(ctx).Error(err, "The policies can't be loaded; the last good ones stay in force",
			"revision", status.Revision, "loaded", status.LoadedAt, "failures", status.Failures)
		return fmt.Errorf("bursar: reload policies, revision %q stays in force: %w", status.Revision, err)
	}
	log.FromContext(ctx).Info("Policies are in force", "revision", status.Revision)
	b.waker.stirAll()
	return nil
}

// glance is a shelf as it is asked outside of an admission: it is locked for one
// figure at a time.
type glance struct{ shelf *shelf }

// Used implements [budget.View].
func (g glance) Used(q usage.Query) (usage.Balance, error) {
	g.shelf.mu.Lock()
	defer g.shelf.mu.Unlock()
	defer g.shelf.forgetStray(q.Scope)
	return g.shelf.view().Used(q)
}

// Turns implements [budget.View].
func (g glance) Turns(q usage.Query) (usage.Turns, error) {
	g.shelf.mu.Lock()
	defer g.shelf.mu.Unlock()
	defer g.shelf.forgetStray(q.Scope)
	return g.shelf.view().Turns(q)
}

// forgetStray has the ledger forget a scope that is of no budget any more: the
// question about it had it tracked again.
func (s *shelf) forgetStray(scope *usage.Scope) {
	if _, ok := s.scopes[scope]; !ok {
		s.ledger.Forget(scope)
	}
}

// policed reports whether policies are asked about tasks with these labels.
func (b *Book) policed(s *shelf, set map[string]string) bool {
	if b.options.Policies != nil {
		return true
	}
	for _, r := range s.all() {
		if r.HasPolicies() && r.Matches(s.namespace, set) {
			return true
		}
	}
	return false
}

// review shows policies a record that is about to be written. They block
// nothing.
func (b *Book) review(ctx context.Context, record *usage.Record, about budget.Subject) policy.Verdict {
	s := b.shelf(record.Namespace)
	if !b.policed(s, record.Labels) {
		return policy.Pass()
	}
	in := budget.Input{Ledger: glance{s}, Now: b.options.Clock.Now()}
	return b.reviewer.Record(ctx, *record, in, about)
}

// heed tells what policies say of a record that was written.
func (b *Book) heed(ctx context.Context, about runtime.Object, v *policy.Verdict, kept []string) {
	b.tell.failures(v)
	if len(kept) > 0 {
		log.FromContext(ctx).Info("Policies set labels that the task has itself; its own stay", "keys", kept)
	}
	if len(v.Warnings) == 0 {
		return
	}
	var notes []string
	for i := range v.Warnings {
		w := &v.Warnings[i]
		notes = append(notes, fmt.Sprintf("%s: %s (%s)", w.Policy, w.Message, w.Code))
	}
	log.FromContext(ctx).Info("Policies warn of what a task has spent", "warnings", notes, "policies", v.Revision)
	b.tell.event(about, corev1.EventTypeWarning, EventWarning, "Record", strings.Join(notes, "; "))
}

// revisionOf names the policies that a verdict comes from, "" if none was asked.
func revisionOf(v *policy.Verdict) string {
	if v == nil {
		return ""
	}
	return v.Revision
}
