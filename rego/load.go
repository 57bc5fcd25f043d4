package rego

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bursar-dev/bursar/policy"
)

// Bounds on what is loaded at once.
const (
	maxSource = 256 << 10 // bytes of all modules together
	maxRules  = 500
)

// DefaultSteps bounds one evaluation of one policy. A step is one expression
// that is evaluated, or one turn of a built-in that loops: 50 000 take about
// 15 ms.
const DefaultSteps = 50_000

// Options of loading.
type Options struct {
	// Params are values for declared parameters, by policy name.
	Params map[string]map[string]any
	// Steps of one evaluation; 0 means DefaultSteps.
	Steps int
	// SHA256 pins what is loaded: the policy.Digest of the modules by file
	// name, without tests. Empty accepts everything.
	SHA256 string
}

// Load reads every *.rego file of a file system, but for *_test.rego, and
// compiles them together. It returns one hook for each package that defines a
// set, sorted by name; a hook is named after its package without "bursar",
// joined by "-". The error is policy.LoadErrors: every fault with its place.
func Load(fsys fs.FS, o Options) ([]*Hook, error) {
	sources := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || path.Ext(file) != ".rego" || strings.HasSuffix(file, "_test.rego") {
			return nil
		}
		text, err := fs.ReadFile(fsys, file)
		sources[file] = string(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	return load(sources, o, policy.Samples())
}

// Compile is Load of modules that are given as text, by file name; they must
// make exactly one policy.
func Compile(modules map[string]string, o Options) (*Hook, error) {
	hooks, err := load(modules, o, policy.Samples())
	if err != nil {
		return nil, err
	}
	if len(hooks) != 1 {
		return nil, fmt.Errorf("the modules make %d policies, want 1", len(hooks))
	}
	return hooks[0], nil
}

// Names lists the policies that modules would make, without compiling them.
func Names(modules map[string]string) ([]string, error) {
	parsed, err := parse(modules)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, m := range parsed {
		for _, rule := range m.Rules {
			if set, _ := setOf(rule); set != "" && len(m.Package.Path) > 2 {
				names[hookName(m.Package)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func load(sources map[string]string, o Options, samples []policy.Sample) ([]*Hook, error) {
	if o.Steps < 0 {
		return nil, fmt.Errorf("steps: %d is negative", o.Steps)
	}
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	files := make(map[string][]byte, len(sources))
	for name, text := range sources {
		files[name] = []byte(text)
	}
	if err := policy.CheckDigest(files, o.SHA256); err != nil {
		return nil, err
	}
	modules, err := parse(sources)
	if err != nil {
		return nil, err
	}
	l := &loader{options: o, sources: sources, modules: modules, samples: samples}
	if err := l.addLibrary(); err != nil {
		return nil, err
	}
	if err := l.compile(); err != nil {
		return nil, err
	}
	hooks, err := l.hooks()
	if err != nil {
		return nil, err
	}
	return hooks, nil
}

// parse reads each source by itself. Nothing that is parsed is kept between
// loads: a compile changes it.
func parse(sources map[string]string) (map[string]*ast.Module, error) {
	var faults policy.LoadErrors
	modules := map[string]*ast.Module{}
	size := 0
	for _, file := range slices.Sorted(maps.Keys(sources)) {
		size += len(sources[file])
		if size > maxSource {
			return nil, policy.LoadErrors{{File: file, Text: fmt.Sprintf("the modules together exceed %d bytes", maxSource)}}
		}
		module, err := parseModule(file, sources[file])
		if err != nil {
			faults = append(faults, errorsOf(file, err)...)
			continue
		}
		modules[file] = module
	}
	if len(sources) == 0 {
		faults = append(faults, policy.LoadError{Text: "there is no policy (*.rego)"})
	}
	return modules, faults.Err()
}

func parseModule(file, text string) (*ast.Module, error) {
	module, err := ast.ParseModuleWithOpts(file, text, ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
	if err == nil && module == nil {
		err = errors.New("the file is empty")
	}
	return module, err
}

// errorsOf gives the engine's errors their places.
func errorsOf(file string, err error) policy.LoadErrors {
	var all ast.Errors
	if !errors.As(err, &all) {
		var one *ast.Error
		if !errors.As(err, &one) {
			return policy.LoadErrors{{File: file, Text: err.Error()}}
		}
		all = ast.Errors{one}
	}
	out := make(policy.LoadErrors, len(all))
	for i, e := range all {
		out[i] = at(e.Location, "%s", message(e))
		out[i].Column = max(out[i].Column, 1)
	}
	return out
}

// message is the text of an error with its details on the same line.
func message(e *ast.Error) string {
	text := strings.TrimPrefix(e.Message, e.Code+": ")
	if e.Details != nil {
		for _, line := range e.Details.Lines() {
			if line = strings.TrimSpace(line); line != "" && strings.Trim(line, "^") != "" && !strings.Contains(text, line) {
				text += "; " + line
			}
		}
	}
	return policy.Clean(advised(text))
}

func at(l *ast.Location, format string, args ...any) policy.LoadError {
	e := policy.LoadError{Text: fmt.Sprintf(format, args...)}
	if l != nil {
		e.File, e.Line, e.Column = l.File, l.Row, l.Col
	}
	return e
}
