package cel

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
)

// Bounds on what a policy may be made of. They are refused when it is loaded.
const (
	maxSource     = 256 << 10 // bytes of a file
	maxRules      = 500
	maxVariables  = 64
	maxExpression = 4 << 10 // bytes of one expression
	maxNodes      = 500     // nodes of one expression
	maxDepth      = 50      // nesting of one expression
	maxRegex      = 500     // instructions of one regular expression
)

var (
	paramsType    = types.NewObjectType("bursar.Params")
	variablesType = types.NewObjectType("bursar.Variables")
)

// standard is CEL's own library without its bytes(): here the name reads a
// quantity.
var standard = env.NewLibrarySubset().AddExcludedFunctions(env.NewFunction("bytes"))

// newEnv makes the environment of one policy. The versions of all libraries
// are pinned: an upgrade of the engine must not change what a policy means.
func newEnv(params, variables map[string]*types.FieldType) (*cel.Env, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	if err := registry.RegisterType(types.OptionalType); err != nil {
		return nil, err
	}
	options := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(standard)),
		cel.OptionalTypes(cel.OptionalTypesVersion(1)), // registers its type, so it comes before our provider
		cel.CustomTypeProvider(newProvider(registry, params, variables)),
		cel.CustomTypeAdapter(adapter{registry}),
		ext.Sets(ext.SetsVersion(1)),
		ext.Math(ext.MathVersion(0)),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.HomogeneousAggregateLiterals(),
		cel.EagerlyValidateDeclarations(true),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.ParserRecursionLimit(maxDepth),
		cel.ExpressionNodeLimit(maxNodes),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(),
			cel.ValidateTimestampLiterals(),
			cel.ValidateRegexLiterals(),
			cel.ValidateHomogeneousAggregateLiterals(),
			cel.ValidateComprehensionNestingLimit(1),
		),
		cel.Variable("params", paramsType),
		cel.Variable("variables", variablesType),
	}
	for name, t := range rootTypes {
		options = append(options, cel.Variable(name, t))
	}
	return cel.NewCustomEnv(append(options, functions()...)...)
}

// paramFields makes the fields of params from values that were checked.
func paramFields(values map[string]any) map[string]*types.FieldType {
	fields := make(map[string]*types.FieldType, len(values))
	for name, value := range values {
		t, v := paramValue(value)
		fields[name] = &types.FieldType{
			Type:    t,
			IsSet:   func(any) bool { return true },
			GetFrom: func(any) (any, error) { return v, nil },
		}
	}
	return fields
}

func paramValue(value any) (*types.Type, ref.Val) {
	switch v := value.(type) {
	case int64:
		return types.IntType, types.Int(v)
	case bool:
		return types.BoolType, types.Bool(v)
	case string:
		return types.StringType, types.String(v)
	case []string:
		return types.NewListType(types.StringType), types.NewStringList(types.DefaultTypeAdapter, v)
	}
	return types.NullType, types.NullValue
}

// paramsObject stands for params itself: its fields are constants.
var paramsObject = &objectValue{object: object{typ: paramsType}, adapter: types.DefaultTypeAdapter}
