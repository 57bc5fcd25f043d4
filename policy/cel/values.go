package cel

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/bursar-dev/bursar/internal/spelling"
	"github.com/bursar-dev/bursar/policy"
)

// valuesOf a text of the document that has only a few; nil if it may have any.
func valuesOf(e ast.Expr) []string {
	if e.Kind() != ast.IdentKind {
		return nil
	}
	switch e.AsIdent() {
	case "operation":
		return []string{string(policy.Admit), string(policy.Renew), string(policy.BuildPod), string(policy.RecordUsage)}
	case "version":
		return []string{policy.Version}
	}
	return nil
}

// checkValues refuses comparisons of such a text with one that it never is:
// the rule would never apply, or always.
func checkValues(call ast.CallExpr, fail func(ast.Expr, string, ...any)) {
	args := call.Args()
	switch call.FunctionName() {
	case "_==_", "_!=_":
		checkValue(args[0], args[1], fail)
		checkValue(args[1], args[0], fail)
	case "@in":
		if args[1].Kind() == ast.ListKind {
			for _, member := range args[1].AsList().Elements() {
				checkValue(args[0], member, fail)
			}
		}
	}
}

func checkValue(field, text ast.Expr, fail func(ast.Expr, string, ...any)) {
	known := valuesOf(field)
	s, ok := literalOf(text).(types.String)
	if len(known) == 0 || !ok || slices.Contains(known, string(s)) {
		return
	}
	fail(text, "%s is never %q: it is one of %s%s", field.AsIdent(), short(string(s)), strings.Join(known, ", "), spelling.DidYouMean(string(s), known))
}
