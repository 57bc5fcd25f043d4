package controller_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

// inCEL lets budgets carry policies.
var inCEL = []budget.CompileOption{budget.WithPolicies(cel.CompileRules)}

func withPolicies(rules ...budgetv1alpha1.PolicyRule) func(*budgetv1alpha1.TaskBudgetSpec) {
	return func(s *budgetv1alpha1.TaskBudgetSpec) { s.Policies = rules }
}

// opusBelow80 is a policy that people ask for.
var opusBelow80 = budgetv1alpha1.PolicyRule{
	Name: "expensive-model", Effect: "deny",
	When:              `task.model == "opus" && budget.cost.committedPermille >= 800`,
	MessageExpression: `"opus starts only below 80% of " + budget.name + ", " + string(budget.cost.committedPermille) + " thousandths are taken"`,
}

// pooled makes a task of the pool whose model is opus.
func (w *world) pooled(name, estimate string, labels map[string]string) *AgentTask {
	w.t.Helper()
	task := &AgentTask{ObjectMeta: metaOf(w.namespace, name, labels), Spec: AgentTaskSpec{EstimateUSD: estimate, Pool: "blue"}}
	must(w.t, shared.Client.Create(w.t.Context(), task))
	return task
}

var modes = []controller.Mode{controller.LeaderElection, controller.Fenced}

func TestC8_APolicyInABudgetRefusesAndThenAdmits(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, clock.RealClock{})
			w.budget("daily", "10", gold, withPolicies(opusBelow80))
			w.spend("earlier", "8.5", gold)
			m := newMeter()
			r := w.start(settings{wrap: m.wrap, options: controller.Options{Mode: mode, Compile: inCEL}})
			w.awaitStatus("daily", "counts what was spent", func(s budgetv1alpha1.TaskBudgetStatus) bool {
				return s.Percent != nil && *s.Percent == 85 && degraded(s) == "False Evaluated"
			})
			w.pooled("opus", "0.1", gold)
			condition := w.awaitBlocked("opus")
			want := "TaskBudget " + w.namespace + "/daily denies: opus starts only below 80% of daily, 850 thousandths are taken (expensive-model)"
			if condition.Reason != budget.ReasonPolicyDenied || condition.Message != want {
				t.Errorf("%s: %s\nwant %s", condition.Reason, condition.Message, want)
			}
			w.task("plain", "0.1", gold)
			w.awaitRunning("plain")

			m.seen()
			w.spend("later", "0.1", gold) // the words of the policy change, the answer does not
			w.awaitStatus("daily", "counts it", func(s budgetv1alpha1.TaskBudgetStatus) bool { return *s.Percent == 87 })
			time.Sleep(time.Second)
			if n := m.seen()["patch status AgentTask"]; n > 0 {
				t.Errorf("an answer that stays is written %d times", n)
			}

			w.raise("daily", "20")
			if opus := w.awaitRunning("opus"); len(opus.Status.Conditions) > 0 {
				t.Errorf("an admitted task carries conditions: %v", opus.Status.Conditions)
			}
			said := strings.Join(r.events.all(), "\n")
			for _, want := range []string{"opus Warning BudgetBlocked: " + want, "opus Normal BudgetAdmitted"} {
				if !strings.Contains(said, want) {
					t.Errorf("no event %q in:\n%s", want, said)
				}
			}
			if n := r.metric(t, "bursar_admissions_total", "refused", budget.ReasonPolicyDenied); n < 1 {
				t.Errorf("%v refusals are counted", n)
			}
		})
	}
}

func TestC8_APolicyThatHoldsOffIsAskedAgainWhenItSaysSo(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Date(2026, 3, 2, 7, 58, 0, 0, time.UTC))
	w := newWorld(t, c)
	w.budget("daily", "10", nil, withPolicies(budgetv1alpha1.PolicyRule{
		Name: "business-hours", Effect: "hold", When: `now.getHours("UTC") < 8`, RetryAfterSeconds: "120", Message: "tasks start at 8:00",
	}))
	r := w.start(settings{idle: true, options: controller.Options{Compile: inCEL}})
	answer, err := r.gate.Admit(t.Context(), w.task("asked", "1", gold))
	must(t, err)
	if answer.Admitted || answer.RequeueAfter != 2*time.Minute || !answer.Decision.RetryAt.Equal(c.Now().Add(2*time.Minute)) {
		t.Errorf("admitted %v, requeue after %v, retry at %v", answer.Admitted, answer.RequeueAfter, answer.Decision.RetryAt)
	}
	if condition := w.awaitBlocked("asked"); condition.Reason != budget.ReasonPolicyHold || !strings.Contains(condition.Message, "holds off: tasks start at 8:00") {
		t.Errorf("%s: %s", condition.Reason, condition.Message)
	}
	r.stop()

	w.start(settings{options: controller.Options{Compile: inCEL}})
	w.task("waits", "1", gold)
	w.awaitBlocked("waits")
	c.Step(2 * time.Minute) // and nothing else happens
	w.awaitRunning("waits")
	w.awaitRunning("asked")
}

