package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// visit looks for != in the rules that a set depends on. Those behind a not
// are left: there a rule that does not apply is the stricter answer.
func (o *openCheck) visit(ref ast.Ref, args []*ast.Term) {
	rules := o.find(ref)
	if len(rules) == 0 || o.seen[memoKey(rules, args, false)] {
		return
	}
	o.seen[memoKey(rules, args, false)] = true
	answered := slices.ContainsFunc(rules, func(r *ast.Rule) bool {
		return r.Default && !r.Head.Value.Equal(ast.BooleanTerm(false))
	})
	for _, rule := range rules {
		for r := rule; r != nil; r = r.Else {
			s := scopeOf(r, args)
			if !answered && r.Else == nil && !r.Default {
				o.checkDiffers(r, r.Body, s, o.guards(r.Body, s), o.siblings(ref, rules))
			}
			o.visitCalls(r, s)
		}
	}
}

// visitCalls visits the rules that a rule reads and calls.
func (o *openCheck) visitCalls(rule *ast.Rule, s *scope) {
	look := func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Ref:
			o.visit(v, nil)
		case ast.Call:
			if name, ok := v[0].Value.(ast.Ref); ok {
				o.visit(name, o.plainArgs(v[1:], s))
			}
			for _, operand := range v[1:] { // not the name: it has arguments
				ast.WalkTerms(operand, func(t *ast.Term) bool {
					o.visitTerm(t, s)
					return false
				})
			}
			return true
		}
		return false
	}
	for _, t := range []*ast.Term{rule.Head.Key, rule.Head.Value} {
		if t != nil {
			ast.WalkTerms(t, look)
		}
	}
	for _, e := range rule.Body {
		if e.Negated {
			continue
		}
		if terms, ok := e.Terms.([]*ast.Term); ok {
			look(&ast.Term{Value: ast.Call(terms)})
			continue
		}
		ast.WalkTerms(e, look)
	}
}

func (o *openCheck) visitTerm(t *ast.Term, s *scope) {
	switch v := t.Value.(type) {
	case ast.Ref:
		if o.find(v) != nil && len(o.find(v)[0].Head.Args) == 0 {
			o.visit(v, nil)
		}
	case ast.Call:
		if name, ok := v[0].Value.(ast.Ref); ok {
			o.visit(name, o.plainArgs(v[1:], s))
		}
	}
}

// checkDiffers refuses != of what may be missing and is mentioned nowhere else.
func (o *openCheck) checkDiffers(rule *ast.Rule, body ast.Body, s *scope, guards mentions, siblings []*ast.Rule) {
	for _, e := range body {
		if every, ok := e.Terms.(*ast.Every); ok && !e.Negated {
			inner := o.guards(every.Body, s)
			inner.addAll(guards, nil)
			o.checkDiffers(rule, every.Body, s, inner, siblings)
		}
		if !negative(e) || len(e.With) > 0 {
			continue
		}
		found := mentions{}
		for _, t := range e.Operands() {
			o.needs(t, s, false, found)
		}
		for _, m := range found {
			if !guarded(m, guards) && !o.covered(rule, siblings, m) {
				o.fail(m, "%s: where %s, this comparison has no answer and the rule would not apply at all: %s", m.whole, m.lacking(), o.differently(e, m))
			}
		}
	}
}

// differently is what to write instead of a comparison by !=.
func (o *openCheck) differently(e *ast.Expr, m mention) string {
	operands := e.Operands()
	if e.Operator().String() == "neq" {
		return fmt.Sprintf("write not %s == %s, or %s", operands[0], operands[1], strings.TrimPrefix(o.instead(m), "write "))
	}
	return "write not in front of the condition instead of == false"
}
