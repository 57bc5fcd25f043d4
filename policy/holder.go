package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Holder serves the current set and swaps it atomically. A reload that fails
// keeps the last good set, and says so. It is a Hook itself. Safe for
// concurrent use; the zero value is ready and denies every admission with
// CodeNotReady until a set is stored.
type Holder struct {
	// MaxStale is how long the last good set is served after a reload failed;
	// then calls are denied with CodeStale. 0 means for ever. It is measured
	// against Input.Now. Set it before the first use.
	MaxStale time.Duration

	mu    sync.Mutex // serialises writers
	state atomic.Pointer[holding]
}

// holding is one state of a Holder, never changed after it is published.
type holding struct {
	set    *Set
	status Status
}

// Status of a Holder.
type Status struct {
	// Ready says that a set was loaded at least once.
	Ready bool
	// Revision of the set that is served.
	Revision string
	// LoadedAt is when it was stored.
	LoadedAt time.Time
	// Stale says that the latest reload failed; Since says when the first did.
	Stale bool
	Since time.Time
	// Failures counts the failed reloads since then.
	Failures int
	// Err of the latest.
	Err error
}

// Store makes a set current, from the given instant.
func (h *Holder) Store(set *Set, at time.Time) error {
	return h.Reload(at, func() (*Set, error) { return set, nil })
}

// Reload calls load, outside of any lock that readers take, and makes its set
// current. If load fails, panics or gives nil, the set in use stays, Status
// says that it is stale, and the error is returned. Reloads run one after
// another.
func (h *Holder) Reload(at time.Time, load func() (*Set, error)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	set, err := safely(load)
	next := holding{}
	if old := h.state.Load(); old != nil {
		next = *old
	}
	if err != nil {
		next.status.fail(err, at)
	} else {
		next = holding{set: set, status: Status{Ready: true, Revision: set.Revision(), LoadedAt: at}}
	}
	h.state.Store(&next)
	return err
}

func (s *Status) fail(err error, at time.Time) {
	if !s.Stale {
		s.Stale, s.Since = true, at
	}
	s.Failures++
	s.Err = err
}

func safely(load func() (*Set, error)) (set *Set, err error) {
	defer func() {
		if r := recover(); r != nil {
			set, err = nil, fmt.Errorf("load policies: panic: %v", r)
		}
	}()
	set, err = load()
	if err == nil && set == nil {
		err = errors.New("load policies: no set")
	}
	return set, err
}

// Status of the set in use.
func (h *Holder) Status() Status {
	if s := h.state.Load(); s != nil {
		return s.status
	}
	return Status{}
}

// Current returns the set in use, nil before the first good load.
func (h *Holder) Current() *Set {
	if s := h.state.Load(); s != nil {
		return s.set
	}
	return nil
}

// Name of the set in use.
func (h *Holder) Name() string {
	if set := h.Current(); set != nil {
		return set.Name()
	}
	return "policies"
}

// Revision of the set in use; empty before the first good load.
func (h *Holder) Revision() string { return h.Current().Revision() }

// Evaluate asks the set in use. One call sees one set, whatever is reloaded
// meanwhile.
func (h *Holder) Evaluate(ctx context.Context, in *Input) (Verdict, error) {
	set, refusal := h.serve(in)
	if refusal != nil {
		return *refusal, nil
	}
	return set.Evaluate(ctx, in)
}

// EvaluateChecked is Evaluate of an input that Check has accepted.
func (h *Holder) EvaluateChecked(ctx context.Context, in *Input) (Verdict, error) {
	set, refusal := h.serve(in)
	if refusal != nil {
		return *refusal, nil
	}
	return set.EvaluateChecked(ctx, in)
}

// serve returns the set that answers a call, or why none may.
func (h *Holder) serve(in *Input) (*Set, *Verdict) {
	state := h.state.Load()
	if state == nil || state.set == nil {
		err := errors.New("no policies were loaded")
		if state != nil {
			err = state.status.Err
		}
		v := newCombination(in).refuse(h.Name(), CodeNotReady, err)
		return nil, &v
	}
	if in != nil && h.MaxStale > 0 && state.status.Stale && in.Now.Sub(state.status.Since) > h.MaxStale {
		v := newCombination(in).refuse(h.Name(), CodeStale, state.status.Err)
		v.Revision = state.set.Revision()
		return nil, &v
	}
	return state.set, nil
}

// Explain explains the set in use.
func (h *Holder) Explain(ctx context.Context, in *Input) (Explanation, error) {
	set, refusal := h.serve(in)
	if refusal != nil {
		return Explanation{Verdict: *refusal, Why: why(refusal)}, nil
	}
	return set.Explain(ctx, in)
}
