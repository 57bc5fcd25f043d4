package rego_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/bursar-dev/bursar/internal/capsgen"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/rego"
)

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := fs.ReadFile(rego.Assets(), file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The library's own tests run as `opa test -s schemas/input.json
// --capabilities capabilities.json lib` would run them.
func TestTheLibraryPassesItsTests(t *testing.T) {
	modules := map[string]*ast.Module{}
	files, err := fs.Glob(rego.Assets(), "lib/*.rego")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		m, err := ast.ParseModuleWithOpts(file, string(read(t, file)), ast.ParserOptions{ProcessAnnotation: true})
		if err != nil {
			t.Fatal(err)
		}
		modules[file] = m
	}
	store := inmem.New()
	results, err := tester.NewRunner().SetCompiler(strictCompiler(t)).SetStore(store).SetModules(modules).
		RaiseBuiltinErrors(true).RunTests(t.Context(), newTxn(t, store))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r := range results {
		n++
		if !r.Pass() {
			t.Errorf("%s: %v", r.Name, r.Error)
		}
	}
	if n < 7 {
		t.Errorf("only %d tests ran", n)
	}
}

func newTxn(t *testing.T, store storage.Store) storage.Transaction {
	t.Helper()
	txn, err := store.NewTransaction(context.Background(), storage.TransactionParams{})
	if err != nil {
		t.Fatal(err)
	}
	return txn
}

// strictCompiler is set up from the files that are shipped for authors' tools.
func strictCompiler(t *testing.T) *ast.Compiler {
	t.Helper()
	caps, err := ast.LoadCapabilitiesJSON(bytes.NewReader(read(t, "capabilities.json")))
	if err != nil {
		t.Fatal(err)
	}
	if caps.AllowNet == nil {
		t.Error("capabilities.json has no allow_net, which allows every host")
	}
	var schema any
	if err := util.Unmarshal(read(t, "schemas/input.json"), &schema); err != nil {
		t.Fatal(err)
	}
	set := ast.NewSchemaSet()
	set.Put(ast.SchemaRootRef, schema)
	return ast.NewCompiler().WithCapabilities(caps).WithSchemas(set).WithUseTypeCheckAnnotations(true).WithStrict(true)
}

func TestCapabilitiesAreThoseOfTheList(t *testing.T) {
	want, err := capsgen.File()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(read(t, "capabilities.json"))); diff != "" {
		t.Errorf("run go generate ./rego (-want +got):\n%s", diff)
	}
	for _, name := range capsgen.Allowed() {
		for _, b := range ast.Builtins {
			if b.Name == name && b.Nondeterministic {
				t.Errorf("%s is not deterministic", name)
			}
		}
	}
}

func TestSamplesAreValidInputs(t *testing.T) {
	files, err := fs.Glob(rego.Assets(), "samples/*.json")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(path.Base(file), func(t *testing.T) {
			decoder := json.NewDecoder(bytes.NewReader(read(t, file)))
			decoder.DisallowUnknownFields()
			var in policy.Input
			if err := decoder.Decode(&in); err != nil {
				t.Fatal(err)
			}
			if err := in.Check(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(in, in.Complete()); diff != "" {
				t.Errorf("is not complete (-have +complete):\n%s", diff)
			}
		})
	}
}

// The document that the engine builds by hand must be the document that the
// struct's JSON is.
func TestTheInputIsTheStructsJSON(t *testing.T) {
	in := base()
	in.Facts = map[string]string{"region": "eu"}
	in.Budgets[0].Meters = map[string]policy.Measure{"gpu-seconds": policy.Limited(100, 600, 1)}
	in = in.Complete()
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	h := compile(t, deny("false"))
	want, err := ast.ValueFromReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := rego.InputOf(h, &in); got.Compare(want) != 0 {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
