package demo_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	examplev1alpha1 "github.com/bursar-dev/bursar/examples/taskcontroller/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/internal/integration/demo"
	"github.com/bursar-dev/bursar/usage"
)

var shared cluster.Cluster

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(shared.Main(m, cluster.Options{
		AddToScheme: []func(*runtime.Scheme) error{budgetv1alpha1.AddToScheme, examplev1alpha1.AddToScheme},
	}))
}

// TestADayPasses and prints what it should: budgets that fill, tasks that wait and say why, a reset, tasks that start again.
func TestADayPasses(t *testing.T) {
	out := &bytes.Buffer{}
	err := demo.Day(t.Context(), &shared, "../../../examples/taskcontroller/manifests", out)
	t.Logf("\n%s", out)
	if err != nil {
		t.Fatal(err)
	}
	scenes := strings.Split(out.String(), "\n\n")
	if len(scenes) != 5 {
		t.Fatalf("%d scenes", len(scenes))
	}
	for i, parts := range [][]string{
		1: {"the day begins", "NAME", "PERIOD", "LIMIT", "USED", "HELD", "PERCENT", "RESETS", "DEGRADED", "AGE", "platform-daily Daily 20", "2026-03-10T00:00:00Z"},
		2: {"tasks wait", "platform-daily Daily 20", "BudgetExceeded", "TaskBudget agents/platform-daily: costUSD used"},
		3: {"the end of the day", "upgrades dependencies 20 20 True"},
		4: {"a new day", "2026-03-11T00:00:00Z"},
	} {
		said := strings.Join(strings.Fields(scenes[i]), " ")
		for _, part := range parts {
			if !strings.Contains(said, part) {
				t.Errorf("%q is missing in\n%s", part, scenes[i])
			}
		}
	}

	// Each task of the first day had an estimate of 0.75 or 1 set aside and cost 1.24 at most: that bounds the overrun.
	records := &budgetv1alpha1.TaskRecordList{}
	if err := shared.Client.List(t.Context(), records, client.InNamespace("agents")); err != nil {
		t.Fatal(err)
	}
	var spent, over, second int64
	for i := range records.Items {
		spec := &records.Items[i].Spec
		cost, err := usage.ParseUSD(spec.Usage.CostUSD.String())
		if err != nil {
			cost = spec.Usage.CostUSD.ScaledValue(-9)
		}
		if spec.CompletionTime.UTC().Day() != 9 {
			second++
			continue
		}
		spent += cost
		over += max(0, cost-usage.MustUSD("0.75"))
	}
	if limit := usage.MustUSD("20"); spent > limit+over || spent < limit/2 {
		t.Errorf("%d nano-dollars were spent on the first day under a limit of %d", spent, limit)
	}
	if second == 0 {
		t.Error("no task has finished on the second day")
	}
}
