package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// ParamType is the type of a policy's parameter.
type ParamType string

// The types of parameters.
const (
	ParamInt     ParamType = "int"     // int64
	ParamString  ParamType = "string"  // at most MaxString bytes
	ParamBool    ParamType = "bool"    //
	ParamStrings ParamType = "strings" // a list of at most 64 strings
)

// MaxParams bounds the parameters of a policy.
const MaxParams = 64

// Param declares a parameter that a policy is loaded with.
type Param struct {
	// Type of the value.
	Type ParamType `json:"type"`
	// Default when no value is given; nil means that one must be given.
	Default any `json:"default,omitempty"`
	// Doc for the person who sets it.
	Doc string `json:"doc,omitempty"`
}

// BindParams checks values against their declarations and returns one value
// for each declared parameter: int64, string, bool or []string. Values may come
// from JSON or YAML: whole numbers of any type count as ints, text never does.
// A value that is not declared, missing or of another type is an error that
// names it; all such errors are joined.
func BindParams(declared map[string]Param, values map[string]any) (map[string]any, error) {
	var faults []error
	if len(declared) > MaxParams {
		return nil, fmt.Errorf("%d parameters, at most %d are allowed", len(declared), MaxParams)
	}
	out := make(map[string]any, len(declared))
	for _, name := range sortedKeys(declared) {
		param := declared[name]
		value, given := values[name]
		if !given {
			value = param.Default
		}
		if !given && value == nil {
			faults = append(faults, fmt.Errorf("parameter %s: no value and no default", name))
			continue
		}
		bound, err := bindParam(param.Type, value)
		if err != nil {
			faults = append(faults, fmt.Errorf("parameter %s: %w", name, err))
		}
		out[name] = bound
	}
	for _, name := range sortedKeys(values) {
		if _, ok := declared[name]; !ok {
			faults = append(faults, fmt.Errorf("parameter %s: is not declared", clip(name)))
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return out, nil
}

func bindParam(t ParamType, value any) (any, error) {
	switch t {
	case ParamInt:
		return paramInt(value)
	case ParamString:
		return paramString(value)
	case ParamBool:
		if b, ok := value.(bool); ok {
			return b, nil
		}
	case ParamStrings:
		return paramStrings(value)
	default:
		return nil, fmt.Errorf("type %q does not exist: want int, string, bool or strings", clip(string(t)))
	}
	return nil, fmt.Errorf("want %s, have %s", t, describeValue(value))
}

func paramInt(value any) (any, error) {
	switch v := value.(type) {
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case int64:
		return v, nil
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v), nil
		}
	case float64: // how encoding/json reads numbers; whole and exact ones only
		if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
			return int64(v), nil
		}
	case interface{ Int64() (int64, error) }: // json.Number
		if i, err := v.Int64(); err == nil {
			return i, nil
		}
	}
	return nil, fmt.Errorf("want int, have %s", describeValue(value))
}

func paramString(value any) (string, error) {
	s, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("want string, have %s", describeValue(value))
	}
	if f := checkString(s, "value"); f != nil {
		return "", errors.New(f.text)
	}
	return s, nil
}

func paramStrings(value any) (any, error) {
	var items []any
	switch v := value.(type) {
	case []string:
		for _, s := range v {
			items = append(items, s)
		}
	case []any:
		items = v
	default:
		return nil, fmt.Errorf("want strings, have %s", describeValue(value))
	}
	if len(items) > 64 {
		return nil, fmt.Errorf("%d strings, at most 64 are allowed", len(items))
	}
	out := make([]string, len(items))
	for i, item := range items {
		s, err := paramString(item)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		out[i] = s
	}
	return out, nil
}

func describeValue(value any) string {
	switch v := value.(type) {
	case nil:
		return "nothing"
	case string:
		return "the text " + strconv.Quote(clip(v))
	}
	return fmt.Sprintf("%T %s", value, clip(fmt.Sprint(value)))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
