package rego

import "github.com/open-policy-agent/opa/v1/ast"

// scope is what the variables of one rule stand for.
type scope struct {
	bound   map[ast.Var]*ast.Term // to references and literals
	made    map[ast.Var]*ast.Term // to values made of others, for the head alone
	quiet   map[*ast.Expr]bool    // the assignments of made
	limited map[ast.Var]bool      // to what an argument or another expression gives
	found   map[madeKey]mentions
	helper  bool // what a variable is bound to counts as mentioned
}

type madeKey struct {
	name ast.Var
	deep bool
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
	ref = s.opening(ref)
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
		} else if ok && (i == 0 || !flat(base)) {
			out = append(out, t)
			continue
		}
		out = append(out, ast.NewTerm(known.Value))
	}
	return out
}

// flat says that a reference holds no other.
func flat(ref ast.Ref) bool {
	for _, t := range ref[1:] {
		switch t.Value.(type) {
		case ast.String, ast.Number, ast.Var:
		default:
			return false
		}
	}
	return true
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
	case ast.Call:
		if ref := s.gotten(v); ref != nil {
			return &ast.Term{Value: ref, Location: t.Location}
		}
	}
	return nil
}

// opening replaces a call at the head of a reference by what it stands for.
func (s *scope) opening(ref ast.Ref) ast.Ref {
	call, ok := ref[0].Value.(ast.Call)
	if !ok {
		return ref
	}
	if base := s.gotten(call); base != nil {
		return base.Concat(ref[1:])
	}
	return ref
}

// placeOf is the reference that a term is or stands for, or nil; a variable is
// none.
func (s *scope) placeOf(t *ast.Term) ast.Ref {
	switch v := t.Value.(type) {
	case ast.Ref:
		return s.resolve(v)
	case ast.Call:
		return s.gotten(v)
	}
	return nil
}

// gotten is the reference that object.get(map, key, {}) stands for, or nil: of an
// empty object nothing can be read, just as of a map that is not there.
func (s *scope) gotten(call ast.Call) ast.Ref {
	if len(call) != 4 || call[0].Value.String() != "object.get" {
		return nil
	}
	if missing, ok := call[3].Value.(ast.Object); !ok || missing.Len() > 0 {
		return nil
	}
	of := s.plain(call[1])
	if of == nil {
		return nil
	}
	ref := s.placeOf(of)
	if ref == nil || len(ref) >= maxPath {
		return nil
	}
	ref = ref.Append(call[2])
	if path, ok := call[2].Value.(*ast.Array); ok {
		ref = ref[:len(ref)-1].Copy()
		path.Foreach(func(t *ast.Term) { ref = ref.Append(t) })
	}
	return s.resolve(ref)
}

// constant is a term that is known when a policy is loaded, or nil.
func (s *scope) constant(t *ast.Term) *ast.Term {
	if known := s.plain(t); known != nil && ast.IsConstant(known.Value) {
		return known
	}
	return nil
}

// scopeOf reads the arguments and assignments of a rule.
func scopeOf(rule *ast.Rule, args []*ast.Term) *scope {
	s := &scope{bound: map[ast.Var]*ast.Term{}, made: map[ast.Var]*ast.Term{}, quiet: map[*ast.Expr]bool{}, limited: map[ast.Var]bool{}, found: map[madeKey]mentions{}}
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

// assigned is the variable and the term of an assignment, of which
// sprintf("%d", [n], text) is one, too.
func assigned(e *ast.Expr) (ast.Var, *ast.Term) {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok || e.Negated || len(terms) < 3 {
		return "", nil
	}
	name, last := terms[0].Value.String(), len(terms)-1
	if name == "assign" || name == "eq" {
		for i, t := range terms[1:] {
			if v, ok := t.Value.(ast.Var); ok {
				return v, terms[2-i]
			}
		}
		return "", nil
	}
	if b := ast.BuiltinMap[name]; b != nil && len(b.Decl.FuncArgs().Args) == last-1 {
		if v, ok := terms[last].Value.(ast.Var); ok {
			return v, &ast.Term{Value: ast.Call(terms[:last]), Location: e.Location}
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
	for s.unmake(rule.Body) {
	}
}

// unmake drops what is a condition after all: another one reads it.
func (s *scope) unmake(body ast.Body) (changed bool) {
	for _, e := range body {
		if s.quiet[e] || negative(e) {
			continue
		}
		ast.WalkVars(e, func(v ast.Var) bool {
			if s.made[v] != nil {
				delete(s.made, v)
				changed = true
			}
			return false
		})
	}
	for _, e := range body {
		if v, _ := assigned(e); s.made[v] == nil {
			delete(s.quiet, e)
		}
	}
	return changed
}

// negative says that an expression asks whether two values differ, which has
// no answer where one of them is missing.
func negative(e *ast.Expr) bool {
	terms, ok := e.Terms.([]*ast.Term)
	return ok && !e.Negated && differing(terms)
}

// differing is negative of a call.
func differing(call ast.Call) bool {
	if len(call) != 3 {
		return false
	}
	switch call[0].Value.String() {
	case "neq":
		return true
	case "equal", "eq":
		return isFalse(call[1]) || isFalse(call[2])
	}
	return false
}

func isFalse(t *ast.Term) bool { return t.Value.Compare(ast.Boolean(false)) == 0 }
