package controller

import (
	"runtime"
	"weak"
)

// A namespace has at most one shelf at any time. The book keeps those that have
// something in them. Of an empty one it only knows as long as somebody else has
// it in hand, and who enters something there has the book keep it.

// shelf gives the shelf of a namespace, made new if it has none.
func (b *Book) shelf(namespace string) *shelf {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s, ok := b.shelves[namespace]; ok {
		return s
	}
	if s := b.idle[namespace].Value(); s != nil {
		return s
	}
	s := newShelf(namespace, b.options.Compile)
	s.keeper = b
	b.lay(s)
	runtime.AddCleanup(s, b.forgetShelf, namespace)
	return s
}

// lay keeps a shelf no longer. The book is locked.
func (b *Book) lay(s *shelf) {
	if b.idle == nil {
		b.idle = map[string]weak.Pointer[shelf]{}
	}
	delete(b.shelves, s.namespace)
	b.idle[s.namespace] = weak.Make(s)
}

// forgetShelf follows the end of a shelf that nobody has any more.
func (b *Book) forgetShelf(namespace string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok := b.idle[namespace]; ok && p.Value() == nil {
		delete(b.idle, namespace)
	}
}

// enter has the book keep a shelf in which something is about to be entered. The
// shelf is locked.
func (s *shelf) enter() {
	if s.kept || s.keeper == nil {
		return
	}
	s.kept = true
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	delete(s.keeper.idle, s.namespace)
	s.keeper.shelves[s.namespace] = s
}

// tidy keeps a shelf no longer if there is nothing in it.
func (b *Book) tidy(s *shelf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.kept || !s.isEmpty() {
		return
	}
	s.kept = false
	b.tell.forgetNamespace(s.namespace)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lay(s)
}

func (s *shelf) isEmpty() bool {
	records, holds := s.ledger.Len()
	return records+holds+len(s.budgets)+len(s.holds)+len(s.unread)+len(s.waiting) == 0
}

// all lists the shelves that have something in them.
func (b *Book) all() []*shelf {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]*shelf, 0, len(b.shelves))
	for _, s := range b.shelves {
		list = append(list, s)
	}
	return list
}
