package webhook_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/budget/webhook"
	"github.com/bursar-dev/bursar/policy"
)

func newHandler(t *testing.T) admission.Handler {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := budgetv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return webhook.Handler(scheme, webhook.Validator{Clock: clocktesting.NewFakePassiveClock(now)})
}

// raw is an object as the API server sends it; text is what is stored, which may be nothing that a program can read.
func raw(t *testing.T, object any) runtime.RawExtension {
	t.Helper()
	if text, ok := object.(string); ok {
		return runtime.RawExtension{Raw: []byte(text)}
	}
	if object == nil {
		return runtime.RawExtension{}
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: text}
}

const unreadable = `{"apiVersion":"bursar.dev/v1alpha1","kind":"TaskBudget","metadata":{"namespace":"team-a","name":"daily"},` +
	`"spec":{"taskSelector":{},"period":{"type":"Daily"},"maxCostUSD":"1e1.5"}}`

// unreadableButFor is the same with other metadata or spec.
func unreadableButFor(old, replacement string) string {
	return strings.Replace(unreadable, old, replacement, 1)
}

func badSelector(s *budgetv1alpha1.TaskBudgetSpec) {
	s.TaskSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a b"}}
}

func TestHandler(t *testing.T) {
	good, bad := newBudget(nil), newBudget(badSelector)
	annotated := bad.DeepCopy()
	annotated.Annotations, annotated.Finalizers = map[string]string{"note": "x"}, nil
	worse := newBudget(func(s *budgetv1alpha1.TaskBudgetSpec) { badSelector(s); s.Period.Type = "Nightly" })
	leaving := worse.DeepCopy()
	leaving.DeletionTimestamp = &metav1.Time{Time: now}
	zero := newBudget(func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = usd("0") })
	const aWord = `TaskBudget.bursar.dev "daily" is invalid: spec.taskSelector.matchLabels: Invalid value: "a b"`
	tests := map[string]struct {
		operation admissionv1.Operation
		old, new  any
		refused   string // what the refusal starts with
		warnings  []string
	}{
		"a good budget is created":                 {operation: admissionv1.Create, new: good},
		"a suspicious budget is created, and said": {operation: admissionv1.Create, new: zero, warnings: []string{"spec.maxCostUSD: 0 refuses every task that the budget selects; leave it out for no limit"}},
		"a bad budget is not created":              {operation: admissionv1.Create, new: bad, refused: aWord},
		"a good budget does not become bad":        {operation: admissionv1.Update, old: good, new: bad, refused: aWord},
		"a bad budget is repaired":                 {operation: admissionv1.Update, old: bad, new: good},
		"a bad budget does not become another bad one": {
			operation: admissionv1.Update, old: bad, new: worse, refused: `TaskBudget.bursar.dev "daily" is invalid: [spec.taskSelector`,
		},
		"metadata of a bad budget are changed":          {operation: admissionv1.Update, old: bad, new: annotated},
		"a bad budget that is being deleted may change": {operation: admissionv1.Update, old: bad, new: leaving},
		"a bad budget is deleted":                       {operation: admissionv1.Delete, old: bad},
		"an unreadable budget is deleted":               {operation: admissionv1.Delete, old: unreadable},
		"metadata of an unreadable budget are changed": {
			operation: admissionv1.Update, old: unreadable, new: unreadableButFor(`"name":"daily"`, `"name":"daily","labels":{"a":"b"}`),
		},
		"an unreadable budget that is being deleted may change": {
			operation: admissionv1.Update, old: unreadable,
			new: strings.Replace(unreadableButFor("1e1.5", "1e1.6"),
				`"name":"daily"`, `"name":"daily","deletionTimestamp":"2026-03-14T12:00:00Z"`, 1),
		},
		"an unreadable budget is repaired":       {operation: admissionv1.Update, old: unreadable, new: good},
		"an unreadable budget becomes a bad one": {operation: admissionv1.Update, old: unreadable, new: bad, refused: aWord},
		"an unreadable budget stays one":         {operation: admissionv1.Update, old: unreadable, new: unreadableButFor("1e1.5", "1e1.6"), refused: "quantities must match"},
		"an unreadable budget is not created":    {operation: admissionv1.Create, new: unreadable, refused: "quantities must match"},
		"what is not JSON is neither":            {operation: admissionv1.Update, old: "{", new: "{", refused: "couldn't get version/kind"},
		"fields in another order are no change":  {operation: admissionv1.Update, old: unreadable, new: unreadableButFor(`"taskSelector":{},"period":{"type":"Daily"},"maxCostUSD":"1e1.5"`, `"maxCostUSD":"1e1.5","taskSelector":{},"period":{"type":"Daily"}`)},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			response := newHandler(t).Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				UID: "1", Operation: test.operation, Namespace: "team-a", Name: "daily",
				OldObject: raw(t, test.old), Object: raw(t, test.new),
			}})
			if response.Allowed != (test.refused == "") {
				t.Fatalf("allowed: %v: %v", response.Allowed, response.Result)
			}
			if !response.Allowed && !strings.HasPrefix(response.Result.Message, test.refused) {
				t.Errorf("it says %q, want %q", response.Result.Message, test.refused)
			}
			if diff := cmp.Diff(test.warnings, response.Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The webhook's errors are those of Compile, all of them, and no other.
func TestErrorsAreThoseOfCompile(t *testing.T) {
	bad := newBudget(func(s *budgetv1alpha1.TaskBudgetSpec) {
		badSelector(s)
		s.Period = budgetv1alpha1.Period{Type: "Daily", Timezone: "Mars/Base", WeekStart: "Monday"}
		s.MaxCostUSD, s.MaxInputTokens = usd("-1"), new(int64(-1))
		s.RecordTTLSeconds = new(int64(5))
	})
	_, faults := budget.Compile(bad)
	if len(faults) < 5 {
		t.Fatalf("the budget has only %d faults", len(faults))
	}
	_, err := webhook.Validator{}.ValidateCreate(t.Context(), bad)
	status, ok := err.(interface{ Status() metav1.Status })
	if !ok {
		t.Fatalf("%v is no API status", err)
	}
	var want, got []string
	for _, fault := range faults {
		want = append(want, fault.Field+": "+fault.ErrorBody())
	}
	for _, cause := range status.Status().Details.Causes {
		got = append(got, cause.Field+": "+cause.Message)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if status.Status().Reason != metav1.StatusReasonInvalid {
		t.Errorf("reason %s", status.Status().Reason)
	}
}

func TestConfigurationIsAboutTheSpecOnly(t *testing.T) {
	c := webhook.Configuration("host", admissionregistrationv1.WebhookClientConfig{})
	want := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{"bursar.dev"}, APIVersions: []string{"v1alpha1"}, Resources: []string{"taskbudgets"},
			Scope: new(admissionregistrationv1.NamespacedScope),
		},
	}}
	if diff := cmp.Diff(want, c.Webhooks[0].Rules); diff != "" {
		t.Error(diff)
	}
}

