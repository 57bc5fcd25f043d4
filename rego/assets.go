package rego

import (
	"bytes"
	"embed"
	"io/fs"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"
)

//go:embed schemas/input.json capabilities.json .regal/config.yaml samples/*.json lib/*.rego
var assets embed.FS

// Assets holds the files for authors' tools: schemas/input.json,
// capabilities.json, .regal/config.yaml, samples/*.json and lib/*.rego.
func Assets() fs.FS { return assets }

// Library holds the helper packages under bursar.lib and their tests. Policies
// that import them need no copy.
func Library() fs.FS {
	sub, err := fs.Sub(assets, "lib")
	if err != nil {
		return assets
	}
	return sub
}

// capabilities reads the allowlist anew, so that no two loads share it.
func capabilities() (*ast.Capabilities, error) {
	text, err := assets.ReadFile("capabilities.json")
	if err != nil {
		return nil, err
	}
	return ast.LoadCapabilitiesJSON(bytes.NewReader(text))
}

// schemas puts the input's schema under the root key: the only place where the
// checker applies it without annotations in the policy.
func schemas() (*ast.SchemaSet, error) {
	text, err := assets.ReadFile("schemas/input.json")
	if err != nil {
		return nil, err
	}
	var schema any
	if err := util.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	set := ast.NewSchemaSet()
	set.Put(ast.SchemaRootRef, schema)
	return set, nil
}
