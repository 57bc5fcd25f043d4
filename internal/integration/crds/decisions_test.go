package crds_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/corpus"
	"github.com/bursar-dev/bursar/usage"
)

// TestDecisionCasesOnTheServer stores the budgets, records and holds of each decision case, and decides with what
// comes back: defaults, rounding and all that the API server does to an object change no decision.
func TestDecisionCasesOnTheServer(t *testing.T) {
	files, err := filepath.Glob("../../../budget/testdata/admit*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	for f, file := range files {
		cases, err := corpus.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range cases {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				s := storedCase{c: c, prefix: fmt.Sprintf("case-%d-%d-", f, i), known: map[string]bool{}, memory: usage.NewMemory()}
				s.store(t)
				s.readBack(t)
				d := budget.Admit(budget.Input{
					Task:  budget.Task{UID: c.Task.UID, Namespace: c.Task.Namespace, Labels: c.Task.Labels, Estimate: c.Task.Estimate},
					Rules: s.rules, Ledger: s.memory, Now: c.Now,
				})
				if diff := cmp.Diff(c.Want, c.Want.Observed(d), cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(0)); diff != "" {
					t.Errorf("%s (-want +got):\n%s\n%s", c.Why, diff, d.Message())
				}
			})
		}
	}
}

// storedCase is a case whose objects lie in namespaces of their own.
type storedCase struct {
	c      corpus.Case
	prefix string
	known  map[string]bool // the namespaces of the case
	rules  []*budget.Rule
	memory *usage.Memory
}

func (s *storedCase) create(t *testing.T, o client.Object) error {
	t.Helper()
	if name := o.GetNamespace(); !s.known[name] {
		s.known[name] = true
		if err := shared.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.prefix + name}}); err != nil {
			t.Fatal(err)
		}
	}
	o.SetNamespace(s.prefix + o.GetNamespace())
	return shared.Client.Create(t.Context(), o)
}

// store creates everything. Of the budgets, the API server may refuse those in which Compile finds faults; these decide
// as they are, as a budget does that was stored before the rule that refuses it.
func (s *storedCase) store(t *testing.T) {
	t.Helper()
	for i := range s.c.Budgets {
		tb := s.c.Budgets[i].DeepCopy()
		rule, faults := budget.Compile(tb)
		switch err := s.create(t, tb); {
		case apierrors.IsInvalid(err) && len(faults) > 0:
			s.rules = append(s.rules, rule)
		case err != nil:
			t.Fatalf("budget %s without a fault (%v): %v", tb.Name, faults, err)
		}
	}
	history, err := s.c.History()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range history.Records {
		if err := s.create(t, budget.NewTaskRecord(r)); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range history.Holds {
		if h.AdmittedAt.IsZero() { // a case may leave it out where it decides nothing, a TaskHold may not
			h.AdmittedAt = earlier(s.c.Now, h.ExpiresAt).Add(-time.Minute)
		}
		if err := s.create(t, budget.NewTaskHold(h, usage.Task{UID: h.UID, Namespace: h.Namespace, Name: "task"})); err != nil {
			t.Fatal(err)
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// readBack compiles and enters what the API server has, in the namespaces of the case.
func (s *storedCase) readBack(t *testing.T) {
	t.Helper()
	for name := range s.known {
		in := client.InNamespace(s.prefix + name)
		var budgets budgetv1alpha1.TaskBudgetList
		var records budgetv1alpha1.TaskRecordList
		var holds budgetv1alpha1.TaskHoldList
		for _, list := range []client.ObjectList{&budgets, &records, &holds} {
			if err := shared.Client.List(t.Context(), list, in); err != nil {
				t.Fatal(err)
			}
		}
		for i := range budgets.Items {
			budgets.Items[i].Namespace = name
			rule, _ := budget.Compile(&budgets.Items[i])
			s.rules = append(s.rules, rule)
		}
		for i := range records.Items {
			records.Items[i].Namespace = name
			r, faults := budget.RecordFrom(&records.Items[i])
			if err := faults.ToAggregate(); err != nil {
				t.Fatal(err)
			}
			if err := s.memory.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		for i := range holds.Items {
			holds.Items[i].Namespace = name
			h, faults := budget.HoldFrom(&holds.Items[i])
			if err := faults.ToAggregate(); err != nil {
				t.Fatal(err)
			}
			if err := s.memory.Renew(h); err != nil {
				t.Fatal(err)
			}
		}
	}
}
