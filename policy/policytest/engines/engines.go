// Package engines links CEL and Rego for package policytest.
package engines

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
	"github.com/bursar-dev/bursar/policy/policytest"
	"github.com/bursar-dev/bursar/rego"
)

// Loaders reads *.yaml and *.yml as CEL and *.rego as Rego. A YAML file with a
// TaskBudget in it stands for the policies that the budget carries. A path that
// ends in .rego may name a folder, all of whose modules make one policy.
func Loaders() policytest.Loaders {
	return policytest.Loaders{".yaml": loadCEL, ".yml": loadCEL, ".rego": loadRego}
}

func loadCEL(fsys fs.FS, file string, params map[string]any) (policy.Hook, error) {
	source, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	if isBudget(source) {
		return loadBudget(file, source)
	}
	return hook(cel.Load(file, source, cel.Options{Params: params}))
}

func loadRego(fsys fs.FS, file string, params map[string]any) (policy.Hook, error) {
	info, err := fs.Stat(fsys, file)
	if err != nil {
		return nil, err
	}
	sources := map[string]string{}
	err = fs.WalkDir(fsys, file, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || info.IsDir() && !isModule(path) {
			return err
		}
		text, err := fs.ReadFile(fsys, path)
		sources[path] = string(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	options := rego.Options{}
	if len(params) > 0 {
		name, err := policyName(sources)
		if err != nil {
			return nil, err
		}
		options.Params = map[string]map[string]any{name: params}
	}
	return hook(rego.Compile(sources, options))
}

// hook keeps a nil pointer from becoming an interface that is not nil.
func hook[H policy.Hook](h H, err error) (policy.Hook, error) {
	if err != nil {
		return nil, err
	}
	return h, nil
}

// policyName is the name that the modules' policy will have.
func policyName(sources map[string]string) (string, error) {
	names, err := rego.Names(sources)
	if err != nil {
		return "", err
	}
	if len(names) != 1 {
		return "", fmt.Errorf("the modules make %d policies, want 1", len(names))
	}
	return names[0], nil
}

func isModule(path string) bool {
	return strings.HasSuffix(path, ".rego") && !strings.HasSuffix(path, "_test.rego")
}
