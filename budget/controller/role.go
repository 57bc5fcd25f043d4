package controller

import (
	_ "embed" // for the role

	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

//go:embed role.yaml
var role []byte

// ClusterRole gives what a host's service account needs for bursar, beside what
// it needs for its own tasks: to read them, and to patch their status.
func ClusterRole() (*rbacv1.ClusterRole, error) {
	parsed := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(role, parsed); err != nil {
		return nil, fmt.Errorf("bursar: the embedded role: %w", err)
	}
	return parsed, nil
}
