package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bursar-dev/bursar/policy"
)

// openCheck finds rules that say nothing where the input lacks a label, a fact
// or another key that it may lack. It looks at the modules as they were
// written, with their imports resolved: compiled rules no longer tell a head
// from its conditions.
type openCheck struct {
	document *document
	rules    map[string][]*ast.Rule // by package and name
	memo     map[string]mentions
	seen     map[string]bool // rules that were visited
	faults   map[string]policy.LoadError
}

// keepWritten is a stage of the compiler that copies the modules for openCheck.
func (l *loader) keepWritten(c *ast.Compiler) *ast.Error {
	l.written = make([]*ast.Module, 0, len(c.Modules))
	for _, file := range slices.Sorted(maps.Keys(c.Modules)) {
		l.written = append(l.written, c.Modules[file].Copy())
	}
	return nil
}

// checkOpen refuses members of a set that are made of what an input may lack,
// and comparisons by != of what it may lack: both are undefined then, and a
// deny would allow.
func (l *loader) checkOpen() policy.LoadErrors {
	o := &openCheck{
		document: l.document, rules: map[string][]*ast.Rule{},
		memo: map[string]mentions{}, seen: map[string]bool{}, faults: map[string]policy.LoadError{},
	}
	for _, m := range l.written {
		for _, rule := range m.Rules {
			key := nameOf(m.Package, rule)
			o.rules[key] = append(o.rules[key], rule)
		}
	}
	for _, e := range l.entries {
		for _, set := range e.sets {
			ref := e.pkg.Path.Append(ast.StringTerm(set))
			for _, rule := range o.find(ref) {
				o.checkHead(rule, append(o.find(ref), o.find(e.pkg.Path.Append(ast.StringTerm("deny")))...))
			}
			o.visit(ref, nil)
		}
	}
	faults := slices.Collect(maps.Values(o.faults))
	slices.SortFunc(faults, func(a, b policy.LoadError) int { return strings.Compare(placeOf(a), placeOf(b)) })
	return faults
}

func placeOf(e policy.LoadError) string {
	return fmt.Sprintf("%s:%09d:%09d:%s", e.File, e.Line, e.Column, e.Text)
}

func nameOf(p *ast.Package, rule *ast.Rule) string {
	head, _ := rule.Head.Ref()[0].Value.(ast.Var)
	return p.Path.Append(ast.StringTerm(string(head))).String()
}

// find is the definitions of the rule that a reference names.
func (o *openCheck) find(ref ast.Ref) []*ast.Rule {
	for n := len(ref); n > 2; n-- {
		if rules := o.rules[ref[:n].String()]; rules != nil {
			return slices.Clone(rules)
		}
	}
	return nil
}

func memoKey(rules []*ast.Rule, args []*ast.Term, deep bool) string {
	return fmt.Sprintf("%p %v %v", rules[0], args, deep)
}

// checkHead refuses a member of a set that would not be one.
func (o *openCheck) checkHead(rule *ast.Rule, siblings []*ast.Rule) {
	if rule.Head.Key == nil {
		return
	}
	s := scopeOf(rule, nil)
	heads, guards := mentions{}, o.guards(rule.Body, s)
	o.needs(rule.Head.Key, s, false, heads)
	for _, m := range heads {
		if !guarded(m, guards) && !o.covered(rule, siblings, m) {
			o.fail(m, "%s: where %s, this rule would not apply at all: %s, or test it in the body of the rule", m.whole, m.lacking(), o.instead(m))
		}
	}
}

func (o *openCheck) fail(m mention, format string, args ...any) {
	fault := at(m.loc, format, args...)
	o.faults[placeOf(fault)] = fault
}

// instead is what to write to read what may be missing.
func (o *openCheck) instead(m mention) string {
	if m.list {
		return "test count(" + m.ref[:len(m.ref)-1].String() + ") > 0"
	}
	return "write " + o.withDefault(m)
}

func guarded(m mention, guards mentions) bool {
	if _, ok := guards[m.ref.String()]; ok {
		return true
	}
	_, ok := guards[m.ref[:len(m.ref)-1].Append(ast.NumberTerm("0")).String()]
	return ok && m.list
}

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
				o.checkDiffers(r, r.Body, s, o.guards(r.Body, s), rules)
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

// covered says that another rule applies wherever this one would and the place
// is missing: all its conditions are conditions of this one, but for one that
// holds where it is missing.
func (o *openCheck) covered(rule *ast.Rule, siblings []*ast.Rule, m mention) bool {
	have := map[string]bool{"true": true}
	for _, e := range rule.Body {
		have[e.String()] = true
	}
	return slices.ContainsFunc(siblings, func(other *ast.Rule) bool {
		if other == rule || other.Default || fmt.Sprint(other.Head.Args) != fmt.Sprint(rule.Head.Args) {
			return false
		}
		absent := false
		for _, e := range other.Body {
			if o.holdsWithout(e, scopeOf(other, nil), m) {
				absent = true
			} else if !have[e.String()] {
				return false
			}
		}
		return absent
	})
}

// holdsWithout says that a condition holds where a place is missing.
func (o *openCheck) holdsWithout(e *ast.Expr, s *scope, m mention) bool {
	if !e.Negated {
		terms, ok := e.Terms.([]*ast.Term)
		if !ok {
			return false
		}
		found, holds, ok := o.compared(ast.Call(terms), s)
		return ok && holds && found.ref.Equal(m.ref)
	}
	plain := e.Copy()
	plain.Negated = false
	return guarded(m, o.guards(ast.NewBody(plain), s))
}
