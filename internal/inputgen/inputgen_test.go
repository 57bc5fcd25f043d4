package inputgen_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/internal/inputgen"
	"github.com/bursar-dev/bursar/policy"
)

func TestCommittedFilesAreThoseThatTheTableRenders(t *testing.T) {
	files, err := inputgen.Files()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s differs from the table; run go generate ./policy (-want +got):\n%s", path, diff)
		}
	}
}

// shape is what a table row and a struct field must agree about.
type shape struct{ Go, JSON, Type string }

func TestGoStructHasTheShapeOfTheTable(t *testing.T) {
	structs := map[string]reflect.Type{}
	collect(reflect.TypeFor[policy.Input](), structs)
	for _, typ := range inputgen.Table() {
		got := fieldsOf(structs[typ.Name])
		var want []shape
		for _, f := range typ.Fields {
			want = append(want, shape{f.Go, f.Name, typeName(f)})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-table +struct):\n%s", typ.Name, diff)
		}
		delete(structs, typ.Name)
	}
	if len(structs) > 0 {
		t.Errorf("the struct refers to types that the table lacks: %v", structs)
	}
}

func collect(t reflect.Type, into map[string]reflect.Type) {
	switch {
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		collect(t.Elem(), into)
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]():
		into[t.Name()] = t
		for field := range t.Fields() {
			collect(field.Type, into)
		}
	}
}

func fieldsOf(t reflect.Type) []shape {
	if t == nil {
		return nil
	}
	var out []shape
	for f := range t.Fields() {
		out = append(out, shape{f.Name, f.Tag.Get("json"), f.Type.String()})
	}
	return out
}

func typeName(f inputgen.Field) string {
	switch f.Kind {
	case inputgen.String:
		if f.Go == "Operation" {
			return "policy.Operation"
		}
		return "string"
	case inputgen.Int:
		return "int64"
	case inputgen.Bool:
		return "bool"
	case inputgen.Time:
		return "time.Time"
	case inputgen.Object:
		return "policy." + f.Ref
	case inputgen.Objects:
		return "[]policy." + f.Ref
	case inputgen.Strings:
		return "[]string"
	case inputgen.StringMap:
		return "map[string]string"
	default:
		return "map[string]policy." + f.Ref
	}
}
