package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// needs collects what a term mentions: without it the term has no value. With
// deep, the conditions of the rules that it calls count, too.
func (o *openCheck) needs(t *ast.Term, s *scope, deep bool, out mentions) {
	switch v := t.Value.(type) {
	case ast.Var:
		if s.made[v] != nil {
			o.needsMade(v, s, deep, out)
		} else if known := s.bound[v]; known != nil && s.helper {
			o.needs(known, s, deep, out)
		}
	case ast.Ref:
		o.needsRef(v, s, deep, out, t.Location)
	case ast.Call:
		o.needsCall(v, s, deep, out, t.Location)
	case *ast.Array, ast.Set, ast.Object:
		for _, item := range itemsOf(v) {
			o.needs(item, s, deep, out)
		}
	}
}

// needsMade collects what a made value mentions, once for each: it may stand
// within others many times over.
func (o *openCheck) needsMade(v ast.Var, s *scope, deep bool, out mentions) {
	key := madeKey{v, deep}
	if _, ok := s.found[key]; !ok {
		s.found[key] = mentions{}
		o.needs(s.made[v], s, deep, s.found[key])
	}
	out.addAll(s.found[key], nil)
}

func (o *openCheck) needsCall(call ast.Call, s *scope, deep bool, out mentions, loc *ast.Location) {
	if deep && differing(call) {
		return
	}
	for _, operand := range call[1:] {
		o.needs(operand, s, deep, out)
	}
	if name, ok := call[0].Value.(ast.Ref); ok {
		out.addAll(o.ofRule(name, o.plainArgs(call[1:], s), deep), loc)
	}
}

// itemsOf are the members, keys and values of a list, a set or an object.
func itemsOf(value ast.Value) []*ast.Term {
	var items []*ast.Term
	add := func(t *ast.Term) { items = append(items, t) }
	switch v := value.(type) {
	case *ast.Array:
		v.Foreach(add)
	case ast.Set:
		v.Foreach(add)
	case ast.Object:
		v.Foreach(func(key, value *ast.Term) { items = append(items, key, value) })
	}
	return items
}

func (o *openCheck) needsRef(ref ast.Ref, s *scope, deep bool, out mentions, loc *ast.Location) {
	for _, key := range ref[1:] {
		switch key.Value.(type) {
		case ast.Ref, ast.Call:
			o.needs(key, s, deep, out)
		}
	}
	if v, ok := ref[0].Value.(ast.Var); ok && s.made[v] != nil {
		o.needsMade(v, s, deep, out)
		return
	}
	resolved := s.resolve(ref)
	if m, ok := o.opened(resolved, s, loc); ok {
		out.add(m)
	} else if !resolved[0].Equal(ast.InputRootDocument) {
		out.addAll(o.ofRule(resolved, nil, deep), loc)
	}
}

// plainArgs are arguments as another rule sees them: what holds variables of
// this one is not known there.
func (o *openCheck) plainArgs(operands []*ast.Term, s *scope) []*ast.Term {
	args := make([]*ast.Term, len(operands))
	for i, t := range operands {
		known := s.plain(t)
		if known == nil {
			continue
		}
		if ref, ok := known.Value.(ast.Ref); ok && !ref.IsGround() || ok && !ast.RootDocumentNames.Contains(ref[0]) {
			continue
		}
		args[i] = known
	}
	return args
}

// ofRule is what every definition of a rule or function mentions, so that it
// has no value without: in its value, and with deep in its conditions.
func (o *openCheck) ofRule(ref ast.Ref, args []*ast.Term, deep bool) mentions {
	rules := o.find(ref)
	if len(rules) == 0 {
		return nil
	}
	key := memoKey(rules, args, deep)
	if known, ok := o.memo[key]; ok {
		return known
	}
	o.memo[key] = nil // rules do not recurse; this only ends a mistake
	var all mentions
	for _, rule := range rules {
		if rule.Head.RuleKind() == ast.MultiValue || rule.Default && (!deep || !rule.Head.Value.Equal(ast.BooleanTerm(false))) {
			return nil
		}
		if rule.Default {
			continue
		}
		for r := rule; r != nil; r = r.Else {
			ms := o.ofDefinition(r, args, deep)
			if all == nil {
				all = ms
			} else {
				all = both(all, ms)
			}
		}
	}
	o.memo[key] = all
	return all
}

func (o *openCheck) ofDefinition(rule *ast.Rule, args []*ast.Term, deep bool) mentions {
	s := scopeOf(rule, args)
	s.helper = true
	ms := mentions{}
	if rule.Head.Value != nil {
		o.needs(rule.Head.Value, s, deep, ms)
	}
	if deep {
		ms.addAll(o.guards(rule.Body, s), nil)
	}
	return ms
}