// A6 of policies: what can't be compiled refuses, and says so with its place.
func TestA6_APolicyThatCanNotBeCompiledBlocksAndSaysWhere(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		compile []budget.CompileOption
		when    string
		says    string
	}{
		"a field that does not exist": {inCEL, `task.modle == "opus"`, "spec.policies[0].when: Invalid value: \"task.modle == \\\"opus\\\"\": 1:5: "},
		"a host that gives no engine": {nil, `task.model == "opus"`, "policies are not enabled here"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, clock.RealClock{})
			rule := opusBelow80
			rule.When = c.when
			w.budget("daily", "10", gold, withPolicies(rule))
			w.start(settings{options: controller.Options{Compile: c.compile}})
			w.task("first", "1", gold)
			if condition := w.awaitBlocked("first"); condition.Reason != budget.ReasonBudgetDegraded || !strings.Contains(condition.Message, c.says) {
				t.Errorf("%s: %s", condition.Reason, condition.Message)
			}
			status := w.awaitStatus("daily", "is degraded", func(s budgetv1alpha1.TaskBudgetStatus) bool { return degraded(s) == "True InvalidPolicy" })
			if message := status.Conditions[0].Message; !strings.Contains(message, c.says) {
				t.Errorf("the status does not say where: %s", message)
			}
			w.editBudget("daily", func(s *budgetv1alpha1.TaskBudgetSpec) { s.Policies = nil })
			w.awaitRunning("first")
			w.awaitStatus("daily", "has recovered", func(s budgetv1alpha1.TaskBudgetStatus) bool { return degraded(s) == "False Evaluated" })
		})
	}
}

// TestC8_PoliciesTightenAndTheArithmeticStands has tasks come together at a budget whose policy looks at what is committed:
// no two are admitted on figures that have moved.
func TestC8_TasksThatComeTogetherPassNoPolicyThatLooksAtFigures(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, clock.RealClock{})
			w.budget("daily", "100", gold, withPolicies(budgetv1alpha1.PolicyRule{
				Name: "five-at-most", Effect: "deny", When: `budget.cost.held >= 5000000`, Message: "five dollars are held",
			}))
			const tasks, room = 30, 5
			list := make([]*AgentTask, tasks)
			for i := range list {
				list[i] = w.task("task-"+string(rune('a'+i/10))+string(rune('0'+i%10)), "1", gold)
			}
			replicas := []*replica{w.start(settings{idle: true, options: controller.Options{Mode: mode, Compile: inCEL}})}
			if mode == controller.Fenced {
				replicas = append(replicas, w.start(settings{idle: true, options: controller.Options{Mode: mode, Compile: inCEL}}))
			}
			admitAll(t, replicas, list)
			if n := len(w.holds()); n != room {
				t.Errorf("%d tasks are held, the policy lets %d", n, room)
			}
		})
	}
}

// TestC8_PoliciesSeeARecordAndBlockNothing has a policy warn of what a task has spent and another one label its record.
func TestC8_PoliciesSeeARecordAndBlockNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clock.RealClock{})
	rules := []budgetv1alpha1.PolicyRule{
		{Name: "dear", Effect: "deny", Match: onRecord(), When: `usage.costMicros > 1000000`, Message: "it has cost more than a dollar"},
		{Name: "model", Effect: "label", Match: onRecord(), When: "true", Key: "example.com/model", Value: "task.model"},
		{Name: "own", Effect: "label", Match: onRecord(), When: "true", Key: "team", Value: `"nobody"`},
	}
	w.budget("daily", "10", gold, withPolicies(rules...))
	r := w.start(settings{options: controller.Options{Compile: inCEL}})
	task := w.pooled("first", "0.5", gold)
	w.awaitRunning("first")
	w.finish("first", "1.5")
	record := w.awaitRecord(task)
	if diff := cmp.Diff(map[string]string{"team": "gold", "example.com/model": "opus"}, record.Labels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(gold, record.Spec.TaskLabels); diff != "" {
		t.Errorf("a label of a policy moves spend: %s", diff)
	}
	cluster.Eventually(t, "the warning is told", func(context.Context) error {
		if said := strings.Join(r.events.all(), "\n"); !strings.Contains(said, "first Warning BudgetWarning: TaskBudget "+w.namespace+"/daily: it has cost more than a dollar (dear)") {
			return errors.New(said)
		}
		return nil
	})
	w.awaitSpend("1500m")
}

func onRecord() *budgetv1alpha1.PolicyMatch {
	return &budgetv1alpha1.PolicyMatch{Operations: []budgetv1alpha1.PolicyOperation{budgetv1alpha1.PolicyOperation(policy.RecordUsage)}}
}
