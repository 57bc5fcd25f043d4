package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// DefaultTimeout bounds the evaluation of a whole set. What a policy may
// compute is bounded by cost and steps; the deadline is the backstop, and is
// longer than the pauses that a container's CPU quota causes, which would
// otherwise refuse tasks at random.
const DefaultTimeout = 250 * time.Millisecond

// MaxBindings bounds the hooks of a set.
const MaxBindings = 256

// Options of a set.
type Options struct {
	// Name of the set as a hook; empty means "policies".
	Name string
	// Timeout of one evaluation of all hooks; 0 means DefaultTimeout. A hook
	// in Go that ignores its context is not stopped, but an answer that comes
	// after the deadline is refused.
	Timeout time.Duration
}

// Set is an immutable list of hooks that answers as one. It is a Hook itself.
// Safe for concurrent use. A nil Set denies.
type Set struct {
	name     string
	timeout  time.Duration
	bindings []Binding
	revision string
}

// NewSet checks and combines hooks. Names must be given and unique; an empty
// set allows everything, which leaves the arithmetic of the budgets alone.
func NewSet(o Options, bindings ...Binding) (*Set, error) {
	s := &Set{name: o.Name, timeout: o.Timeout, bindings: slices.Clone(bindings)}
	if s.name == "" {
		s.name = "policies"
	}
	if s.timeout == 0 {
		s.timeout = DefaultTimeout
	}
	var faults []error
	if s.timeout < 0 {
		faults = append(faults, fmt.Errorf("policy set %q: timeout %s is negative", s.name, s.timeout))
	}
	if len(bindings) > MaxBindings {
		faults = append(faults, fmt.Errorf("policy set %q: %d hooks, at most %d are allowed", s.name, len(bindings), MaxBindings))
	}
	seen := map[string]bool{}
	for i, b := range bindings {
		if err := checkBinding(b, seen); err != nil {
			faults = append(faults, fmt.Errorf("policy set %q: hook %d: %w", s.name, i, err))
		}
		s.bindings[i].Operations = slices.Clone(b.Operations)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	s.revision = revisionOf(s.bindings)
	return s, nil
}

func checkBinding(b Binding, seen map[string]bool) error {
	if b.Hook == nil {
		return errors.New("is nil")
	}
	name, err := hookName(b.Hook)
	switch {
	case err != nil:
		return err
	case name == "" || len(name) > 253 || Clean(name) != name:
		return fmt.Errorf("name %q: must be one line of 1 to 253 bytes", clip(name))
	case seen[name]:
		return fmt.Errorf("name %q: is taken by another hook", name)
	case int(b.Enforcement) >= len(enforcementNames):
		return fmt.Errorf("%s: enforcement %d does not exist", name, b.Enforcement)
	case int(b.OnError) >= len(onErrorNames):
		return fmt.Errorf("%s: onError %d does not exist", name, b.OnError)
	}
	seen[name] = true
	for _, o := range b.Operations {
		if !o.known() {
			return fmt.Errorf("%s: operation %q does not exist", name, clip(string(o)))
		}
	}
	return nil
}

// hookName asks a hook for its name. A nil pointer of some hook's type panics,
// and is a fault of the configuration like a nil hook.
func hookName(h Hook) (name string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("is a %T that cannot tell its name: %v", h, r)
		}
	}()
	return h.Name(), nil
}

// revisionOf hashes what decides the answers. The order of hooks does not.
func revisionOf(bindings []Binding) string {
	lines := make([]string, 0, len(bindings))
	for _, b := range bindings {
		revision := ""
		if r, ok := b.Hook.(Revisioned); ok {
			revision = r.Revision()
		}
		lines = append(lines, fmt.Sprintf("%q %q %s %s %q", b.Hook.Name(), revision, b.Enforcement, b.OnError, b.Operations))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(Version + "\n" + strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:16])
}

// Name of the set.
func (s *Set) Name() string {
	if s == nil {
		return "policies"
	}
	return s.name
}

// Revision is a hash of the hooks' names, revisions and bindings. Hooks in Go
// count by name alone.
func (s *Set) Revision() string {
	if s == nil {
		return ""
	}
	return s.revision
}

// Evaluate asks every hook and combines the answers. It does not change the
// input. The verdict is complete by itself; the error is not nil only if the
// caller's own context is done, and the verdict denies then too (except for
// RecordUsage, which nothing blocks).
func (s *Set) Evaluate(ctx context.Context, in *Input) (Verdict, error) {
	if err := in.Check(); err != nil {
		c := newCombination(in)
		c.verdict.Revision = s.Revision()
		return c.refuse(s.Name(), faultsOf(err)[0].Code, err), nil
	}
	return s.EvaluateChecked(ctx, in)
}

// EvaluateChecked is Evaluate of an input that Check has accepted.
func (s *Set) EvaluateChecked(ctx context.Context, in *Input) (Verdict, error) {
	c := newCombination(in)
	if s == nil {
		return c.refuse(s.Name(), CodeNotReady, errors.New("no policies are loaded")), nil
	}
	c.verdict.Revision = s.revision
	if err := ctx.Err(); err != nil {
		return c.interrupted(s.name, err)
	}
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for i := range s.bindings {
		s.ask(bounded, &s.bindings[i], in, c)
	}
	if err := ctx.Err(); err != nil {
		return c.interrupted(s.name, err)
	}
	return c.finish(), nil
}

// ask evaluates one hook, unless it is not concerned or time is up.
func (s *Set) ask(ctx context.Context, b *Binding, in *Input, c *combination) {
	if !b.concerns(in.Operation) {
		c.verdict.Skipped = append(c.verdict.Skipped, Skip{Policy: b.Hook.Name(), Why: "not asked about " + string(in.Operation)})
		return
	}
	if err := ctx.Err(); err != nil {
		c.add(b, Verdict{}, &Fault{Code: CodePolicyTimeout, Err: err})
		return
	}
	verdict, err := call(ctx, b.Hook, in)
	if late := ctx.Err(); late != nil && err == nil {
		err = &Fault{Code: CodePolicyTimeout, Err: late}
	}
	c.add(b, verdict, err)
}

// concerns says whether the hook is asked about an operation.
func (b *Binding) concerns(o Operation) bool {
	return len(b.Operations) == 0 || slices.Contains(b.Operations, o)
}

// call evaluates a hook and turns a panic into an error.
func call(ctx context.Context, h Hook, in *Input) (verdict Verdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			verdict, err = Verdict{}, &Fault{Code: CodePolicyError, Err: fmt.Errorf("panic: %v", r)}
		}
	}()
	if checked, ok := h.(Checked); ok {
		return checked.EvaluateChecked(ctx, in)
	}
	return h.Evaluate(ctx, in.Clone())
}
