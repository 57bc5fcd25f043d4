package rego

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	oparego "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/bursar-dev/bursar/policy"
)

// engineVersion is part of a revision: an engine that evaluates otherwise
// makes another policy.
const engineVersion = "opa v1.22.3"

// setNames are the sets that a policy may define.
var setNames = []string{"deny", "warn", "hold", "cap", "label"}

// loader compiles the modules of one load.
type loader struct {
	options  Options
	sources  map[string]string
	modules  map[string]*ast.Module
	document *document
	written  []*ast.Module // with their imports resolved, and no more
	samples  []policy.Sample
	compiler *ast.Compiler
	entries  []*entry
}

// entry is a package that defines at least one set.
type entry struct {
	name     string
	pkg      *ast.Package
	sets     []string
	declared map[string]policy.Param
	params   map[string]any
}

// addLibrary adds the helper packages that the modules refer to.
func (l *loader) addLibrary() error {
	wanted := false
	for _, text := range l.sources {
		wanted = wanted || strings.Contains(text, "bursar.lib")
	}
	if !wanted {
		return nil
	}
	files, err := fs.Glob(Library(), "*.rego")
	if err != nil {
		return err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.rego") {
			continue
		}
		text, err := fs.ReadFile(Library(), file)
		if err != nil {
			return err
		}
		module, err := parseModule("bursar/lib/"+file, string(text))
		if err != nil {
			return err
		}
		if !l.defines(module.Package) {
			l.modules["bursar/lib/"+file] = module
		}
	}
	return nil
}

// defines says that a module of the author's own has the package: a copy of
// the library in the folder wins over the one that is built in.
func (l *loader) defines(pkg *ast.Package) bool {
	for _, m := range l.modules {
		if m.Package.Path.Equal(pkg.Path) {
			return true
		}
	}
	return false
}

// compile checks everything and finds the entries.
func (l *loader) compile() error {
	if faults := l.checkParsed(); len(faults) > 0 {
		return faults
	}
	caps, err := capabilities()
	if err != nil {
		return err
	}
	schema, err := schemas()
	if err != nil {
		return err
	}
	if l.document, err = readDocument(); err != nil {
		return err
	}
	l.compiler = ast.NewCompiler().WithCapabilities(caps).WithSchemas(schema).WithUseTypeCheckAnnotations(true).WithStrict(true).
		WithStageAfterID(ast.StageResolveRefs, ast.CompilerStageDefinition{Name: "KeepWritten", MetricName: "keep_written", Stage: l.keepWritten}).
		WithStageAfterID(ast.StageCheckRecursion, ast.CompilerStageDefinition{Name: "CheckGrowth", MetricName: "check_growth", Stage: checkGrowth})
	l.compiler.Compile(l.modules)
	if l.compiler.Failed() {
		return errorsOf("", l.compiler.Errors)
	}
	if faults := l.checkCompiled(); len(faults) > 0 {
		return faults
	}
	meterCalls(l.compiler.Modules)
	return nil
}

// hooks prepares one query for each entry.
func (l *loader) hooks() ([]*Hook, error) {
	cache := newTermCache()
	hooks := make([]*Hook, 0, len(l.entries))
	for _, e := range l.entries {
		h, err := l.hook(e, cache)
		if err != nil {
			return nil, err
		}
		hooks = append(hooks, h)
	}
	slices.SortFunc(hooks, func(a, b *Hook) int { return strings.Compare(a.name, b.name) })
	return hooks, try(hooks, l.samples).Err()
}

// hook prepares one query for all sets of an entry, on a store of its own that
// nothing writes to, under one read transaction that is never closed.
func (l *loader) hook(e *entry, cache *termCache) (*Hook, error) {
	ctx := context.Background()
	store := inmem.NewFromObjectWithOpts(map[string]any{"params": plain(e.params)}, inmem.OptReturnASTValuesOnRead(true))
	txn, err := store.NewTransaction(ctx, storage.TransactionParams{})
	if err != nil {
		return nil, err
	}
	options := []func(*oparego.Rego){
		oparego.Compiler(l.compiler), oparego.Store(store), oparego.Transaction(txn), oparego.ParsedQuery(e.query()),
		oparego.StrictBuiltinErrors(true), oparego.GenerateJSON(func(t *ast.Term, _ *oparego.EvalContext) (any, error) { return t, nil }),
	}
	query, err := oparego.New(append(options, meters()...)...).PrepareForEval(ctx)
	if err != nil {
		return nil, fmt.Errorf("policy %s: prepare: %w", e.name, err)
	}
	return &Hook{
		name: e.name, revision: l.revision(e), sets: e.sets, steps: l.options.Steps,
		query: query, cache: cache, rules: l.ruleSources(e),
		options: []oparego.EvalOption{oparego.EvalTransaction(txn), oparego.EvalMetrics(metrics.NoOp())},
	}, nil
}

// query is one array of the entry's sets.
func (e *entry) query() ast.Body {
	terms := make([]*ast.Term, len(e.sets))
	for i, name := range e.sets {
		terms[i] = ast.NewTerm(e.pkg.Path.Append(ast.StringTerm(name)))
	}
	return ast.NewBody(ast.NewExpr(ast.ArrayTerm(terms...)))
}

// plain turns bound parameters into what a store holds.
func plain(params map[string]any) map[string]any {
	out := make(map[string]any, len(params))
	for name, value := range params {
		switch v := value.(type) {
		case int64:
			out[name] = json.Number(strconv.FormatInt(v, 10))
		case []string:
			items := make([]any, len(v))
			for i, s := range v {
				items[i] = s
			}
			out[name] = items
		default:
			out[name] = v
		}
	}
	return out
}

// revision hashes what decides the answers: all modules of the load, the
// parameters, the bounds and the engine.
func (l *loader) revision(e *entry) string {
	h := sha256.New()
	h.Write(fmt.Appendf(nil, "%s %s %s %d\n", engineVersion, policy.Version, e.name, l.options.Steps))
	for _, file := range slices.Sorted(maps.Keys(l.modules)) {
		h.Write(fmt.Appendf(nil, "%q %q\n", file, l.sources[file]))
	}
	for _, name := range slices.Sorted(maps.Keys(e.params)) {
		h.Write(fmt.Appendf(nil, "%q %#v\n", name, e.params[name]))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
