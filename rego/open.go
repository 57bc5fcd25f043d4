package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
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

// opened finds the first open key of a reference to the input: of an object
// with keys that the schema does not name, or of a list.
func (o *openCheck) opened(ref ast.Ref, s *scope, loc *ast.Location) (mention, bool) {
	ref = o.unnamed(ref)
	if !ref[0].Equal(ast.InputRootDocument) {
		return mention{}, false
	}
	at := o.document
	for i := 1; i < len(ref) && at != nil; i++ {
		if !at.names(ref[i]) && s.fixed(ref[i].Value) && (at.Items != nil || at.AdditionalProperties.schema != nil) {
			return mention{ref: ref[:i+1], whole: ref, loc: loc, list: at.Items != nil}, true
		}
		at = at.below(ref[i])
	}
	return mention{}, false
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
	return "the " + owner + " has no such " + thing
}

// withDefault is what to write to read it with a default.
func (o *openCheck) withDefault(m mention) string {
	parent, path := m.ref[:len(m.ref)-1], m.whole[len(m.ref)-1:]
	value := `""`
	if at := o.document.at(m.whole); at != nil && at.Type == "integer" {
		value = "0"
	} else if at != nil && at.Type == "boolean" {
		value = "false"
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

// unnamed replaces a rule that is another name of a part of the input, as in
// labels := input.task.labels.
func (o *openCheck) unnamed(ref ast.Ref) ast.Ref {
	for range maxPath {
		if len(ref) > maxPath || !ref[0].Equal(ast.DefaultRootDocument) {
			return ref
		}
		n := len(ref)
		for n > 2 && o.rules[ref[:n].String()] == nil {
			n--
		}
		rules := o.rules[ref[:n].String()]
		if len(rules) != 1 || rules[0].Else != nil || rules[0].Head.Value == nil || len(rules[0].Head.Args) > 0 || len(rules[0].Head.Ref()) > 1 {
			return ref
		}
		base := scopeOf(rules[0], nil).placeOf(rules[0].Head.Value)
		if base == nil {
			return ref
		}
		ref = base.Concat(ref[n:])
	}
	return ref
}
