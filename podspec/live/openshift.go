package live

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/podspec"
)

// OpenShift's kinds.
var (
	constraintKind   = schema.GroupKind{Group: "security.openshift.io", Kind: "SecurityContextConstraints"}
	appliedQuotaKind = schema.GroupVersionKind{Group: "quota.openshift.io", Version: "v1", Kind: "AppliedClusterResourceQuota"}
)

// openShift tells whether the cluster serves OpenShift's kinds, and reads the quotas that span namespaces.
func (r Reader) openShift(ctx context.Context, in client.ListOption) (podspec.OpenShift, error) {
	var o podspec.OpenShift
	mapper := r.Client.RESTMapper()
	switch _, err := mapper.RESTMapping(constraintKind); {
	case err == nil:
		o.Present = true
	case !meta.IsNoMatchError(err):
		return o, err
	}
	switch _, err := mapper.RESTMapping(appliedQuotaKind.GroupKind(), appliedQuotaKind.Version); {
	case meta.IsNoMatchError(err):
		return o, nil
	case err != nil:
		return o, err
	}
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(appliedQuotaKind.GroupVersion().WithKind(appliedQuotaKind.Kind + "List"))
	if err := r.Client.List(ctx, &list, in); err != nil {
		return o, client.IgnoreNotFound(err) // the mapper remembers a kind that has gone
	}
	for i := range list.Items {
		quota, err := appliedQuota(&list.Items[i])
		if err != nil {
			return o, err
		}
		o.ClusterQuotas = append(o.ClusterQuotas, quota)
	}
	return o, nil
}

// appliedQuota brings an AppliedClusterResourceQuota to the shape of a quota: its total over all namespaces decides.
func appliedQuota(object *unstructured.Unstructured) (corev1.ResourceQuota, error) {
	var applied struct {
		Spec struct {
			Quota corev1.ResourceQuotaSpec `json:"quota"`
		} `json:"spec"`
		Status struct {
			Total corev1.ResourceQuotaStatus `json:"total"`
		} `json:"status"`
	}
	text, err := object.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &applied)
	}
	if err != nil {
		return corev1.ResourceQuota{}, fmt.Errorf("AppliedClusterResourceQuota %s: %w", object.GetName(), err)
	}
	return corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: object.GetName()}, Spec: applied.Spec.Quota, Status: applied.Status.Total}, nil
}
