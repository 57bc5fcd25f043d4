package controller

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// shelved is a budget as it was compiled.
type shelved struct {
	rule       *budget.Rule
	uid        types.UID
	generation int64
}

// setBudget enters a budget as it is stored now and reports whether that changed
// any rule. A change of its status alone does not.
func (s *shelf) setBudget(tb *budgetv1alpha1.TaskBudget) bool {
	if s.rule(tb) != nil {
		return false
	}
	rule, _ := budget.Compile(tb, s.compile...) // a fault is in the rule
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter()
	if known, ok := s.budgets[tb.Name]; ok {
		s.ledger.Forget(known.rule.Scope())
	}
	s.budgets[tb.Name] = shelved{rule: rule, uid: tb.UID, generation: tb.Generation}
	s.arrange()
	return true
}

func (s *shelf) dropBudget(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.budgets[name]
	if !ok {
		return false
	}
	s.ledger.Forget(known.rule.Scope())
	delete(s.budgets, name)
	s.arrange()
	return true
}

func (s *shelf) arrange() {
	rules := make([]*budget.Rule, 0, len(s.budgets))
	s.scopes = make(map[*usage.Scope]struct{}, len(s.budgets))
	for _, b := range s.budgets {
		rules = append(rules, b.rule)
		s.scopes[b.rule.Scope()] = struct{}{}
	}
	slices.SortFunc(rules, func(a, b *budget.Rule) int { return strings.Compare(a.Name().Name, b.Name().Name) })
	s.rules.Store(&rules)
	s.moves++
}

// matching lists the rules for tasks with these labels.
func (s *shelf) matching(set labels.Set) []*budget.Rule {
	var list []*budget.Rule
	for _, r := range s.all() {
		if r.Matches(s.namespace, set) {
			list = append(list, r)
		}
	}
	return list
}

// all lists the rules.
func (s *shelf) all() []*budget.Rule {
	if rules := s.rules.Load(); rules != nil {
		return *rules
	}
	return nil
}

// rule gives the rule of a budget as it is in a generation, nil if that is not
// the one that is known.
func (s *shelf) rule(tb *budgetv1alpha1.TaskBudget) *budget.Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current(tb)
}

// current is rule on a shelf that is locked.
func (s *shelf) current(tb *budgetv1alpha1.TaskBudget) *budget.Rule {
	known, ok := s.budgets[tb.Name]
	if !ok || known.uid != tb.UID || known.generation != tb.Generation {
		return nil
	}
	return known.rule
}
