package v1alpha1

import "embed"

// CRDs are the CustomResourceDefinitions of this package, generated, one YAML
// file each in the folder crds. Package budget/install gives them as objects
// and installs them.
//
//go:embed crds/*.yaml
var CRDs embed.FS
