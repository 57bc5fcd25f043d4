package controller_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

// editor gives a client of a user who may do what a developer may who works with tasks: create, edit and delete them, and read
// the budgets. It waits until the role is in force.
func (w *world) editor(user string) client.Client {
	w.t.Helper()
	role := &rbacv1.Role{ObjectMeta: metaOf(w.namespace, user, nil), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{agents.Group}, Resources: []string{"agenttasks"}, Verbs: []string{"*"}},
		{APIGroups: []string{"bursar.dev"}, Resources: []string{"taskbudgets", "taskrecords", "taskholds"}, Verbs: []string{"get", "list", "watch"}},
	}}
	must(w.t, shared.Client.Create(w.t.Context(), role))
	must(w.t, shared.Client.Create(w.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metaOf(w.namespace, user, nil),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}},
	}))
	config := rest.CopyConfig(shared.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	c, err := client.New(config, client.Options{Scheme: shared.Scheme})
	must(w.t, err)
	cluster.Eventually(w.t, "the role of "+user+" is in force", func(ctx context.Context) error {
		return c.List(ctx, &AgentTaskList{}, client.InNamespace(w.namespace))
	})
	return c
}

// plant is what a user writes on a task who wants its spend to count elsewhere: other labels, and each annotation that might be
// taken for a snapshot of them.
const plant = `{"metadata":{"labels":{"team":"silver","user":"nobody"},"annotations":{
	"bursar.dev/labels":"{\"team\":\"silver\"}","bursar.dev/snapshot":"{\"team\":\"silver\"}","bursar.dev/task-labels":"team=silver",
	"bursar.dev/claim":"{\"name\":\"x\",\"spec\":{\"taskLabels\":{\"team\":\"silver\"}}}","bursar.dev/cost-usd":"0"}}}`

// onlyNotes is the same without the labels.
const onlyNotes = `{"metadata":{"annotations":{"bursar.dev/labels":"{\"team\":\"silver\"}","bursar.dev/snapshot":"{\"team\":\"silver\"}",
	"bursar.dev/claim":"{\"name\":\"x\",\"spec\":{\"taskLabels\":{\"team\":\"silver\"}}}"}}}`

func patch(ctx context.Context, c client.Client, o client.Object, text string) error {
	return c.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(text)))
}

// TestA10_AUserWhoEditsTasksMovesNoSpend has a user with real permissions write labels and annotations on a task at each point
// of its life from its admission on, and annotations before.
func TestA10_AUserWhoEditsTasksMovesNoSpend(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, clock.RealClock{})
			w.budget("gold", "5", gold)
			w.budget("silver", "5", map[string]string{"team": "silver"})
			options := settings{idle: true}
			options.options.Mode = mode
			r := w.start(options)
			user := w.editor("developer")
			admit := func(task *AgentTask) {
				t.Helper()
				answer, err := r.gate.Admit(t.Context(), task)
				must(t, err)
				if !answer.Admitted {
					t.Fatal(answer.Decision.Message())
				}
				if diff := cmp.Diff(gold, answer.Decision.Labels); diff != "" {
					t.Errorf("the snapshot is another one: %s", diff)
				}
			}
			moments := []string{"before it is admitted", "after it is admitted", "before it is admitted again", "when it has finished", "when it is recorded"}
			for i, moment := range moments {
				task := w.task("task-"+string(rune('a'+i)), "0.5", gold)
				reach := func(now string, text string) {
					t.Helper()
					if now == moment {
						must(t, patch(t.Context(), user, task, text))
					}
				}
				reach("before it is admitted", onlyNotes)
				admit(task)
				reach("after it is admitted", plant)
				if moment == "before it is admitted again" { // after a crash, say, by a process that remembers nothing
					reach(moment, plant)
					r.stop()
					r = w.start(options)
					admit(w.get(task.Name))
				}
				w.finish(task.Name, "0.25")
				task = w.get(task.Name)
				reach("when it has finished", plant)
				must(t, r.recorder.Record(t.Context(), w.get(task.Name)))
				reach("when it is recorded", plant)
				must(t, r.recorder.Record(t.Context(), w.get(task.Name)))
				record := &budgetv1alpha1.TaskRecord{}
				must(t, shared.Client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: string(task.UID)}, record))
				if diff := cmp.Diff(gold, record.Spec.TaskLabels); diff != "" {
					t.Errorf("%s: %s", moment, diff)
				}
			}
			w.awaitStatus("gold", "is charged with all", func(s budgetv1alpha1.TaskBudgetStatus) bool {
				return s.Used != nil && s.Used.CostUSD.String() == "1250m"
			})
			w.awaitStatus("silver", "is charged with nothing", func(s budgetv1alpha1.TaskBudgetStatus) bool {
				return s.Used != nil && s.Used.CostUSD.String() == "0"
			})
		})
	}
}

