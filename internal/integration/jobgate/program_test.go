package jobgate_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/bursar-dev/bursar/budget/controller"
)

// TestTheProgramNeedsNoMoreThanItsRole runs the program as its README says, as a user who has its role and bursar's.
func TestTheProgramNeedsNoMoreThanItsRole(t *testing.T) {
	t.Parallel()
	w := &world{t: t, namespace: shared.Namespace(t, nil)}
	bursar, err := controller.ClusterRole()
	must(t, err)
	own := &rbacv1.ClusterRole{}
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(readManifests(t, "rbac.yaml")[0].Object, own))
	shared.Grant(t, "jobgate", bursar, own)
	said := shared.Program(t, "jobgate", "github.com/bursar-dev/bursar/examples/jobgate", "-namespace", w.namespace, "-metrics", "0")
	for _, file := range []string{"budget.yaml", "job.yaml"} {
		for _, object := range readManifests(t, file) {
			must(t, apply(t, object, w.namespace))
		}
	}
	w.job("greedy", func(j *batchv1.Job) { j.Annotations["example.bursar.dev/estimate-usd"] = "6" }) // more than the whole limit, whoever comes first
	w.awaitBlocked("greedy")
	w.awaitReleased("nightly")
	job := &batchv1.Job{}
	must(t, shared.Client.Get(t.Context(), w.key("nightly"), job))
	w.end(job, corev1.PodSucceeded, `{"cost-usd": "0.42", "input-tokens": 12000}`)
	if record := w.awaitRecord(job); record.Usage.CostUSD.String() != "420m" || record.Model != "small" {
		t.Errorf("recorded %+v", record)
	}
	if strings.Contains(said(), "forbidden") {
		t.Error("something is forbidden")
	}
}
