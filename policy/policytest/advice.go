package policytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bursar-dev/bursar/internal/spelling"
	"github.com/bursar-dev/bursar/policy"
)

// derived says what to set instead of a key that Complete fills: what a case
// sets there would have no effect, and a case that seems to test it would test
// something else. It is empty for other keys.
func derived(key string) string {
	switch key {
	case "version":
		return "leave it out"
	case "nowUnixMs":
		return "set now"
	case "totalTokens":
		return "set inputTokens and outputTokens"
	case "elapsedPermille":
		return "set now, or the period's startUnixMs and endUnixMs"
	case "usedPermille":
		return "set limit and used"
	case "remaining", "committedPermille":
		return "set limit, used and held"
	}
	return ""
}

// advised says what an error of JSON means for the author of a case.
func advised(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: want %s, have a %s", wrong.Field, kindOf(wrong.Type), wrong.Value)
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return errors.New("now: want an instant, as in 2026-03-02T12:00:00Z")
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		name = strings.Trim(name, `"`)
		return fmt.Errorf("the document has no field %q%s", name, spelling.DidYouMean(name, fieldNames()))
	}
	return err
}

// kindOf names a type as it is written in YAML.
func kindOf(t reflect.Type) string {
	kinds := map[reflect.Kind]string{
		reflect.Int64: "a whole number", reflect.String: "text", reflect.Bool: "true or false",
		reflect.Map: "a map", reflect.Struct: "a map", reflect.Slice: "a list",
	}
	return kinds[t.Kind()]
}

// fieldNames lists every key of the document.
func fieldNames() []string {
	names := map[string]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		switch {
		case t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
			visit(t.Elem())
		case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]():
			for field := range t.Fields() {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				names[name] = true
				visit(field.Type)
			}
		}
	}
	visit(reflect.TypeFor[policy.Input]())
	return slices.Sorted(maps.Keys(names))
}
