package cel

import (
	"math"
	"regexp/syntax"
	"strings"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/bursar-dev/bursar/policy"
)

// The limits on evaluation, in cost units of CEL. A unit is between 0.05 and
// 0.5 µs, so that a cost is no clock: the set's deadline is.
const (
	untrackedCost   = 5_000   // an expression whose worst cost is proven to be at most this runs without accounting
	ruleCostLimit   = 100_000 // of one expression
	policyCostLimit = 300_000 // of all expressions of a policy in one evaluation
	zoneCost        = 100     // of a time function with a zone: it reads the zone's data
	interruptEvery  = 8       // turns of a loop between two looks at the context
)

// costed are the functions whose cost the library or this package states
// truthfully. An expression with any other always runs under accounting.
var costed = func() map[string]bool {
	names := strings.Fields(`_&&_ _||_ !_ _?_:_ _==_ _!=_ _<_ _<=_ _>_ _>=_ _+_ _-_ _*_ _/_ _%_ -_ _[_] @in
		@not_strictly_false size startsWith endsWith contains matches int string type duration timestamp
		getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds getMinutes getMonth getSeconds
		_[?_] orValue hasValue sets.contains sets.equivalent sets.intersects math.@max math.@min
		usd cpu bytes permille money lowerAscii trim split`)
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}()

// estimator computes worst costs from the bounds of the input.
type estimator struct{}

// EstimateSize bounds a value that is read from the document or the parameters.
func (estimator) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if len(path) == 0 {
		return nil
	}
	if path[0] == "params" {
		return paramSize(node.Type())
	}
	if most, ok := sizes[strings.Join(path, ".")]; ok {
		return &checker.SizeEstimate{Max: most}
	}
	return nil
}

func paramSize(t *types.Type) *checker.SizeEstimate {
	switch t.Kind() {
	case types.StringKind:
		return &checker.SizeEstimate{Max: policy.MaxString}
	case types.ListKind:
		return &checker.SizeEstimate{Max: 64}
	default:
		return nil
	}
}

// EstimateCallCost states the cost of bursar's own functions and of zones.
//
//nolint:gocritic // ptrToRefParam: the signature is the library's
func (e estimator) EstimateCallCost(function, overload string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	if zoned(overload) {
		return &checker.CallEstimate{CostEstimate: checker.FixedCostEstimate(zoneCost)}
	}
	operands := args
	if target != nil {
		operands = append([]checker.AstNode{*target}, args...)
	}
	switch function {
	case "matches":
		return e.matchCost(operands[0], operands[1])
	case "usd", "cpu", "bytes", "lowerAscii", "trim", "split":
		return e.textCost(function, operands[0])
	case "money":
		return &checker.CallEstimate{CostEstimate: checker.FixedCostEstimate(5), ResultSize: &checker.SizeEstimate{Max: 40}}
	}
	return nil
}

// textCost is that of a function that reads its text once.
func (e estimator) textCost(function string, operand checker.AstNode) *checker.CallEstimate {
	text := e.sizeOf(operand)
	cost := text.MultiplyByCostFactor(textFactor).Add(checker.FixedCostEstimate(5))
	result := checker.SizeEstimate{Max: text.Max}
	if function == "split" && result.Max < 1<<62 {
		result.Max++
	}
	return &checker.CallEstimate{CostEstimate: cost, ResultSize: &result}
}

// matchCost is the length of the text times the size of the compiled pattern.
// The library takes the length of the pattern's text for its size, which (a?){99}
// would escape.
func (e estimator) matchCost(text, literal checker.AstNode) *checker.CallEstimate {
	pattern, ok := literal.Expr().AsLiteral().(types.String)
	size, err := patternSize(string(pattern))
	if !ok || err != nil {
		return &checker.CallEstimate{CostEstimate: checker.UnknownCostEstimate()}
	}
	length := e.sizeOf(text).Add(checker.FixedSizeEstimate(1)).MultiplyByCostFactor(textFactor)
	return &checker.CallEstimate{CostEstimate: length.MultiplyByCostFactor(float64(size) * patternFactor).Add(checker.FixedCostEstimate(1))}
}

// patternSize counts the instructions of a compiled pattern.
func patternSize(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}

// patternsOf lists the literal patterns of an expression with their sizes.
func patternsOf(a *ast.AST) map[string]int {
	var sizes map[string]int
	for _, n := range ast.MatchDescendants(ast.NavigateAST(a), ast.FunctionMatcher("matches")) {
		args := n.AsCall().Args()
		if pattern, ok := args[len(args)-1].AsLiteral().(types.String); ok {
			if size, err := patternSize(string(pattern)); err == nil {
				if sizes == nil {
					sizes = map[string]int{}
				}
				sizes[string(pattern)] = size
			}
		}
	}
	return sizes
}

// patternFactor is the cost of one instruction at one byte, per textFactor.
const patternFactor = 0.25

// textFactor is the cost of looking at one byte.
const textFactor = 0.1

func (e estimator) sizeOf(node checker.AstNode) checker.SizeEstimate {
	if s := node.ComputedSize(); s != nil {
		return *s
	}
	if s := e.EstimateSize(node); s != nil {
		return *s
	}
	return checker.UnknownSizeEstimate()
}

// zoned says that an overload takes the name of a time zone.
func zoned(overload string) bool { return strings.HasSuffix(overload, "_with_tz") }

// tracker states the same costs while an expression runs.
type tracker struct{ patterns map[string]int }

// CallCost is the cost of one call that was made.
func (t tracker) CallCost(function, overload string, args []ref.Val, _ ref.Val) *uint64 {
	if zoned(overload) {
		return new(uint64(zoneCost))
	}
	switch function {
	case "matches":
		text, ok1 := args[0].(types.String)
		pattern, ok2 := args[1].(types.String)
		if ok1 && ok2 {
			length := math.Ceil(float64(len(text)+1) * textFactor)
			return new(uint64(length*float64(t.patterns[string(pattern)])*patternFactor) + 1)
		}
	case "usd", "cpu", "bytes", "lowerAscii", "trim", "split":
		if s, ok := args[0].(traits.Sizer); ok {
			if n, ok := s.Size().(types.Int); ok {
				return new(uint64(float64(n)*textFactor) + 6)
			}
		}
	case "money":
		return new(uint64(5))
	}
	return nil
}

// provable says whether an expression calls nothing but costed functions.
func provable(a *ast.AST) bool {
	ok := true
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.CallKind && !costed[e.AsCall().FunctionName()] {
			ok = false
		}
	}))
	return ok
}
