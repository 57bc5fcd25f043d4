package cel

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bursar-dev/bursar/internal/strictyaml"
	"github.com/bursar-dev/bursar/policy"
)

// Load reads and compiles a policy file. The file's name is used in errors,
// and without its extension as the name of a policy that has none. The error is
// policy.LoadErrors: every fault with its place in the file.
func Load(file string, source []byte, o Options) (*Hook, error) {
	if len(source) > maxSource {
		return nil, policy.LoadErrors{{File: file, Text: fmt.Sprintf("has %d bytes, at most %d are allowed", len(source), maxSource)}}
	}
	var p Policy
	doc, err := strictyaml.Decode(file, source, &p)
	if err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	return compile(p, o, doc.Within)
}

// LoadFS loads every *.yaml and *.yml file in the root of a file system, in
// order of their names. The parameters are by policy name. No file at all is an
// error, and so are parameters for a policy that is not there.
func LoadFS(fsys fs.FS, params map[string]map[string]any) ([]*Hook, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	var hooks []*Hook
	var faults []error
	used := map[string]bool{}
	for _, e := range entries {
		if ext := path.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		source, err := fs.ReadFile(fsys, e.Name())
		if err != nil {
			faults = append(faults, err)
			continue
		}
		name := nameOf(e.Name(), source)
		used[name] = true
		hook, err := Load(e.Name(), source, Options{Params: params[name]})
		if err != nil {
			faults = append(faults, err)
			continue
		}
		hooks = append(hooks, hook)
	}
	for name := range params {
		if !used[name] {
			faults = append(faults, fmt.Errorf("parameters for policy %s: there is no such policy", name))
		}
	}
	if len(hooks) == 0 && len(faults) == 0 {
		faults = append(faults, errors.New("no policy file (*.yaml, *.yml)"))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return hooks, nil
}

// nameOf is the name that a file's policy will have.
func nameOf(file string, source []byte) string {
	var p Policy
	if _, err := strictyaml.Decode(file, source, &p); err == nil && p.Name != "" {
		return p.Name
	}
	return strings.TrimSuffix(path.Base(file), path.Ext(file))
}
