package rego

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// maxGrowth bounds how many times a value may come to stand within another,
// over all rules that it passes through; aComprehension is what one
// comprehension counts for.
const (
	maxGrowth      = 1_000_000
	aComprehension = 64
)

// checkGrowth is a stage of the compiler that refuses rules that put values
// into lists of lists of lists: x1 is [x0, x0], x2 is [x1, x1], and so on. The
// engine takes a single step for each, and a time that doubles. So does its
// type checker, which is why this comes before it.
func checkGrowth(c *ast.Compiler) *ast.Error {
	known := map[*ast.Rule]int{}
	var growth func(rule *ast.Rule) int
	growth = func(rule *ast.Rule) int {
		if g, ok := known[rule]; ok {
			return g
		}
		known[rule] = 1 // rules do not recurse; this only ends a mistake
		most := 1
		for dependency := range c.Graph.Dependencies(rule) {
			if r, ok := dependency.(*ast.Rule); ok {
				most = max(most, growth(r))
			}
		}
		known[rule] = min(most*ownGrowth(rule), maxGrowth+1)
		return known[rule]
	}
	for _, file := range slices.Sorted(maps.Keys(c.Modules)) {
		for _, rule := range c.Modules[file].Rules {
			if growth(rule) > maxGrowth {
				return ast.NewError(ast.CompileErr, rule.Loc(), "rule %s: puts values into values too many times over", rule.Head.Ref())
			}
		}
	}
	return nil
}

// ownGrowth counts the variables and references that a rule puts into lists,
// sets and objects, one beside the other or one into the next.
func ownGrowth(rule *ast.Rule) int {
	n := 0
	count := func(t *ast.Term) {
		switch t.Value.(type) {
		case ast.Var, ast.Ref, ast.Call:
			n++
		}
	}
	ast.WalkTerms(rule, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case *ast.Array:
			v.Foreach(count)
		case ast.Set:
			v.Foreach(count)
		case ast.Object:
			v.Foreach(func(_, value *ast.Term) { count(value) })
		case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
			n += aComprehension
		}
		return false
	})
	return max(n, localGrowth(rule))
}

// localGrowth is how many times a value stands within a variable of a rule,
// through the variables that the rule puts into others.
func localGrowth(rule *ast.Rule) int {
	grown, most := map[ast.Var]int{}, 1
	within := func(t *ast.Term) int {
		sum := 0
		ast.WalkVars(t, func(v ast.Var) bool {
			sum = min(sum+max(1, grown[v]), maxGrowth+1)
			return false
		})
		return sum
	}
	for changed := true; changed && most <= maxGrowth; {
		changed = false
		note := func(to, from *ast.Term) {
			v, ok := to.Value.(ast.Var)
			if !ok {
				return
			}
			if g := within(from); g > max(1, grown[v]) {
				grown[v], most, changed = g, max(most, g), true
			}
		}
		ast.WalkExprs(rule, func(e *ast.Expr) bool {
			if e.IsAssignment() || e.IsEquality() {
				note(e.Operand(0), e.Operand(1))
				note(e.Operand(1), e.Operand(0))
			}
			return false
		})
	}
	return most
}
