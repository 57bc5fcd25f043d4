package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

// decodeStrict reads JSON into a new T. Unknown and repeated fields are faults,
// as they are to an API server, and every fault names its field. They come
// without file and line, which only the caller knows.
func decodeStrict[T any](data []byte) (T, []fault) {
	var into T
	strict, err := kjson.UnmarshalStrict(data, &into)
	if err != nil {
		return into, []fault{locate[T](data, err)}
	}
	var faults []fault
	for _, err := range strict {
		f := fault{reason: err.Error()}
		if field, ok := errors.AsType[kjson.FieldError](err); ok {
			f.field = field.FieldPath()
			f.reason, _, _ = strings.Cut(f.reason, ` "`) // `unknown field "spec.maxCost"`
		}
		faults = append(faults, f)
	}
	return into, faults
}

// locate finds the field that can't be read. Types that read themselves, such
// as quantities and times, report a fault without its place, so each value is
// read once more on its own: the first that fails is the culprit.
func locate[T any](data []byte, err error) fault {
	if isSyntax, offset := kjson.SyntaxErrorOffset(err); isSyntax {
		return fault{reason: fmt.Sprintf("column %d: %s", offset, plain(err))}
	}
	var tree any
	if json.Unmarshal(data, &tree) != nil {
		return fault{reason: plain(err)}
	}
	found := fault{reason: plain(err)}
	eachLeaf("", tree, func(v any) any { return v }, func(path string, alone any) bool {
		text, err := json.Marshal(alone)
		if err != nil {
			return true
		}
		var into T
		if _, err := kjson.UnmarshalStrict(text, &into); err != nil {
			found = fault{field: path, reason: plain(err)}
			return false
		}
		return true
	})
	return found
}

// eachLeaf visits the values of a JSON tree, each as a tree in which nothing
// else is, until visit returns false.
func eachLeaf(path string, value any, wrap func(any) any, visit func(path string, alone any) bool) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inside := func(leaf any) any { return wrap(map[string]any{key: leaf}) }
			if !eachLeaf(strings.TrimPrefix(path+"."+key, "."), v[key], inside, visit) {
				return false
			}
		}
		if len(v) > 0 {
			return true
		}
	case []any:
		inside := func(leaf any) any { return wrap([]any{leaf}) }
		for i, element := range v {
			if !eachLeaf(fmt.Sprintf("%s[%d]", path, i), element, inside, visit) {
				return false
			}
		}
		if len(v) > 0 {
			return true
		}
	}
	return visit(path, wrap(value))
}

// plain says what is wrong without the name of a Go type.
func plain(err error) string {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("want %s, not %s", kindOf(mismatch.Type), mismatch.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.Int64, reflect.Int32:
		return "a whole number"
	default:
		return "a " + t.Kind().String()
	}
}
