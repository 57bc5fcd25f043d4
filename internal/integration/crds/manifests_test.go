package crds_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/budget/webhook"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

const manifests = "../../../examples/manifests"

// readManifests gives the objects of the files that match.
func readManifests(t *testing.T, pattern string) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(manifests, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
			object := &unstructured.Unstructured{}
			if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if len(object.Object) > 0 {
				objects = append(objects, object)
			}
		}
	}
	return objects
}

// apply is kubectl apply --server-side, where a namespace is the default one if none is said.
func apply(t *testing.T, object *unstructured.Unstructured, namespace string, options ...client.ApplyOption) error {
	t.Helper()
	object = object.DeepCopy()
	mapping, err := shared.Client.RESTMapper().RESTMapping(object.GroupVersionKind().GroupKind())
	if err != nil {
		t.Fatal(err)
	}
	if mapping.Scope.Name() == "namespace" && object.GetNamespace() == "" {
		object.SetNamespace(namespace)
	}
	strict := client.WithFieldValidation(shared.Client, metav1.FieldValidationStrict)
	return strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), append(options, client.FieldOwner("kubectl"))...)
}

func TestManifestsApplyCleanly(t *testing.T) {
	budgets := 0
	for _, object := range readManifests(t, "*.yaml") {
		name := object.GetKind() + " " + object.GetName()
		if err := apply(t, object, "default", client.DryRunAll); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if object.GetKind() != "TaskBudget" {
			continue
		}
		budgets++
		tb := &budgetv1alpha1.TaskBudget{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, tb); err != nil {
			t.Fatal(err)
		}
		tb.Namespace = "agents" // as kubectl apply -n names it
		rule, faults := budget.Compile(tb)
		if len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
		if warnings := webhook.Warnings(tb, rule, time.Now()); len(warnings) > 0 {
			t.Errorf("%s: %q", name, warnings)
		}
	}
	if budgets == 0 {
		t.Error("there is no budget among the manifests")
	}
}

// as gives a client of another user.
func as(t *testing.T, user string) client.Client {
	t.Helper()
	config := rest.CopyConfig(shared.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	c, err := client.New(config, client.Options{Scheme: shared.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bind gives a user a cluster role in a namespace.
func bind(t *testing.T, user, role, namespace string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "test-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}},
	}
	if err := shared.Client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}

func newRole(t *testing.T, group string, verbs []string, resources ...string) string {
	t.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: resources, Verbs: verbs}},
	}
	if err := shared.Client.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	return role.Name
}

// applyAll applies manifests for good.
func applyAll(t *testing.T, pattern string) {
	t.Helper()
	for _, object := range readManifests(t, pattern) {
		if err := apply(t, object, "default"); err != nil {
			t.Fatal(err)
		}
	}
}

