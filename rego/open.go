package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// mention is a place of the document that an input may lack: a key of an open
// map, or a place in a list.
type mention struct {
	ref   ast.Ref       // up to and with the key, as in input.task.labels.team
	whole ast.Ref       // all that was written
	loc   *ast.Location // where
	list  bool
}

// mentions by the text of ref.
type mentions map[string]mention

func (ms mentions) add(m mention) {
	if _, ok := ms[m.ref.String()]; !ok {
		ms[m.ref.String()] = m
	}
}

// addAll adds what another rule mentions, as if it stood at loc.
func (ms mentions) addAll(more mentions, loc *ast.Location) {
	for _, m := range more {
		if loc != nil {
			m.loc = loc
		}
		ms.add(m)
	}
}

// both keeps what two definitions of a rule mention alike.
func both(a, b mentions) mentions {
	out := mentions{}
	for key, m := range a {
		if _, ok := b[key]; ok {
			out[key] = m
		}
	}
	return out
}

// opened finds the first open key of a reference to the input. The kinds come
// from the schema: an object with keys that it does not name, or a list.
func (o *openCheck) opened(ref ast.Ref, s *scope, loc *ast.Location) (mention, bool) {
	if !ref[0].Equal(ast.InputRootDocument) {
		return mention{}, false
	}
	t := o.input
	for i := 1; i < len(ref); i++ {
		key := ref[i].Value
		switch v := t.(type) {
		case *types.Object:
			text, isText := key.(ast.String)
			static := types.Type(nil)
			if isText {
				static = staticOf(v, string(text))
			}
			if static == nil && v.DynamicProperties() != nil && s.fixed(key) {
				return mention{ref: ref[:i+1], whole: ref, loc: loc}, true
			}
			if t = static; t == nil {
				t = v.DynamicValue()
			}
		case *types.Array:
			if s.fixed(key) {
				return mention{ref: ref[:i+1], whole: ref, loc: loc, list: true}, true
			}
			t = v.Dynamic()
		default:
			return mention{}, false
		}
	}
	return mention{}, false
}

