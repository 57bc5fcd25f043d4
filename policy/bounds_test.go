package policy_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursar-dev/bursar/policy"
)

// whole is an input in which no list and no map is empty, so that a walk over
// it meets every kind of field.
func whole() *policy.Input {
	in := base()
	in.Actor.Groups = []string{"ops"}
	in.Task.Annotations = map[string]string{"a": "b"}
	in.Facts = map[string]string{"a": "b"}
	in.Budgets[0].Meters = map[string]policy.Measure{"gpu": policy.Limited(2, 1, 0)}
	in = in.Complete()
	return in.Clone()
}

// visitLeaves calls visit for each of them, with a function that replaces it.
func visitLeaves(v reflect.Value, path string, visit func(path string, v reflect.Value, set func(any))) {
	join := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			visitLeaves(v.Field(i), join(name), visit)
		}
	case v.Type() == reflect.TypeFor[[]policy.Budget]():
		for i := range v.Len() {
			visitLeaves(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case v.Type() == reflect.TypeFor[map[string]policy.Measure]():
		visit(path, v, func(x any) { v.Set(reflect.ValueOf(x)) })
		for _, key := range v.MapKeys() {
			member := reflect.New(v.Type().Elem()).Elem()
			member.Set(v.MapIndex(key))
			visitLeaves(member, fmt.Sprintf("%s[%q]", path, key), func(path string, leaf reflect.Value, set func(any)) {
				visit(path, leaf, func(x any) {
					set(x)
					v.SetMapIndex(key, member)
				})
			})
		}
	default:
		visit(path, v, func(x any) { v.Set(reflect.ValueOf(x).Convert(v.Type())) })
	}
}

// abuses are the ways to spoil a field, by its type, with the text that refuses it.
func abuses(path string, kind reflect.Type) map[string]any {
	long := strings.Repeat("x", policy.MaxString+1)
	tooLong := ": has 1025 bytes, at most 1024 are allowed"
	switch {
	case kind.Kind() == reflect.String:
		return map[string]any{path + tooLong: long, path + ": is not valid UTF-8": "\xff"}
	case kind.Kind() == reflect.Int64:
		return map[string]any{path + ": is -1, and may not be negative": int64(-1)}
	case kind == reflect.TypeFor[map[string]string]():
		return map[string]any{
			path + `["k"]` + tooLong: map[string]string{"k": long}, path + `["k"]: is not valid UTF-8`: map[string]string{"k": "\xff"},
			path + ": a key is not valid UTF-8":               map[string]string{"\xff": ""},
			path + ": has 65 members, at most 64 are allowed": members[string](65),
		}
	case kind == reflect.TypeFor[map[string]policy.Measure]():
		return map[string]any{
			path + ": is not valid UTF-8":                     map[string]policy.Measure{"\xff": {}},
			path + ": has 33 members, at most 32 are allowed": members[policy.Measure](33),
		}
	case kind == reflect.TypeFor[[]string]():
		return map[string]any{path + "[0]" + tooLong: []string{long}, path + ": has 65 members, at most 64 are allowed": make([]string, 65)}
	}
	return nil
}

func members[V any](n int) map[string]V {
	m := map[string]V{}
	for i := range n {
		m[strconv.Itoa(i)] = *new(V)
	}
	return m
}

// Every field of the document, whoever adds one, is bounded: a text that is too
// long or no text, a negative number, too many members are refused by name.
func TestEveryFieldIsBounded(t *testing.T) {
	mayBeNegative := []string{"nowUnixMs", "startUnixMs", "endUnixMs"} // instants
	var paths []string
	visitLeaves(reflect.ValueOf(whole()).Elem(), "", func(path string, _ reflect.Value, _ func(any)) { paths = append(paths, path) })
	if len(paths) < 60 || !slices.Contains(paths, `budgets[0].meters["gpu"].held`) {
		t.Fatalf("the walk missed fields: %q", paths)
	}
	for _, path := range paths {
		if slices.Contains(mayBeNegative, path[strings.LastIndexByte(path, '.')+1:]) {
			continue
		}
		for want, value := range abusesOf(path) {
			in := whole()
			visitLeaves(reflect.ValueOf(in).Elem(), "", func(p string, _ reflect.Value, set func(any)) {
				if p == path {
					set(value)
				}
			})
			refused(t, in, want)
		}
	}
}

// abusesOf finds the type of a field by its path.
func abusesOf(path string) map[string]any {
	var out map[string]any
	visitLeaves(reflect.ValueOf(whole()).Elem(), "", func(p string, v reflect.Value, _ func(any)) {
		if p == path {
			out = abuses(path, v.Type())
		}
	})
	return out
}

func refused(t *testing.T, in *policy.Input, want string) {
	t.Helper()
	code := policy.CodeInvalidInput
	if strings.Contains(want, "at most") {
		code = policy.CodeInputTooLarge
	}
	f, ok := errors.AsType[*policy.Fault](in.Check())
	if !ok || f.Code != code || f.Error() != "input "+want {
		t.Errorf("got %v, want %s: input %s", f, code, want)
	}
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := set.Evaluate(t.Context(), in); err != nil || v.Outcome != policy.Deny || v.Reasons[0].Code != code {
		t.Errorf("%s: the set said %+v, %v", want, v, err)
	}
}
