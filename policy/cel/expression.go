package cel

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/bursar-dev/bursar/policy"
)

// expression is one compiled expression. It is immutable and safe for
// concurrent use.
type expression struct {
	path    string // of the field that holds it
	output  *types.Type
	checked *cel.Ast
	plain   cel.Program // without accounting; nil if the worst cost is not proven
	tracked cel.Program // under the cost limit, interruptible
	worst   uint64      // proven worst cost, with the variables that it reads
	guarded bool        // run tracked
}

// expression compiles one expression, of type want unless that is nil. It
// answers nil after recording what is wrong.
func (c *compiler) expression(path, rule, text string, want *types.Type) *expression {
	if text == "" {
		c.fail(path, rule, "is required")
		return nil
	}
	checked, issues, err := c.check(text)
	if err != nil {
		c.fail(path, rule, "%v", err)
		return nil
	}
	if issues.Err() != nil {
		for _, e := range issues.Errors() {
			c.failAt(path, rule, e.Location.Line(), e.Location.Column()+1, "%s", c.advised(e.Message, text))
		}
		return nil
	}
	e := &expression{path: path, output: checked.OutputType(), checked: checked}
	if !c.checkOutput(path, rule, e.output, want) || !c.checkCalls(path, rule, checked) {
		return nil
	}
	if err := e.plan(c); err != nil {
		c.fail(path, rule, "%v", err)
		return nil
	}
	return e
}

// check parses and checks an expression. A panic of the library is a fault of
// the expression, not the end of the process that loads it.
func (c *compiler) check(text string) (checked *cel.Ast, issues *cel.Issues, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be compiled: %v", r)
		}
	}()
	checked, issues = c.env.Compile(text)
	return checked, issues, nil
}

// checkOutput wants exactly one type, never one that is known only later.
func (c *compiler) checkOutput(path, rule string, have, want *types.Type) bool {
	if want != nil && !have.IsExactType(want) {
		c.failAt(path, rule, 1, 1, "must be %s, is %s", want, have)
		return false
	}
	if want == nil && (have.Kind() == types.DynKind || have.Kind() == types.ErrorKind) {
		c.failAt(path, rule, 1, 1, "the type of a variable must be known, is %s", have)
		return false
	}
	return true
}

// checkCalls refuses what the checker lets pass: literals that their function
// cannot read, patterns that are no literals, texts that a field never is, and
// params or variables used as a whole.
func (c *compiler) checkCalls(path, rule string, checked *cel.Ast) bool {
	before := len(c.faults)
	native := checked.NativeRep()
	fail := func(e ast.Expr, format string, args ...any) {
		at := native.SourceInfo().GetStartLocation(e.ID())
		c.failAt(path, rule, at.Line(), at.Column()+1, format, args...)
	}
	for _, e := range ast.MatchDescendants(ast.NavigateAST(native), ast.AllMatcher()) {
		if e.Kind() == ast.CallKind {
			checkCall(e.AsCall(), fail)
			checkValues(e.AsCall(), fail)
		}
		if e.Kind() == ast.IdentKind {
			checkName(e, fail)
		}
		if n, ok := literalOf(e).(types.Double); ok {
			fail(e, "%v is a fraction: all numbers of the document are whole, money is in millionths of a US dollar; write usd(\"12.50\")", float64(n))
		}
	}
	return len(c.faults) == before
}

func literalOf(e ast.Expr) ref.Val {
	if e.Kind() != ast.LiteralKind {
		return nil
	}
	return e.AsLiteral()
}

// checkName refuses params and variables without a field.
func checkName(e ast.NavigableExpr, fail func(ast.Expr, string, ...any)) {
	name := e.AsIdent()
	parent, ok := e.Parent()
	if (name == "params" || name == "variables") && (!ok || parent.Kind() != ast.SelectKind) {
		fail(e, "%s must be followed by a name, as in %s.name", name, name)
	}
}

func checkCall(call ast.CallExpr, fail func(ast.Expr, string, ...any)) {
	name, args := call.FunctionName(), call.Args()
	if parse, ok := readers[name]; ok && args[0].Kind() == ast.LiteralKind {
		if text, ok := args[0].AsLiteral().(types.String); ok {
			if _, err := parse(string(text)); err != nil {
				fail(args[0], "%v", err)
			}
		}
	}
	if name == "matches" {
		checkPattern(args[len(args)-1], fail)
	}
	if name == "permille" && args[1].Kind() == ast.LiteralKind {
		if whole, ok := args[1].AsLiteral().(types.Int); ok && whole <= 0 {
			fail(args[1], "permille: the whole must be above 0")
		}
	}
}

