package podspec_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler sets every field of a value, down to the last pointer, to something that is not its zero value and differs from
// field to field. What choose says of a number decides lengths, so that a fuzzer can vary them.
type filler struct {
	next   int
	choose func(limit int) int
}

func filled[T any](choose func(limit int) int) *T {
	value := new(T)
	(&filler{choose: choose}).fill(reflect.ValueOf(value).Elem(), 0)
	return value
}

func (f *filler) word() string {
	f.next++
	return fmt.Sprintf("w%d", f.next)
}

func (f *filler) fill(v reflect.Value, depth int) {
	switch target := v.Addr().Interface().(type) {
	case *resource.Quantity:
		f.next++
		*target = *resource.NewQuantity(int64(f.next), resource.DecimalSI)
		return
	case *metav1.Time:
		f.next++
		*target = metav1.NewTime(time.Unix(int64(f.next), 0).UTC())
		return
	case *intstr.IntOrString:
		*target = intstr.FromString(f.word())
		return
	case *metav1.FieldsV1:
		target.SetRawString(`{"f:spec":{}}`)
		return
	}
	f.kind(v, depth)
}

func (f *filler) kind(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.word())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		f.next++
		v.SetInt(int64(f.next))
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+f.choose(2), 4))
		for i := range v.Len() {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + f.choose(2) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth+1)
			f.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			f.fill(field, depth+1)
		}
	default:
		panic(fmt.Sprintf("the filler does not know %s", v.Type()))
	}
}

// TestFillerLeavesNothingEmpty guards the preservation tests: an empty field would prove nothing.
func TestFillerLeavesNothingEmpty(t *testing.T) {
	pod := filled[corev1.Pod](func(int) int { return 0 })
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if v.IsZero() {
			t.Errorf("%s is empty", path)
			return
		}
		switch v.Kind() {
		case reflect.Pointer:
			walk(path, v.Elem())
		case reflect.Struct:
			if v.Type().PkgPath() != "k8s.io/api/core/v1" {
				return
			}
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
			}
		}
	}
	walk("pod", reflect.ValueOf(*pod))
}

// differencesOf are the paths at which the JSON of two values differs, sorted.
func differencesOf(before, after any) ([]string, error) {
	one, err := generic(before)
	if err != nil {
		return nil, err
	}
	two, err := generic(after)
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	compare("", one, two, paths)
	return slices.Sorted(maps.Keys(paths)), nil
}

func generic(value any) (tree any, err error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, &tree)
	return tree, err
}

func compare(path string, a, b any, found map[string]bool) {
	switch left := a.(type) {
	case map[string]any:
		right, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(left)
		maps.Copy(keys, right)
		for key := range keys {
			one, in := left[key]
			two, also := right[key]
			if !in || !also {
				leaves(path+"/"+key, one, two, found)
				continue
			}
			compare(path+"/"+key, one, two, found)
		}
		return
	case []any:
		right, ok := b.([]any)
		if !ok || len(left) != len(right) {
			break
		}
		for i := range left {
			compare(fmt.Sprintf("%s/%d", path, i), left[i], right[i], found)
		}
		return
	}
	if !reflect.DeepEqual(a, b) {
		found[path] = true
	}
}

// leaves names what is in a tree that only one side has.
func leaves(path string, one, two any, found map[string]bool) {
	tree := one
	if tree == nil {
		tree = two
	}
	if branches, ok := tree.(map[string]any); ok && len(branches) > 0 {
		for key, branch := range branches {
			leaves(path+"/"+key, branch, nil, found)
		}
		return
	}
	found[strings.TrimSuffix(path, "/")] = true
}
