package jobgate_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/examples/jobgate/jobs"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

const manifests = "../../../examples/jobgate/manifests"

func readManifests(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := cluster.ReadManifests(filepath.Join(manifests, file))
	must(t, err)
	return objects
}

func apply(t *testing.T, object *unstructured.Unstructured, namespace string, options ...client.ApplyOption) error {
	t.Helper()
	if object.GetKind() == "TaskBudget" || object.GetKind() == "Job" {
		object.SetNamespace(namespace)
	}
	strict := client.WithFieldValidation(shared.Client, "Strict")
	return strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), append(options, client.FieldOwner("kubectl"))...)
}

func TestTheManifestsApplyCleanly(t *testing.T) {
	t.Parallel()
	namespace := shared.Namespace(t, nil)
	files, err := filepath.Glob(filepath.Join(manifests, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		for _, object := range readManifests(t, filepath.Base(file)) {
			if err := apply(t, object, namespace, client.DryRunAll); err != nil {
				t.Errorf("%s: %s %s: %v", file, object.GetKind(), object.GetName(), err)
			}
		}
	}
}

// as gives a client of a user who may do everything, as far as roles go.
func as(t *testing.T, user string) client.Client {
	t.Helper()
	config := rest.CopyConfig(shared.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
	c, err := client.New(config, client.Options{Scheme: shared.Scheme})
	must(t, err)
	return c
}

// TestOnlyTheGateReleasesAJob where the admission policy is in force. It is bound to one namespace here, as the other tests
// release jobs as another user.
func TestOnlyTheGateReleasesAJob(t *testing.T) {
	t.Parallel()
	w := &world{t: t, namespace: shared.Namespace(t, map[string]string{"jobgate": "enforced"})}
	for _, object := range readManifests(t, "admission.yaml") {
		if object.GetKind() == "ValidatingAdmissionPolicyBinding" {
			must(t, unstructured.SetNestedStringMap(object.Object, map[string]string{"jobgate": "enforced"}, "spec", "matchResources", "namespaceSelector", "matchLabels"))
		}
		must(t, apply(t, object, ""))
	}
	user, gate := as(t, "somebody"), as(t, "system:serviceaccount:agents:jobgate")
	job := w.job("nightly")
	cluster.Eventually(t, "the policy is in force", func(ctx context.Context) error {
		err := user.Patch(ctx, job.DeepCopy(), merge(`{"spec": {"suspend": false}}`), client.DryRunAll)
		if err == nil {
			return errors.New("anybody may release a Job")
		}
		return nil
	})
	refused := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want a refusal with %q, got %v", what, want, err)
		}
	}
	annotate := fmt.Sprintf(`{"metadata": {"annotations": {%q: "now"}}}`, jobs.AnnotationReleased)
	refused("a release", "released by the gate", user.Patch(t.Context(), job.DeepCopy(), merge(`{"spec": {"suspend": false}}`)))
	refused("a planted annotation", "is the gate's", user.Patch(t.Context(), job.DeepCopy(), merge(annotate)))
	refused("a way out", "does not change", user.Patch(t.Context(), job.DeepCopy(), merge(`{"metadata": {"labels": null}}`)))
	sly := job.DeepCopy()
	sly.ObjectMeta = batchv1.Job{}.ObjectMeta
	sly.Namespace, sly.Name, sly.Labels, sly.Spec.Selector, sly.Spec.Template.Labels = w.namespace, "sly", gated, nil, nil
	sly.Spec.Suspend = new(false)
	refused("a Job that is not suspended", "created with spec.suspend true", user.Create(t.Context(), sly))

	must(t, user.Patch(t.Context(), job.DeepCopy(), merge(`{"metadata": {"annotations": {"note": "fine"}}}`)))
	must(t, gate.Patch(t.Context(), job.DeepCopy(), merge(`{"spec": {"suspend": false}}`)))
	must(t, gate.Patch(t.Context(), job.DeepCopy(), merge(annotate)))
	must(t, user.Patch(t.Context(), job.DeepCopy(), merge(`{"spec": {"suspend": true}}`)))
	must(t, user.Patch(t.Context(), job.DeepCopy(), merge(`{"spec": {"suspend": false}}`)))
	w.job("free", func(j *batchv1.Job) { j.Labels, j.Spec.Suspend = nil, new(false) })
	free := &batchv1.Job{}
	must(t, shared.Client.Get(t.Context(), w.key("free"), free))
	refused("a Job that runs", "when it is created", user.Patch(t.Context(), free, merge(fmt.Sprintf(`{"metadata": {"labels": {%q: %q}}}`, jobs.LabelGate, jobs.GateBudget))))
}
