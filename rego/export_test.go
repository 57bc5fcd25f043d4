package rego

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"

	"github.com/bursar-dev/bursar/policy"
)

// Cached counts the entries of a hook's cache.
func Cached(h *Hook) (tasks, budgets int) { return len(h.cache.tasks), len(h.cache.budgets) }

// CompileUntried is Compile of modules that may fail on the samples, for tests
// of what happens to a task then.
func CompileUntried(modules map[string]string, o Options) (*Hook, error) {
	hooks, err := load(modules, o, nil)
	if err != nil {
		return nil, err
	}
	return hooks[0], nil
}

// Bare returns functions that evaluate a hook's prepared query with nothing
// around it: with an input that is parsed already, and with the Go struct.
func Bare(h *Hook, in *policy.Input) (parsed, fromStruct func() bool) {
	input := newTermCache().input(in)
	run := func(option oparego.EvalOption) bool {
		rs, err := h.query.Eval(context.Background(), option)
		if err != nil {
			return false
		}
		term, ok := rs[0].Expressions[0].Value.(*ast.Term)
		if !ok {
			return false
		}
		sets, ok := term.Value.(*ast.Array)
		if !ok {
			return false
		}
		deny, ok := sets.Elem(0).Value.(ast.Set)
		return ok && deny.Len() == 0
	}
	return func() bool { return run(oparego.EvalParsedInput(input)) },
		func() bool { return run(oparego.EvalInput(in)) }
}

// InputOf is the document that a hook evaluates.
func InputOf(h *Hook, in *policy.Input) ast.Value { return h.cache.input(in) }
