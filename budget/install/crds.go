package install

import (
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// CRDs gives the CustomResourceDefinitions of TaskBudget, TaskHold and
// TaskRecord, in the order of their names. The objects are the caller's. An error
// means that this program was built from broken files.
func CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return Read(budgetv1alpha1.CRDs, "crds/*.yaml")
}

// Read gives the CustomResourceDefinitions in the files of fsys that match the
// pattern, one in each file, in the order of their paths. What is no CRD, or has
// a field that CRDs do not have, is an error, and so is a pattern that matches
// nothing.
func Read(fsys fs.FS, pattern string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, fmt.Errorf("CRD files %s: %w", pattern, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no CRD file matches %s", pattern)
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(files))
	for _, file := range files {
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if crd.APIVersion != apiVersion || crd.Kind != kind || crd.Name == "" {
			return nil, fmt.Errorf("%s: no %s %s with a name, but %s %s %q", file, apiVersion, kind, crd.APIVersion, crd.Kind, crd.Name)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}
