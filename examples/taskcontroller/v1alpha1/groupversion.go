package v1alpha1

import (
	"embed"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "example.bursar.dev", Version: "v1alpha1"}

// CRDs are the CustomResourceDefinitions of this package, generated, one YAML file each in the folder crds. install.Read
// gives them as objects.
//
//go:embed crds/*.yaml
var CRDs embed.FS

// AddToScheme makes the types of this package known to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&AgentTask{}, &AgentTaskList{},
		&WorkerPool{}, &WorkerPoolList{},
		&TaskProducer{}, &TaskProducerList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
