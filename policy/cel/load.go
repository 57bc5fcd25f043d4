package cel

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
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
	return compile(p, o, doc.Within, policy.Samples())
}

// FolderOptions of loading a folder.
type FolderOptions struct {
	// Params are values for declared parameters, by policy name.
	Params map[string]map[string]any
	// SHA256 pins what is loaded: the policy.Digest of the files. Empty accepts
	// everything.
	SHA256 string
}

// LoadFS loads every *.yaml and *.yml file in the root of a file system, in
// order of their names; files of cases (cases.yaml, *.cases.yaml) are left out.
// No file at all is an error, and so are parameters for a policy that is not
// there.
func LoadFS(fsys fs.FS, o FolderOptions) ([]*Hook, error) {
	files, err := readAll(fsys)
	if err != nil {
		return nil, err
	}
	if err := policy.CheckDigest(files, o.SHA256); err != nil {
		return nil, err
	}
	var hooks []*Hook
	var faults []error
	used := map[string]bool{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		name := nameOf(file, files[file])
		used[name] = true
		hook, err := Load(file, files[file], Options{Params: o.Params[name]})
		if err != nil {
			faults = append(faults, err)
			continue
		}
		hooks = append(hooks, hook)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Params)) {
		if !used[name] {
			faults = append(faults, fmt.Errorf("parameters for policy %s: there is no such policy", name))
		}
	}
	if len(files) == 0 {
		faults = append(faults, errors.New("no policy file (*.yaml, *.yml)"))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return hooks, nil
}

// readAll reads the policy files of a folder.
func readAll(fsys fs.FS) (map[string][]byte, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		ext := path.Ext(e.Name())
		stem := strings.TrimSuffix(e.Name(), ext)
		if e.IsDir() || ext != ".yaml" && ext != ".yml" || stem == "cases" || strings.HasSuffix(stem, ".cases") {
			continue
		}
		if files[e.Name()], err = fs.ReadFile(fsys, e.Name()); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// nameOf is the name that a file's policy will have.
func nameOf(file string, source []byte) string {
	var p Policy
	if _, err := strictyaml.Decode(file, source, &p); err == nil && p.Name != "" {
		return p.Name
	}
	return strings.TrimSuffix(path.Base(file), path.Ext(file))
}