// TestA10_AUserPlantsNoHoldAndNoRecord tries to write the snapshot itself.
func TestA10_AUserPlantsNoHoldAndNoRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("gold", "5", gold)
	r := w.start(settings{idle: true})
	user := w.editor("planter")
	task := w.task("first", "0.5", gold)
	hold := &budgetv1alpha1.TaskHold{
		ObjectMeta: metaOf(w.namespace, string(task.UID), nil),
		Spec:       budgetv1alpha1.TaskHoldSpec{TaskRef: budgetv1alpha1.TaskReference{UID: string(task.UID)}, TaskLabels: map[string]string{"team": "silver"}},
	}
	if err := user.Create(t.Context(), hold.DeepCopy()); !apierrors.IsForbidden(err) {
		t.Errorf("a hold is planted before the admission: %v", err)
	}
	answer, err := r.gate.Admit(t.Context(), task)
	must(t, err)
	if !answer.Admitted {
		t.Fatal(answer.Decision.Message())
	}
	record := &budgetv1alpha1.TaskRecord{ObjectMeta: metaOf(w.namespace, string(task.UID), nil), Spec: budgetv1alpha1.TaskRecordSpec{
		TaskRef: budgetv1alpha1.TaskReference{UID: string(task.UID)}, Phase: "Succeeded", CompletionTime: metav1.Now(),
	}}
	relabel := `{"metadata":{"labels":{"team":"silver"}},"spec":{"taskLabels":{"team":"silver"}}}`
	for what, err := range map[string]error{
		"a hold is relabelled":     patch(t.Context(), user, hold.DeepCopy(), relabel),
		"a hold is deleted":        user.Delete(t.Context(), hold.DeepCopy()),
		"a record is planted":      user.Create(t.Context(), record),
		"a status is written":      user.Status().Patch(t.Context(), task.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"status":{"phase":"Succeeded"}}`))),
		"a budget is raised":       patch(t.Context(), user, budgetOf(w, "gold"), `{"spec":{"maxCostUSD":500}}`),
		"a budget is reset":        user.Status().Patch(t.Context(), budgetOf(w, "gold"), client.RawPatch("application/merge-patch+json", []byte(`{"status":null}`))),
		"the fence is moved":       patch(t.Context(), user, &budgetv1alpha1.TaskHold{ObjectMeta: metaOf(w.namespace, "fence", nil)}, relabel),
		"all holds are swept away": user.DeleteAllOf(t.Context(), &budgetv1alpha1.TaskHold{}, client.InNamespace(w.namespace)),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Not even the controller can change what a hold has taken down.
	if err := patch(t.Context(), shared.Client, hold.DeepCopy(), relabel); !apierrors.IsInvalid(err) {
		t.Errorf("the snapshot of a hold is changed: %v", err)
	}
}

// TestA10_TheLabelsOfATaskThatWaits shows the one thing that a user can do who may edit tasks, and the policy that closes it.
func TestA10_TheLabelsOfATaskThatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	w.budget("gold", "1", gold)
	w.budget("silver", "5", map[string]string{"team": "silver"})
	w.spend("earlier", "1", gold)
	w.start(settings{})
	user := w.editor("mover")
	w.awaitStatus("gold", "is spent", func(s budgetv1alpha1.TaskBudgetStatus) bool { return s.Percent != nil && *s.Percent == 100 })

	// Without the policy: the task has not been admitted, its labels are what they are when it is, and it goes to another budget.
	moved := w.task("moved", "0.5", gold)
	w.awaitBlocked("moved")
	must(t, patch(t.Context(), user, moved.DeepCopy(), `{"metadata":{"labels":{"team":"silver"}}}`))
	w.awaitRunning("moved")
	w.finish("moved", "0.5")
	if diff := cmp.Diff(map[string]string{"team": "silver"}, w.awaitRecord(moved).Spec.TaskLabels); diff != "" {
		t.Error(diff)
	}

	stays := w.task("stays", "0.5", gold)
	w.awaitBlocked("stays")
	applyPolicy(t, user, stays)
	for what, text := range map[string]string{
		"another label":      plant,
		"a label is dropped": `{"metadata":{"labels":null}}`,
		"a label is added":   `{"metadata":{"labels":{"also":"silver"}}}`,
	} {
		if err := patch(t.Context(), user, stays.DeepCopy(), text); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, patch(t.Context(), user, stays.DeepCopy(), onlyNotes)) // annotations are nobody's business
	w.raise("gold", "2")
	w.awaitRunning("stays")
	must(t, patch(t.Context(), user, stays.DeepCopy(), plant)) // it runs: labels move nothing any more
	w.finish("stays", "0.5")
	if diff := cmp.Diff(gold, w.awaitRecord(stays).Spec.TaskLabels); diff != "" {
		t.Error(diff)
	}
}

// applyPolicy applies the manifest until the test ends, and waits until it is in force.
func applyPolicy(t *testing.T, user client.Client, task *AgentTask) {
	t.Helper()
	text, err := os.ReadFile("../../../examples/manifests/labels-policy.yaml")
	must(t, err)
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		must(t, shared.Client.Create(t.Context(), object))
		t.Cleanup(func() {
			if err := shared.Client.Delete(context.Background(), object); err != nil {
				t.Error(err)
			}
		})
	}
	cluster.Eventually(t, "the policy is in force", func(ctx context.Context) error {
		err := user.Patch(ctx, task.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(plant)), client.DryRunAll)
		if err == nil {
			return errors.New("a waiting task is moved")
		}
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "the labels of a task that waits decide in which budgets it counts") {
			t.Fatal(err)
		}
		return nil
	})
}