func staticOf(o *types.Object, key string) types.Type {
	for _, p := range o.StaticProperties() {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

// lacking says when a place of the document is not there.
func (m mention) lacking() string {
	parent := m.ref[:len(m.ref)-1]
	key := m.ref[len(m.ref)-1].Value
	if m.list {
		return parent.String() + " has no member " + key.String()
	}
	owner := "input"
	for _, t := range parent[1 : len(parent)-1] {
		if name, ok := t.Value.(ast.String); ok {
			owner = strings.TrimSuffix(string(name), "s")
		}
	}
	name, _ := parent[len(parent)-1].Value.(ast.String)
	thing := strings.TrimSuffix(string(name), "s")
	if text, ok := key.(ast.String); ok {
		return "the " + owner + " has no " + thing + " " + string(text)
	}
	return "the " + owner + " has no " + thing + " " + m.ref.String()
}

// withDefault is what to write to read it with a default.
func (o *openCheck) withDefault(m mention) string {
	parent, path := m.ref[:len(m.ref)-1], m.whole[len(m.ref)-1:]
	value := `""`
	if t := o.typeOf(m); t != nil {
		if _, ok := t.(types.Number); ok {
			value = "0"
		} else if _, ok := t.(types.Boolean); ok {
			value = "false"
		}
	}
	key := path[0].String()
	if len(path) > 1 {
		keys := make([]string, len(path))
		for i, t := range path {
			keys[i] = t.String()
		}
		key = "[" + strings.Join(keys, ", ") + "]"
	}
	return "object.get(" + parent.String() + ", " + key + ", " + value + ")"
}

// typeOf all that was written; nil if it is not known.
func (o *openCheck) typeOf(m mention) types.Type {
	t := o.input
	for _, key := range m.whole[1:] {
		switch v := t.(type) {
		case *types.Object:
			text, _ := key.Value.(ast.String)
			if t = staticOf(v, string(text)); t == nil {
				t = v.DynamicValue()
			}
		case *types.Array:
			t = v.Dynamic()
		default:
			return nil
		}
	}
	return t
}

// scope is what the variables of one rule stand for.
type scope struct {
	bound   map[ast.Var]*ast.Term // to references and literals
	made    map[ast.Var]*ast.Term // to values made of others, for the head alone
	quiet   map[*ast.Expr]bool    // the assignments of made
	limited map[ast.Var]bool      // to what an argument or another expression gives
	helper  bool                  // what a variable is bound to counts as mentioned
}

// fixed says that a key is a certain one, not any that is there.
func (s *scope) fixed(key ast.Value) bool {
	v, ok := key.(ast.Var)
	return !ok || s.limited[v]
}

// maxPath bounds references that are put together.
const maxPath = 32

// resolve replaces the variables of a reference.
func (s *scope) resolve(ref ast.Ref) ast.Ref {
	out := make(ast.Ref, 0, len(ref))
	for i, t := range ref {
		v, ok := t.Value.(ast.Var)
		known := s.bound[v]
		if !ok || known == nil {
			out = append(out, t)
			continue
		}
		if base, ok := known.Value.(ast.Ref); ok && i == 0 && len(base) < maxPath {
			out = append(out, base...)
			continue
		}
		out = append(out, ast.NewTerm(known.Value))
	}
	return out
}

// plain is a term that a variable can stand for, or nil.
func (s *scope) plain(t *ast.Term) *ast.Term {
	switch v := t.Value.(type) {
	case ast.Ref:
		return &ast.Term{Value: s.resolve(v), Location: t.Location}
	case ast.String, ast.Number, ast.Boolean:
		return t
	case ast.Var:
		return s.bound[v]
	}
	return nil
}

// scopeOf reads the arguments and assignments of a rule.
func scopeOf(rule *ast.Rule, args []*ast.Term) *scope {
	s := &scope{bound: map[ast.Var]*ast.Term{}, made: map[ast.Var]*ast.Term{}, quiet: map[*ast.Expr]bool{}, limited: map[ast.Var]bool{}}
	for i, a := range rule.Head.Args {
		v, ok := a.Value.(ast.Var)
		if !ok {
			continue
		}
		s.limited[v] = true
		if i < len(args) && args[i] != nil {
			s.bound[v] = args[i]
		}
	}
	for range 2 { // an assignment may stand behind its use
		for _, e := range rule.Body {
			s.read(e)
		}
	}
	s.findMade(rule)
	return s
}

// read learns from an assignment or some … in.
func (s *scope) read(e *ast.Expr) {
	if some, ok := e.Terms.(*ast.SomeDecl); ok {
		for _, t := range some.Symbols {
			if call, ok := t.Value.(ast.Call); ok && len(call) > 1 {
				if v, ok := call[1].Value.(ast.Var); ok {
					s.limited[v] = true
				}
			}
		}
		return
	}
	if v, t := assigned(e); t != nil {
		s.limited[v] = true
		if known := s.plain(t); known != nil {
			s.bound[v] = known
		}
	}
}

// assigned is the variable and the term of an assignment.
func assigned(e *ast.Expr) (ast.Var, *ast.Term) {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok || e.Negated || len(terms) != 3 {
		return "", nil
	}
	if name := terms[0].Value.String(); name != "assign" && name != "eq" {
		return "", nil
	}
	for i, t := range terms[1:] {
		if v, ok := t.Value.(ast.Var); ok {
			return v, terms[2-i]
		}
	}
	return "", nil
}

// findMade finds the values that a rule makes for its head, or to say that
// they differ: msg := sprintf(…) is no condition.
func (s *scope) findMade(rule *ast.Rule) {
	for _, e := range rule.Body {
		if v, t := assigned(e); t != nil && s.bound[v] == nil {
			switch t.Value.(type) {
			case ast.Call, *ast.Array, ast.Object, ast.Set:
				s.made[v], s.quiet[e] = t, true
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, e := range rule.Body {
			if s.quiet[e] || negative(e) {
				continue
			}
			ast.WalkVars(e, func(v ast.Var) bool {
				if s.made[v] == nil {
					return false
				}
				delete(s.made, v)
				for _, other := range rule.Body {
					if w, _ := assigned(other); w == v && s.quiet[other] {
						delete(s.quiet, other)
					}
				}
				changed = true
				return false
			})
		}
	}
}

// negative says that an expression asks whether two values differ, which has
// no answer where one of them is missing.
func negative(e *ast.Expr) bool {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok || e.Negated || len(terms) != 3 {
		return false
	}
	switch terms[0].Value.String() {
	case "neq":
		return true
	case "equal", "eq":
		return terms[1].Value.Compare(ast.Boolean(false)) == 0 || terms[2].Value.Compare(ast.Boolean(false)) == 0
	}
	return false
}
