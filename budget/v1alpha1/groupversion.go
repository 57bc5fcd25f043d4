package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "bursar.dev", Version: "v1alpha1"}

// Resource names a resource of this group, for errors about it.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}

// AddToScheme makes the types of this package known to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&TaskBudget{}, &TaskBudgetList{},
		&TaskRecord{}, &TaskRecordList{},
		&TaskHold{}, &TaskHoldList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
