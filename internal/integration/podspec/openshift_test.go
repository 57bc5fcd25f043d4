package podspec_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/podspec/live"
)

// TestC11_OpenShiftsQuotasAreRead: kinds in the shape of OpenShift's stand in for OpenShift, which is more than one binary.
// They end with the test; until then other tests could see an OpenShift too, so that it does not run beside them.
func TestC11_OpenShiftsQuotasAreRead(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	if o := snapshot(t, namespace).OpenShift; !o.Known || o.Value.Present {
		t.Fatalf("without OpenShift: %+v", o)
	}
	made(t, kind("security.openshift.io", "SecurityContextConstraints", "securitycontextconstraints", apiextensionsv1.ClusterScoped))
	made(t, kind("quota.openshift.io", "AppliedClusterResourceQuota", "appliedclusterresourcequotas", apiextensionsv1.NamespaceScoped))
	quota := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "quota.openshift.io/v1", "kind": "AppliedClusterResourceQuota", "metadata": map[string]any{"name": "team", "namespace": namespace},
		"spec":   map[string]any{"quota": map[string]any{"hard": map[string]any{"requests.cpu": "4"}}},
		"status": map[string]any{"total": map[string]any{"hard": map[string]any{"requests.cpu": "4"}, "used": map[string]any{"requests.cpu": "3500m"}}},
	}}
	// A client of its own, so that the shared one does not remember the kinds.
	fresh, err := client.New(shared.Config, client.Options{Scheme: shared.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the kinds are served", func(ctx context.Context) error { return client.IgnoreAlreadyExists(fresh.Create(ctx, quota)) })
	var s podspec.Snapshot
	cluster.Eventually(t, "the snapshot has the quota", func(ctx context.Context) error {
		if s, err = (live.Reader{Client: fresh}).Read(ctx, namespace); err != nil {
			return err
		}
		if !s.OpenShift.Value.Present || len(s.OpenShift.Value.ClusterQuotas) != 1 {
			return fmt.Errorf("it has %+v", s.OpenShift)
		}
		return nil
	})
	s.PodSecurity = podspec.Known(podspec.PodSecurityDefaults{})
	prediction, err := podspec.Predict(s, newPod(namespace, "bot", amounts("cpu", "1")))
	if err != nil {
		t.Fatal(err)
	}
	refusals := prediction.Refusals()
	if len(refusals) != 1 || refusals[0].Object != "ClusterResourceQuota team" || refusals[0].Have.String() != "3500m" {
		t.Errorf("got %s, %+v", prediction.Verdict, refusals)
	}
	if s.ServerMinor.Known || s.ServerMinor.Reason != "nobody asks for it" {
		t.Errorf("the version is %+v", s.ServerMinor)
	}
	_, err = live.Reader{Client: fresh}.Read(t.Context(), "nowhere")
	if err == nil || !strings.Contains(err.Error(), `"nowhere" not found`) {
		t.Errorf("a namespace that does not exist: %v", err)
	}
	partly, err := client.New(shared.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := (live.Reader{Client: partly}).Read(t.Context(), namespace); err != nil || !s.ResourceQuotas.Known || s.Namespace.Value.Status.Phase != corev1.NamespaceActive {
		t.Errorf("with the usual scheme: %+v, %v", s.Namespace, err)
	}
}

// kind is a definition that takes any content.
func kind(group, name, plural string, scope apiextensionsv1.ResourceScope) *apiextensionsv1.CustomResourceDefinition {
	anything := &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: scope, Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: name, ListKind: name + "List", Plural: plural, Singular: strings.ToLower(name)},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: anything}}},
		},
	}
}