// Admins of a namespace write budgets; what was spent and what is held they only read.
func TestA10_OnlyTheControllerWritesRecordsAndHolds(t *testing.T) {
	applyAll(t, "rbac.yaml")
	namespace := shared.Namespace(t, nil)
	bind(t, "admin", "bursar-admin", namespace)
	bind(t, "viewer", "bursar-view", namespace)
	record := stored(t, "taskrecords", "TaskRecord", namespace, goodRecord)
	hold := stored(t, "taskholds", "TaskHold", namespace, goodHold)
	tb := &budgetv1alpha1.TaskBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "daily"},
		Spec:       budgetv1alpha1.TaskBudgetSpec{TaskSelector: &metav1.LabelSelector{}, Period: budgetv1alpha1.Period{Type: "Daily"}, MaxCostUSD: usd("1")},
	}
	admin, viewer := as(t, "admin"), as(t, "viewer")
	cluster.Eventually(t, "the admin writes a budget", func(ctx context.Context) error { return admin.Create(ctx, tb.DeepCopy()) })
	cluster.Eventually(t, "the viewer reads it", func(ctx context.Context) error {
		return viewer.Get(ctx, client.ObjectKeyFromObject(tb), tb)
	})
	tb.Status.Percent = new(int32(1))
	for user, c := range map[string]client.Client{"admin": admin, "viewer": viewer} {
		planted := record.DeepCopy()
		planted.SetName("planted")
		planted.SetResourceVersion("")
		for what, err := range map[string]error{
			"create a record":     c.Create(t.Context(), planted),
			"delete a record":     c.Delete(t.Context(), record),
			"delete a hold":       c.Delete(t.Context(), hold),
			"change a hold":       c.Update(t.Context(), hold),
			"change a status":     c.Status().Update(t.Context(), tb.DeepCopy()),
			"delete all records":  c.DeleteAllOf(t.Context(), &budgetv1alpha1.TaskRecord{}, client.InNamespace(namespace)),
			"relabel the records": c.Patch(t.Context(), record.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"team":"b"}}}`))),
		} {
			if !apierrors.IsForbidden(err) {
				t.Errorf("%s may %s: %v", user, what, err)
			}
		}
	}
	if err := viewer.Update(t.Context(), tb.DeepCopy()); !apierrors.IsForbidden(err) {
		t.Errorf("the viewer changes a budget: %v", err)
	}
}

func newJob(namespace string, suspend bool) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "job-", Labels: map[string]string{"team": "a"}},
		Spec: batchv1.JobSpec{Suspend: &suspend, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "example.com/agent"}},
		}}},
	}
}

// A user who may edit the tasks cannot move a task that waits to another budget; the controller may change its labels.
func TestA10_LabelsOfAWaitingTaskStay(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	bind(t, "developer", newRole(t, "batch", []string{"*"}, "jobs", "jobs/status"), namespace)
	bind(t, "controller", newRole(t, "batch", []string{"*"}, "jobs", "jobs/status"), namespace)
	bind(t, "controller", newRole(t, "bursar.dev", []string{"create"}, "taskholds"), namespace)
	waiting, running := newJob(namespace, true), newJob(namespace, false)
	developer, controller := as(t, "developer"), as(t, "controller")
	cluster.Eventually(t, "the developer's role is in force", func(ctx context.Context) error {
		return developer.Create(ctx, waiting)
	})
	if err := developer.Create(t.Context(), running); err != nil {
		t.Fatal(err)
	}
	change := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"team":"b"}}}`))
	move := func(ctx context.Context, c client.Client, job *batchv1.Job) error {
		return c.Patch(ctx, job.DeepCopy(), change, client.DryRunAll)
	}
	if err := move(t.Context(), developer, waiting); err != nil {
		t.Fatalf("without the policy: %v", err)
	}
	applyAll(t, "labels-policy.yaml")
	t.Cleanup(func() {
		for _, object := range readManifests(t, "labels-policy.yaml") {
			if err := shared.Client.Delete(context.Background(), object); err != nil {
				t.Error(err)
			}
		}
	})
	cluster.Eventually(t, "the policy is in force", func(ctx context.Context) error {
		if err := move(ctx, developer, waiting); err == nil {
			return errors.New("the developer moves a task")
		} else if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "the labels of a task that waits decide in which budgets it counts") {
			t.Fatal(err)
		}
		return nil
	})
	removal := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":null}}`))
	if err := developer.Patch(t.Context(), waiting.DeepCopy(), removal); !apierrors.IsForbidden(err) {
		t.Errorf("the labels are removed: %v", err)
	}
	if err := developer.Status().Patch(t.Context(), waiting.DeepCopy(), change); !apierrors.IsForbidden(err) {
		t.Errorf("through the status: %v", err)
	}
	note := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"note":"x"}},"spec":{"parallelism":2}}`))
	if err := developer.Patch(t.Context(), waiting.DeepCopy(), note); err != nil {
		t.Errorf("other fields: %v", err)
	}
	if err := move(t.Context(), developer, running); err != nil {
		t.Errorf("a task that runs: %v", err)
	}
	cluster.Eventually(t, "the controller changes labels", func(ctx context.Context) error { return move(ctx, controller, waiting) })
}
