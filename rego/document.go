package rego

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bursar-dev/bursar/internal/spelling"
	"github.com/bursar-dev/bursar/policy"
)

// document is a part of the input's schema.
type document struct {
	Type                 string
	Enum                 []string
	Properties           map[string]*document
	Items                *document
	AdditionalProperties additional
}

// additional is what the schema says of keys that it does not name: false, or
// a schema of their values.
type additional struct{ schema *document }

// UnmarshalJSON reads either.
func (a *additional) UnmarshalJSON(text []byte) error {
	if string(text) == "false" || string(text) == "true" {
		return nil
	}
	return json.Unmarshal(text, &a.schema)
}

// readDocument reads the schema of the input.
func readDocument() (*document, error) {
	text, err := assets.ReadFile("schemas/input.json")
	if err != nil {
		return nil, err
	}
	d := &document{}
	return d, json.Unmarshal(text, d)
}

// names says that every document has the key.
func (d *document) names(key *ast.Term) bool {
	name, ok := key.Value.(ast.String)
	return ok && d.Properties[string(name)] != nil
}

// below is the part under a key; nil if there is none.
func (d *document) below(key *ast.Term) *document {
	if name, ok := key.Value.(ast.String); ok && d.Properties[string(name)] != nil {
		return d.Properties[string(name)]
	}
	if d.Items != nil {
		return d.Items
	}
	return d.AdditionalProperties.schema
}

// at is the part that a reference to the input names; nil if there is none.
func (d *document) at(ref ast.Ref) *document {
	for _, key := range ref[1:] {
		if d == nil {
			return nil
		}
		d = d.below(key)
	}
	return d
}

// checkValues refuses comparisons of a field that has a few values with a text
// that is none of them.
func (l *loader) checkValues() policy.LoadErrors {
	var faults policy.LoadErrors
	for _, m := range l.written {
		eachCall(m, func(call ast.Call) {
			if len(call) != 3 {
				return
			}
			switch call[0].Value.String() {
			case "equal", "eq", "neq":
				faults = append(faults, l.checkValue(call[1], call[2])...)
				faults = append(faults, l.checkValue(call[2], call[1])...)
			case "internal.member_2":
				faults = append(faults, l.checkValue(call[1], itemsOf(call[2].Value)...)...)
			}
		})
	}
	return faults
}

func (l *loader) checkValue(field *ast.Term, texts ...*ast.Term) policy.LoadErrors {
	ref, ok := field.Value.(ast.Ref)
	if !ok || !ref[0].Equal(ast.InputRootDocument) {
		return nil
	}
	part := l.document.at(ref)
	if part == nil || len(part.Enum) == 0 {
		return nil
	}
	var faults policy.LoadErrors
	for _, t := range texts {
		if text, ok := t.Value.(ast.String); ok && !slices.Contains(part.Enum, string(text)) {
			faults = append(faults, at(field.Location, "%s is never %s: it is one of %s%s", ref, t, strings.Join(part.Enum, ", "), spelling.DidYouMean(string(text), part.Enum)))
		}
	}
	return faults
}

// eachCall visits every call of a module, as a condition or within a term.
func eachCall(m *ast.Module, visit func(ast.Call)) {
	ast.WalkExprs(m, func(e *ast.Expr) bool {
		if terms, ok := e.Terms.([]*ast.Term); ok {
			visit(terms)
		}
		return false
	})
	ast.WalkTerms(m, func(t *ast.Term) bool {
		if call, ok := t.Value.(ast.Call); ok {
			visit(call)
		}
		return false
	})
}
