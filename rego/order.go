package rego

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/bursar-dev/bursar/policy"
)

// orders are the comparisons for which Rego has an answer whatever the kinds:
// every string is above every number.
var orders = map[string]bool{"gt": true, "gte": true, "lt": true, "lte": true}

// checkOrder refuses comparisons of values of two kinds, which come out the
// same for ever, and of the document's whole numbers with a fraction. It looks
// at the modules as they were written: in compiled ones the operands are
// variables without a type.
func (l *loader) checkOrder(entries map[string]*entry) policy.LoadErrors {
	var faults policy.LoadErrors
	for _, file := range slices.Sorted(maps.Keys(l.modules)) {
		m := l.modules[file]
		own := entries[m.Package.Path.String()]
		ast.WalkExprs(m, func(e *ast.Expr) bool {
			terms, ok := e.Terms.([]*ast.Term)
			if !ok || len(terms) != 3 || !orders[terms[0].Value.String()] {
				return false
			}
			a, b := l.kindOf(terms[1], own), l.kindOf(terms[2], own)
			if a != "" && b != "" && a != b {
				faults = append(faults, at(e.Location, "a %s is compared with a %s: the answer is always the same; numbers stand without quotes", a, b))
			}
			if a == "number" && b == "number" && (isFraction(terms[1]) || isFraction(terms[2])) {
				faults = append(faults, at(e.Location, "a whole number is compared with a fraction: money is in millionths of a US dollar, shares are in thousandths"))
			}
			return false
		})
	}
	return faults
}

// kindOf is number, string or boolean where a term is surely that: a literal,
// a field of the document or a parameter.
func (l *loader) kindOf(t *ast.Term, own *entry) string {
	switch v := t.Value.(type) {
	case ast.Number, ast.String, ast.Boolean:
		return ast.ValueName(v)
	case ast.Ref:
		if v.HasPrefix(ast.InputRootRef) {
			return kindOfType(l.compiler.TypeEnv.GetByRef(v))
		}
		if own != nil && len(v) == 3 && v.HasPrefix(paramsRef) {
			name, _ := v[2].Value.(ast.String)
			return kindOfParam(own.params[string(name)])
		}
	}
	return ""
}

var paramsRef = ast.MustParseRef("data.params")

func kindOfType(t types.Type) string {
	switch t.(type) {
	case types.Number:
		return "number"
	case types.String:
		return "string"
	case types.Boolean:
		return "boolean"
	}
	return ""
}

func kindOfParam(value any) string {
	switch value.(type) {
	case int64:
		return "number"
	case string:
		return "string"
	case bool:
		return "boolean"
	}
	return ""
}

func isFraction(t *ast.Term) bool {
	n, ok := t.Value.(ast.Number)
	return ok && strings.ContainsAny(string(n), ".eE")
}
