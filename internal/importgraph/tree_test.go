package importgraph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// A goPackage is what the go command says of one package.
type goPackage struct {
	ImportPath string
	Dir        string
	Standard   bool
	Deps       []string
	// GoFiles, CgoFiles and IgnoredGoFiles together are the sources without tests, whatever the platform.
	GoFiles, CgoFiles, IgnoredGoFiles []string
}

// A tree is the module's packages and everything that they link.
type tree struct {
	packages map[string]goPackage
	own      []goPackage
}

var loaded = sync.OnceValues(load)

func loadTree(t *testing.T) tree {
	t.Helper()
	found, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	if len(found.own) == 0 {
		t.Fatal("the go command lists no package of the module")
	}
	return found
}

func load() (tree, error) {
	cmd := exec.CommandContext(context.Background(), "go", "list", "-deps",
		"-json=ImportPath,Dir,Standard,Deps,GoFiles,CgoFiles,IgnoredGoFiles", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return tree{}, errors.New("go list: " + string(exit.Stderr))
	}
	if err != nil {
		return tree{}, err
	}
	found := tree{packages: map[string]goPackage{}}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return tree{}, err
		}
		found.packages[p.ImportPath] = p
		if p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/") {
			found.own = append(found.own, p)
		}
	}
}

// in gives the packages of an area.
func (t tree) in(dir string) []goPackage {
	var found []goPackage
	for _, p := range t.own {
		if areaOf(relative(p.ImportPath)) == dir {
			found = append(found, p)
		}
	}
	return found
}

// links gives the packages below prefix that p links, directly or not.
func (p goPackage) links(prefix string) []string {
	var found []string
	for _, dep := range p.Deps {
		if within(dep, prefix) {
			found = append(found, dep)
		}
	}
	return found
}
