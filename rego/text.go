package rego

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// maxText bounds the bytes of text and digits that one evaluation may make.
// Steps bound the number of values; this bounds their size, which a rule could
// double with every step.
const maxText = 4 << 20

// metered are the built-ins whose result grows with their operands, and how
// much a byte of them weighs. After a policy is compiled, its calls to them go
// through a meter that charges the operands before the result is made.
var metered = map[string]int{
	"concat": 1, "sprintf": 1, "lower": 1, "upper": 1, "substring": 1, "strings.reverse": 1, "format_int": 1,
	"trim": 1, "trim_left": 1, "trim_prefix": 1, "trim_right": 1, "trim_space": 1, "trim_suffix": 1,
	"mul": 1, "product": 1, "plus": 1, "minus": 1,
	"split": 64, // each piece is a value of its own
}

// meterName is the name of a metered built-in within compiled rules. It is
// put there after the check of capabilities, so that no policy can name it.
func meterName(name string) string { return "bursar.metered." + name }

// meterCalls redirects the calls of compiled rules.
func meterCalls(modules map[string]*ast.Module) {
	for _, m := range modules {
		ast.WalkExprs(m, func(e *ast.Expr) bool {
			terms, ok := e.Terms.([]*ast.Term)
			if !ok || !e.IsCall() {
				return false
			}
			name := terms[0].Value.String()
			if _, ok := metered[name]; ok {
				operator := ast.NewTerm(ast.Ref{ast.VarTerm(meterName(name))})
				operator.Location = terms[0].Location
				terms[0] = operator
			}
			return false
		})
	}
}

// meters are the metered built-ins, for one prepared query.
func meters() []func(*oparego.Rego) {
	var options []func(*oparego.Rego)
	for name, weight := range metered {
		decl, plain := ast.BuiltinMap[name], topdown.GetBuiltin(name)
		options = append(options, oparego.FunctionDyn(&oparego.Function{Name: meterName(name), Decl: decl.Decl},
			func(ctx oparego.BuiltinContext, operands []*ast.Term) (result *ast.Term, err error) {
				if b, ok := ctx.Cancel.(*budget); ok && !b.charge(operands, weight) {
					return nil, oparego.NewHaltError(errTooMuchText)
				}
				err = plain(ctx, operands, func(t *ast.Term) error {
					result = t
					return nil
				})
				return result, err
			}))
	}
	return options
}

var errTooMuchText = fmt.Errorf("more than %d bytes of text", maxText)

// charge takes the size of operands from what the evaluation may make.
func (b *budget) charge(operands []*ast.Term, weight int) bool {
	for _, operand := range operands {
		b.text = measure(operand, b.text/weight) * weight
		if b.text <= 0 {
			b.text = 0
			return false
		}
	}
	return true
}

// measure takes the size of a value from what is left, and stops when nothing
// is: a value may hold another many times over.
func measure(t *ast.Term, left int) int {
	left -= 8
	switch v := t.Value.(type) {
	case ast.String:
		left -= len(v)
	case ast.Number:
		if left -= len(v); len(v) > 64 { // arithmetic on long numbers takes time by the square
			left -= len(v) * len(v)
		}
	case *ast.Array:
		for i := 0; i < v.Len() && left > 0; i++ {
			left = measure(v.Elem(i), left)
		}
	case ast.Set:
		v.Until(func(member *ast.Term) bool {
			left = measure(member, left)
			return left <= 0
		})
	case ast.Object:
		v.Until(func(key, value *ast.Term) bool {
			left = measure(value, measure(key, left))
			return left <= 0
		})
	}
	return left
}