// The validator compiles with the options that it is given: those of the gate.
func TestValidatorCompilesPolicies(t *testing.T) {
	engine := func(name string, rules []policy.Rule) (policy.Hook, error) {
		if rules[0].When == "bad" {
			return nil, policy.LoadErrors{{Path: "rules[0].when", Line: 1, Column: 7, Text: "no such field"}}
		}
		return policy.Func(name, func(context.Context, *policy.Input) (policy.Verdict, error) { return policy.Pass(), nil }), nil
	}
	for sentence, test := range map[string]struct {
		compile []budget.CompileOption
		when    string
		says    string // what the refusal says
	}{
		"a policy that compiles":                         {[]budget.CompileOption{budget.WithPolicies(engine)}, "good", ""},
		"one that does not is refused with its place":    {[]budget.CompileOption{budget.WithPolicies(engine)}, "bad", `spec.policies[0].when: Invalid value: "bad": 1:7: no such field`},
		"without an engine every policy is refused, too": {nil, "good", "spec.policies: Forbidden: policies are not enabled here"},
	} {
		tb := newBudget(func(s *budgetv1alpha1.TaskBudgetSpec) {
			s.Policies = []budgetv1alpha1.PolicyRule{{Name: "a", When: test.when, Effect: "deny", Message: "no"}}
		})
		v := webhook.Validator{Compile: test.compile}
		_, created := v.ValidateCreate(t.Context(), tb)
		_, updated := v.ValidateUpdate(t.Context(), newBudget(nil), tb)
		for operation, err := range map[string]error{"create": created, "update": updated} {
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %s: %v", sentence, operation, err)
			}
		}
	}
}
