package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// CacheObjects are the settings for the manager's cache that keep records and
// holds small in memory: put them into cache.Options.ByObject. They are a matter
// of memory alone; everything works without.
//
// With them, ctrl.NewManager itself asks about bursar's types. So they have to be
// in the manager's scheme before it is called, and their resource definitions in
// the API server; else it says "failed to determine if *v1alpha1.TaskRecord is
// namespaced".
func CacheObjects() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&budgetv1alpha1.TaskRecord{}: {Transform: Strip()},
		&budgetv1alpha1.TaskHold{}:   {Transform: Strip()},
	}
}

// Strip is a cache transform that takes out of records and holds what nobody
// reads from the cache: managed fields, annotations but the one by which the
// replicas tell admissions apart, the labels that repeat the
// snapshot, and the problems that a record explains itself with. It leaves every
// other object as it is.
func Strip() toolscache.TransformFunc {
	return func(obj any) (any, error) {
		switch o := obj.(type) {
		case *budgetv1alpha1.TaskRecord:
			stripMeta(&o.ObjectMeta)
			o.Spec.Problems = nil
		case *budgetv1alpha1.TaskHold:
			stripMeta(&o.ObjectMeta)
		}
		return obj, nil
	}
}

func stripMeta(m *metav1.ObjectMeta) {
	place, ok := m.Annotations[placeAnnotation]
	m.ManagedFields, m.Annotations, m.Labels, m.OwnerReferences, m.Finalizers = nil, nil, nil, nil, nil
	if ok {
		m.Annotations = map[string]string{placeAnnotation: place}
	}
}
