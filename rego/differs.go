package rego

import (
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
				o.checkDiffers(r, withValue(r), s, o.guards(r.Body, s), o.siblings(ref, rules))
			}
			o.visitCalls(r, s)
		}
	}
}

// withValue is the body of a rule, and its value if that is a comparison.
func withValue(rule *ast.Rule) ast.Body {
	if rule.Head.Value != nil {
		if call, ok := rule.Head.Value.Value.(ast.Call); ok {
			return append(slices.Clone(rule.Body), &ast.Expr{Terms: []*ast.Term(call), Location: rule.Head.Value.Location})
		}
	}
	return rule.Body
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
		if rules := o.find(v); len(rules) > 0 && len(rules[0].Head.Args) == 0 {
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
		if e.Negated || len(e.With) > 0 {
			continue
		}
		if every, ok := e.Terms.(*ast.Every); ok {
			s.limit(every.Key, every.Value)
			inner := o.guards(every.Body, s)
			inner.addAll(guards, nil)
			o.checkDiffers(rule, every.Body, s, inner, siblings)
			continue
		}
		for _, call := range differences(e) {
			found := mentions{}
			o.needs(call[1], s, false, found)
			o.needs(call[2], s, false, found)
			for _, m := range found {
				if !guarded(m, guards) && !o.covered(rule, siblings, m) {
					o.fail(m, "%s: where %s, this comparison has no answer and the rule would not apply at all: %s", m.whole, m.lacking(), o.differently(e, call, m))
				}
			}
		}
	}
}

// limit says that an expression gives variables their values.
func (s *scope) limit(terms ...*ast.Term) {
	for _, t := range terms {
		if t == nil {
			continue
		}
		if v, ok := t.Value.(ast.Var); ok {
			s.limited[v] = true
		}
	}
}

// differences are the comparisons by != of an expression, but for those within
// comprehensions, which may be counted.
func differences(e *ast.Expr) []ast.Call {
	var out []ast.Call
	if terms, ok := e.Terms.([]*ast.Term); ok && differing(terms) {
		out = append(out, terms)
	}
	ast.WalkTerms(e, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Call:
			if differing(v) {
				out = append(out, v)
			}
		case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
			return true
		}
		return false
	})
	return out
}

// differently is what to write instead of a comparison by !=.
func (o *openCheck) differently(e *ast.Expr, call ast.Call, m mention) string {
	if call[0].Value.String() != "neq" {
		return "write not in front of the condition instead of == false"
	}
	instead := strings.TrimPrefix(o.instead(m), "write ")
	if written := string(e.Loc().Text); negative(e) && strings.Count(written, " != ") == 1 { // else compiled names stand for the written ones
		return "write not " + strings.Replace(written, " != ", " == ", 1) + ", or " + instead
	}
	return "write not and == instead of !=, or " + instead
}
