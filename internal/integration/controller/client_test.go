package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// meter counts what a client asks of the API server, and can cut it off.
type meter struct {
	mu    sync.Mutex
	calls map[string]int // by verb and type, "list" of what the cache answers included
	// writes are numbered from 1. At number dieAt the client dies: that write
	// fails, and so does all that comes later. With reach it reaches the API
	// server all the same, and only the answer is lost.
	writes, dieAt int
	reach, dead   bool
	// hangs keeps the caller of that write waiting until its context is done,
	// as it does with all that comes later.
	hangs bool
	// flaky loses every second write, and the answer of every second one of
	// those that are not lost, and goes on.
	flaky bool
	// fail lets a write fail without any effect, if it gives an error.
	fail func(verb string, o runtime.Object) error
}

var errCut = errors.New("the connection is lost")

func newMeter() *meter { return &meter{calls: map[string]int{}} }

func (m *meter) count(verb string, o any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[verb+" "+strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1alpha1."), "*controller_test.")]++
}

// seen gives the calls so far, and forgets them.
func (m *meter) seen() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := m.calls
	m.calls = map[string]int{}
	return calls
}

func (m *meter) write(ctx context.Context, verb string, o runtime.Object, do func() error) error {
	m.mu.Lock()
	if m.dead {
		m.mu.Unlock()
		return m.cut(ctx)
	}
	if m.fail != nil {
		if err := m.fail(verb, o); err != nil {
			m.mu.Unlock()
			return err
		}
	}
	m.writes++
	dies := m.writes == m.dieAt
	m.dead = dies
	reach := m.reach
	if m.flaky && m.writes%2 == 0 {
		dies, reach = true, m.writes%4 == 0
	}
	m.mu.Unlock()
	m.count(verb, o)
	if !dies {
		return do()
	}
	if reach {
		if err := do(); err != nil {
			return err
		}
	}
	return m.cut(ctx)
}

// cut is what a caller gets whose call has no answer.
func (m *meter) cut(ctx context.Context) error {
	if m.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return errCut
}

func (m *meter) wrap(c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			m.count("list", list)
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return m.write(ctx, "create", o, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return m.write(ctx, "update", o, func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return m.write(ctx, "patch", o, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return m.write(ctx, "delete", o, func() error { return c.Delete(ctx, o, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return m.write(ctx, "update "+sub, o, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return m.write(ctx, "patch "+sub, o, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}
