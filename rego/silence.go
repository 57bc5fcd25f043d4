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
	seen     map[string]bool    // rules that were visited
	headed   map[*ast.Rule]bool // sets whose members were
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
		memo: map[string]mentions{}, seen: map[string]bool{}, headed: map[*ast.Rule]bool{}, faults: map[string]policy.LoadError{},
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
			o.checkHeads(ref)
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

// checkHeads refuses members of a set that would not be any.
func (o *openCheck) checkHeads(ref ast.Ref) {
	rules := o.find(ref)
	if len(rules) == 0 || o.headed[rules[0]] {
		return
	}
	o.headed[rules[0]] = true
	for _, rule := range rules {
		if rule.Head.Key != nil {
			o.checkHead(rule, o.siblings(ref, rules))
		}
	}
}

// siblings of a rule of a set are those of the set and of deny, which is
// stricter than the others.
func (o *openCheck) siblings(ref ast.Ref, rules []*ast.Rule) []*ast.Rule {
	if rules[0].Head.RuleKind() != ast.MultiValue {
		return rules
	}
	return append(rules, o.find(ref[:len(ref)-1].Append(ast.StringTerm("deny")))...)
}

func (o *openCheck) checkHead(rule *ast.Rule, siblings []*ast.Rule) {
	s := scopeOf(rule, nil)
	heads, guards := mentions{}, o.guards(rule.Body, s)
	o.needs(rule.Head.Key, s, false, heads)
	o.members(rule, s, heads)
	for _, m := range heads {
		if !guarded(m, guards) && !o.covered(rule, siblings, m) {
			o.fail(m, "%s: where %s, this rule would not apply at all: %s, or test it in the body of the rule", m.whole, m.lacking(), o.instead(m))
		}
	}
}

// members looks at what a rule takes its member from: a list that is written
// in the body, or another set.
func (o *openCheck) members(rule *ast.Rule, s *scope, heads mentions) {
	inHead := map[ast.Var]bool{}
	ast.WalkVars(rule.Head.Key, func(v ast.Var) bool {
		inHead[v] = true
		return false
	})
	for _, e := range rule.Body {
		some, ok := e.Terms.(*ast.SomeDecl)
		if !ok {
			continue
		}
		for _, t := range some.Symbols {
			call, ok := t.Value.(ast.Call)
			if !ok {
				continue
			}
			member, isVar := call[len(call)-2].Value.(ast.Var)
			from := call[len(call)-1]
			if ref, ok := from.Value.(ast.Ref); ok && isVar && inHead[member] && !ref[0].Equal(ast.InputRootDocument) {
				o.checkHeads(ref)
			} else if literal(from) {
				o.needs(from, s, false, heads)
			}
		}
	}
}

// literal says that a list or a set is written out.
func literal(t *ast.Term) bool {
	switch t.Value.(type) {
	case *ast.Array, ast.Set:
		return true
	}
	return false
}

func (o *openCheck) fail(m mention, format string, args ...any) {
	fault := at(m.loc, format, args...)
	key := fmt.Sprintf("%s:%d:%d:%s", fault.File, fault.Line, fault.Column, m.ref)
	if _, ok := o.faults[key]; !ok {
		o.faults[key] = fault
	}
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

// covered says that another rule applies wherever this one would and the place
// is missing: all its conditions are conditions of this one, but for one that
// holds where it is missing.
func (o *openCheck) covered(rule *ast.Rule, siblings []*ast.Rule, m mention) bool {
	have := map[string]bool{"true": true}
	for _, e := range rule.Body {
		have[e.String()] = true
	}
	return slices.ContainsFunc(siblings, func(other *ast.Rule) bool {
		if other == rule || other.Default || other.Head.Args.String() != rule.Head.Args.String() {
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
