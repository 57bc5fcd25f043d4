package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	kjson "sigs.k8s.io/json"

	"github.com/bursar-dev/bursar/usage"
)

// decodeStrict reads JSON into a new T. Unknown and repeated fields are faults,
// as they are to an API server, and every fault names its field. They come
// without file and line, which only the caller knows. What can't be read is left
// out of the T; the rest of it is there.
func decodeStrict[T any](data []byte) (T, []fault) {
	var into T
	strict, err := kjson.UnmarshalStrict(data, &into)
	var faults []fault
	if err != nil {
		faults = locate[T](data, err)
		into, strict = salvage[T](data, faults)
	}
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

// salvage reads JSON without the fields that can't be read; where that is not
// enough, as for a list in the place of an object, without what they are in.
func salvage[T any](data []byte, faults []fault) (into T, strict []error) {
	var tree any
	if json.Unmarshal(data, &tree) != nil {
		return into, nil
	}
	bad := map[string]bool{}
	for _, f := range faults {
		bad[f.field] = true
	}
	for !bad[""] {
		text, err := json.Marshal(without(bad, "", tree))
		if err != nil {
			break
		}
		var read T
		if strict, err = kjson.UnmarshalStrict(text, &read); err == nil {
			return read, strict
		}
		around := map[string]bool{}
		for path := range bad {
			around[path[:max(0, strings.LastIndexAny(path, ".["))]] = true
		}
		bad = around
	}
	return into, nil
}

// without is a JSON tree without the fields at some paths. In a list they are
// null, so that the others keep their places.
func without(bad map[string]bool, path string, value any) any {
	if bad[path] {
		return nil
	}
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key := range v {
			if field := inside(path, key); !bad[field] {
				kept[key] = without(bad, field, v[key])
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i := range v {
			kept[i] = without(bad, fmt.Sprintf("%s[%d]", path, i), v[i])
		}
		return kept
	default:
		return value
	}
}

// inside is the path of a key of the object at a path.
func inside(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// alongside adds to the faults of decoding what else is wrong, but for what may
// be there only because of them: what can't be read is missing, and what it is
// missing in is not whole.
func alongside(decoding, more []fault) []fault {
	all := slices.Clone(decoding)
	for _, f := range more {
		follows := slices.ContainsFunc(decoding, func(cause fault) bool {
			return within(f.field, cause.field) || within(cause.field, f.field)
		})
		if !follows {
			all = append(all, f)
		}
	}
	return all
}

// within reports whether a path is another one, or leads on from it.
func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || outer == "" || rest[0] == '.' || rest[0] == '[')
}

// locate finds the fields that can't be read. Types that read themselves, such
// as quantities and times, report a fault without its place, so each value is
// read once more on its own: those that fail are the culprits.
func locate[T any](data []byte, err error) []fault {
	if isSyntax, offset := kjson.SyntaxErrorOffset(err); isSyntax {
		return []fault{{reason: fmt.Sprintf("column %d: %s", offset, plain(err, nil))}}
	}
	var tree any
	if json.Unmarshal(data, &tree) != nil {
		return []fault{{reason: plain(err, nil)}}
	}
	var found []fault
	eachLeaf("", tree, func(v any) any { return v }, func(path string, leaf, alone any) {
		text, err := json.Marshal(alone)
		if err != nil {
			return
		}
		var into T
		if _, err := kjson.UnmarshalStrict(text, &into); err != nil {
			found = append(found, fault{field: path, reason: plain(err, leaf)})
		}
	})
	if len(found) == 0 {
		return []fault{{reason: plain(err, nil)}}
	}
	return found
}

// eachLeaf visits the values of a JSON tree, each by itself and as a tree in
// which nothing else is.
func eachLeaf(path string, value any, wrap func(any) any, visit func(path string, leaf, alone any)) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			embed := func(leaf any) any { return wrap(map[string]any{key: leaf}) }
			eachLeaf(inside(path, key), v[key], embed, visit)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		embed := func(leaf any) any { return wrap([]any{leaf}) }
		for i, element := range v {
			eachLeaf(fmt.Sprintf("%s[%d]", path, i), element, embed, visit)
		}
		if len(v) > 0 {
			return
		}
	}
	visit(path, value, wrap(value))
}

// plain says what is wrong with a value without the name of a Go type.
func plain(err error, value any) string {
	text, isText := value.(string)
	_, isTime := errors.AsType[*time.ParseError](err)
	switch {
	case isText && isTime:
		return fmt.Sprintf("%s is no time: write it in full, such as 2026-01-31T09:00:00Z", usage.Quote(text))
	case isText && strings.Contains(err.Error(), "quantities must match"):
		return fmt.Sprintf("%s is no quantity: write a plain decimal, such as 45 or 0.25", usage.Quote(text))
	}
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