// guards are what the conditions of a body make sure of.
func (o *openCheck) guards(body ast.Body, s *scope) mentions {
	out := mentions{}
	for _, e := range body {
		if e.Negated || len(e.With) > 0 || s.quiet[e] {
			continue
		}
		o.guard(e, s, out)
	}
	return out
}

func (o *openCheck) guard(e *ast.Expr, s *scope, out mentions) {
	switch v := e.Terms.(type) {
	case *ast.SomeDecl:
		for _, t := range v.Symbols {
			if call, ok := t.Value.(ast.Call); ok {
				if from := call[len(call)-1]; !literal(from) {
					o.needs(from, s, true, out)
				}
				o.tested(call, s, out)
			}
		}
	case *ast.Every:
		o.needs(v.Domain, s, true, out)
	case *ast.Term:
		o.needs(v, s, true, out)
		o.testedWithin(v, s, out)
	case []*ast.Term:
		o.guardCall(e, v, s, out)
	}
}

func (o *openCheck) guardCall(e *ast.Expr, terms []*ast.Term, s *scope, out mentions) {
	call := ast.Call(terms)
	if m, holds, ok := o.compared(call, s); ok {
		if !holds {
			out.add(m)
		}
		return
	}
	if negative(e) {
		return
	}
	term := &ast.Term{Value: call, Location: e.Location}
	o.needs(term, s, true, out)
	o.testedWithin(term, s, out)
}

// testedWithin looks at every call within a term, but for comprehensions.
func (o *openCheck) testedWithin(t *ast.Term, s *scope, out mentions) {
	ast.WalkTerms(t, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Call:
			o.tested(v, s, out)
		case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
			return true
		}
		return false
	})
}

// tested adds what a call makes sure of without reading it:
// "team" in object.keys(input.task.labels), some key, value in …, object.get
// within a condition, count of a list.
func (o *openCheck) tested(call ast.Call, s *scope, out mentions) {
	switch name := call[0].Value.String(); {
	case name == "internal.member_2" && len(call) == 3:
		if of := keysOf(call[2]); of != nil {
			o.addKey(of, call[1], s, out)
		}
	case name == "internal.member_3" && len(call) == 4:
		o.addKey(call[3], call[1], s, out)
	case name == "object.get" && len(call) == 4:
		o.addKey(call[1], call[2], s, out)
	case name == "count" && len(call) == 2:
		if ref, ok := call[1].Value.(ast.Ref); ok {
			out.add(mention{ref: s.resolve(ref).Append(ast.NumberTerm("0")), list: true})
		}
	}
}

// keysOf is the map of object.keys(map), or nil.
func keysOf(t *ast.Term) *ast.Term {
	if call, ok := t.Value.(ast.Call); ok && len(call) == 2 && call[0].Value.String() == "object.keys" {
		return call[1]
	}
	return nil
}

// addKey adds the key of an open map.
func (o *openCheck) addKey(of, key *ast.Term, s *scope, out mentions) {
	if m, ok := o.keyOf(of, key, s); ok {
		out.add(m)
	}
}

func (o *openCheck) keyOf(of, key *ast.Term, s *scope) (mention, bool) {
	base := s.plain(of)
	if base == nil {
		return mention{}, false
	}
	ref, ok := base.Value.(ast.Ref)
	if !ok {
		return mention{}, false
	}
	if path, ok := key.Value.(*ast.Array); ok {
		path.Foreach(func(t *ast.Term) { ref = ref.Append(t) })
	} else {
		ref = ref.Append(key)
	}
	return o.opened(s.resolve(ref), s, key.Location)
}

// compared finds object.get(map, key, default) compared with a literal, and
// whether that holds where the key is missing.
func (o *openCheck) compared(call ast.Call, s *scope) (m mention, holds, ok bool) {
	if len(call) != 3 {
		return mention{}, false, false
	}
	name := call[0].Value.String()
	if name != "equal" && name != "eq" && name != "neq" {
		return mention{}, false, false
	}
	for i := 1; i <= 2; i++ {
		get, isCall := call[i].Value.(ast.Call)
		if !isCall || get[0].Value.String() != "object.get" || len(get) != 4 {
			continue
		}
		value, other := s.constant(get[3]), s.constant(call[3-i])
		if value != nil && other != nil {
			m, ok = o.keyOf(get[1], get[2], s)
			return m, value.Equal(other) != (name == "neq"), ok
		}
	}
	return mention{}, false, false
}