func checkPattern(e ast.Expr, fail func(ast.Expr, string, ...any)) {
	if e.Kind() != ast.LiteralKind {
		fail(e, "the pattern of matches must be a literal")
		return
	}
	pattern, _ := e.AsLiteral().(types.String)
	size, err := patternSize(string(pattern))
	switch {
	case err != nil:
		fail(e, "%v", err)
	case size > maxRegex:
		fail(e, "the pattern compiles to %d instructions, at most %d are allowed", size, maxRegex)
	}
}

// plan makes the programs of an expression and proves its cost if it can.
func (e *expression) plan(c *compiler) error {
	estimate, err := c.env.EstimateCost(e.checked, estimator{})
	if err != nil {
		return err
	}
	e.worst = estimate.Max
	for _, index := range e.reads(c.known) {
		v := c.hook.variables[index]
		e.worst += min(v.worst, 1<<62-e.worst)
		e.guarded = e.guarded || v.guarded
	}
	e.guarded = e.guarded || e.worst > untrackedCost || !provable(e.checked.NativeRep())
	if !e.guarded {
		if e.plain, err = c.env.Program(e.checked, cel.EvalOptions(cel.OptOptimize)); err != nil {
			return err
		}
	}
	e.tracked, err = c.env.Program(e.checked, cel.EvalOptions(cel.OptOptimize), cel.CostTracking(tracker{patternsOf(e.checked.NativeRep())}),
		cel.CostLimit(ruleCostLimit), cel.InterruptCheckFrequency(interruptEvery))
	return err
}

// reads lists the variables that an expression names.
func (e *expression) reads(known map[string]int) []int {
	var out []int
	seen := map[int]bool{}
	for _, n := range ast.MatchDescendants(ast.NavigateAST(e.checked.NativeRep()), ast.KindMatcher(ast.SelectKind)) {
		s := n.AsSelect()
		if s.Operand().Kind() != ast.IdentKind || s.Operand().AsIdent() != "variables" {
			continue
		}
		if index, ok := known[s.FieldName()]; ok && !seen[index] {
			seen[index] = true
			out = append(out, index)
		}
	}
	return out
}

// fault gives an error of evaluation its code and its place.
func (e *expression) fault(err error) error {
	if f, ok := errors.AsType[*policy.Fault](err); ok { // of a variable that the expression reads
		return f
	}
	if cancelled, ok := errors.AsType[interpreter.EvalCancelledError](err); ok {
		if cancelled.Cause == interpreter.CostLimitExceeded {
			return &policy.Fault{Code: policy.CodePolicyCost, Err: fmt.Errorf("cost above %d: %w", ruleCostLimit, err)}
		}
		return &policy.Fault{Code: policy.CodePolicyTimeout, Err: err}
	}
	if inner, ok := errors.AsType[*placedError](err); ok { // of a variable that the expression reads
		return inner
	}
	if failed, ok := errors.AsType[*types.Err](err); ok {
		at := e.checked.NativeRep().SourceInfo().GetStartLocation(failed.NodeID())
		return &placedError{path: e.path, line: at.Line(), column: at.Column() + 1, err: hinted(err)}
	}
	return err
}

// placedError is an error of evaluation with its place in an expression.
type placedError struct {
	path         string
	line, column int
	err          error
}

// Error is line:column, as far as they are known, and the text.
func (e *placedError) Error() string {
	if e.line <= 0 {
		return e.err.Error()
	}
	return fmt.Sprintf("%d:%d: %v", e.line, e.column, e.err)
}

// Unwrap returns the error without its place.
func (e *placedError) Unwrap() error { return e.err }

// result evaluates an expression whose value is of exactly one type. The
// checker has proven the type; what is not so after all denies.
func result[T ref.Val](a *activation, e *expression) (out T, err error) {
	v, err := a.eval(e)
	if err != nil {
		return out, err
	}
	out, ok := v.(T)
	if !ok {
		return out, e.badResult("want %s, have %s", e.output, v.Type().TypeName())
	}
	return out, nil
}

// badResult is the error of an expression that answers with something malformed.
func (e *expression) badResult(format string, args ...any) error {
	return &policy.Fault{Code: policy.CodeBadResult, Err: &placedError{path: e.path, err: fmt.Errorf(format, args...)}}
}
