package taskcontroller_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

const manifests = "../../../examples/taskcontroller/manifests"

func readManifests(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := cluster.ReadManifests(filepath.Join(manifests, file))
	must(t, err)
	return objects
}

// TestTheProgramNeedsNoMoreThanItsRole runs the program as its README says, as a user who has its role and bursar's.
func TestTheProgramNeedsNoMoreThanItsRole(t *testing.T) {
	t.Parallel()
	namespace := shared.Namespace(t, nil)
	bursar, err := controller.ClusterRole()
	must(t, err)
	own := &rbacv1.ClusterRole{}
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(readManifests(t, "rbac.yaml")[0].Object, own))
	shared.Grant(t, "taskcontroller", bursar, own)
	for _, object := range readManifests(t, "day.yaml") {
		object.SetNamespace(namespace)
		strict := client.WithFieldValidation(shared.Client, "Strict")
		must(t, strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("kubectl")))
	}
	said := shared.Program(t, "taskcontroller", "github.com/bursar-dev/bursar/examples/taskcontroller",
		"-namespace", namespace, "-speed", "3600", "-metrics", "0")
	cluster.Eventually(t, "ten tasks are recorded", func(ctx context.Context) error {
		records := &budgetv1alpha1.TaskRecordList{}
		must(t, shared.Client.List(ctx, records, client.InNamespace(namespace)))
		if len(records.Items) < 10 {
			return fmt.Errorf("%d records; it says\n%s", len(records.Items), said())
		}
		return nil
	})
	if strings.Contains(said(), "forbidden") {
		t.Error("something is forbidden")
	}
}
