package budget_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

func finished(t *testing.T, results map[string]string) usage.Record {
	t.Helper()
	record, err := usage.RecordUsage(usage.Completion{
		Task:  usage.Task{UID: "done", Namespace: "team-a", Name: "fix", Kind: "Job", Type: "coder", Model: "opus"},
		Phase: usage.Succeeded, Labels: map[string]string{"user": "u1"}, CompletionTime: noon, Results: results,
	})
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// Nothing that policies say blocks a record: refusals, failures and a context
// that is done are warnings.
func TestRecordingIsNeverBlocked(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	labelled := policy.Pass()
	labelled.Labels = map[string]string{"size": "large"}
	capped := policy.Pass()
	capped.Caps.MaxTokens = new(int64(0))
	for sentence, c := range map[string]struct {
		ctx   context.Context
		hook  policy.Hook
		warns []string
		want  map[string]string
	}{
		"a refusal":              {hook: says(policy.Refuse("no", "too dear"), nil), warns: []string{"no"}},
		"a hold":                 {hook: says(policy.HoldFor(time.Hour, "later", "wait"), nil), warns: []string{"later"}},
		"an error":               {hook: says(policy.Pass(), errors.New("x")), warns: []string{policy.CodePolicyError}},
		"a panic":                {hook: policy.Func("host", func(context.Context, *policy.Input) (policy.Verdict, error) { panic("x") }), warns: []string{policy.CodePolicyError}},
		"a context that is done": {ctx: gone, hook: says(policy.Pass(), nil), warns: []string{policy.CodePolicyTimeout}},
		"a label":                {hook: says(labelled, nil), want: map[string]string{"size": "large"}},
		"a cap":                  {hook: says(capped, nil)},
		"no policies yet":        {hook: new(policy.Holder), warns: []string{policy.CodeNotReady}},
	} {
		t.Run(sentence, func(t *testing.T) {
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			v := reviewer(t, c.hook, budget.ReviewerOptions{}).Record(ctx, finished(t, nil), budget.Input{}, budget.Subject{})
			var warns []string
			for _, w := range v.Warnings {
				warns = append(warns, w.Code)
			}
			if !v.Allowed() || len(v.Reasons) > 0 || v.Caps != (policy.Caps{}) || v.RetryAfter != 0 {
				t.Errorf("%+v", v)
			}
			if diff := cmp.Diff(c.warns, warns); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, v.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatPoliciesSeeOfARecord(t *testing.T) {
	var seen policy.Input
	hook := policy.Func("host", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		seen = *in
		return policy.Pass(), nil
	})
	r := reviewer(t, hook, budget.ReviewerOptions{})
	memory := usage.NewMemory()
	spend(t, memory, "other", "0.5")
	in := budget.Input{Rules: []*budget.Rule{compiled(t, daily(nil))}, Ledger: memory}
	for sentence, c := range map[string]struct {
		results map[string]string
		want    policy.Amount
	}{
		"cost and tokens": {
			map[string]string{"cost-usd": "0.0000001", "input-tokens": "3", "output-tokens": "4"},
			policy.Amount{CostMicros: 1, InputTokens: 3, OutputTokens: 4, TotalTokens: 7, Known: true, CostKnown: true, TokensKnown: true, Source: "Reported"},
		},
		"nothing":                          {nil, policy.Amount{}},
		"what cannot be read is not known": {map[string]string{"cost-usd": "n/a"}, policy.Amount{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			r.Record(t.Context(), finished(t, c.results), in, budget.Subject{Model: "overwritten", Provider: "acme"})
			if diff := cmp.Diff(c.want, seen.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			task := policy.Task{
				Namespace: "team-a", Name: "fix", UID: "done", Kind: "Job", Agent: "coder", Model: "opus", Provider: "acme",
				Labels: map[string]string{"user": "u1"}, Annotations: map[string]string{},
			}
			if diff := cmp.Diff(task, seen.Task); diff != "" {
				t.Errorf("task (-want +got):\n%s", diff)
			}
			if seen.Operation != policy.RecordUsage || !seen.Now.Equal(noon) || seen.Budget.Cost.Used != 500_000 {
				t.Errorf("%s at %s of %+v", seen.Operation, seen.Now, seen.Budget.Cost)
			}
		})
	}
}

func TestLabelRecordPutsOnNothingThatIsThere(t *testing.T) {
	stored := budget.NewTaskRecord(finished(t, nil))
	v := policy.Verdict{Labels: map[string]string{"user": "u2", "size": "large"}}
	if diff := cmp.Diff([]string{"user"}, budget.LabelRecord(stored, v)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"user": "u1", "size": "large"}, stored.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"user": "u1"}, stored.Spec.TaskLabels); diff != "" {
		t.Errorf("what decides where spend counts changed (-want +got):\n%s", diff)
	}
	stored.Labels = nil
	if kept := budget.LabelRecord(stored, v); kept != nil || len(stored.Labels) != 2 {
		t.Errorf("%v, %v", kept, stored.Labels)
	}
	if kept := budget.LabelRecord(stored, v); kept != nil {
		t.Errorf("a label that says the same already is kept: %v", kept)
	}
}

func TestPodCapsComeFromTheHostAndItsBudgets(t *testing.T) {
	v := policy.Pass()
	v.Caps.CPUMilli = new(int64(500))
	in := ask("new", compiled(t, daily(nil)))
	in.Ledger = usage.NewMemory()
	r := reviewer(t, says(v, nil), budget.ReviewerOptions{})
	if got := r.Pod(t.Context(), in, budget.Subject{}); !got.Allowed() || *got.Caps.CPUMilli != 500 {
		t.Errorf("%+v", got)
	}
	if got := r.Pod(t.Context(), budget.Input{}, budget.Subject{}); got.Allowed() || got.Reasons[0].Code != policy.CodeInvalidInput {
		t.Errorf("without an instant: %+v", got)
	}
	rule, _ := budget.Compile(withPolicies(denying("true")), budget.WithPolicies(engine))
	in.Rules = append(in.Rules, rule)
	if got := r.Pod(t.Context(), in, budget.Subject{}); got.Allowed() {
		t.Errorf("a budget's policy that denies: %+v", got)
	}
	spend(t, in.Ledger.(*usage.Memory), "other", "1") //nolint:forcetypeassert,errcheck // it is one
	in.Rules = in.Rules[:1]
	if got := r.Pod(t.Context(), in, budget.Subject{}); !got.Allowed() {
		t.Errorf("a budget that is spent does not size pods: %+v", got)
	}
}

func TestExplainWhatPoliciesSay(t *testing.T) {
	v := policy.HoldFor(90*time.Second, "night", "tasks start by day")
	v.Warnings = []policy.Reason{{Code: "dear", Message: "opus is dear"}}
	v.Caps = policy.Caps{MaxTokens: new(int64(1)), MaxCostMicros: new(int64(2)), CPUMilli: new(int64(3)), MemoryBytes: new(int64(4)), DeadlineSeconds: new(int64(5))}
	v.Labels = map[string]string{"size": "large"}
	set, err := policy.NewSet(policy.Options{},
		policy.Binding{Hook: says(v, nil)},
		policy.Binding{Hook: policy.Func("broken", func(context.Context, *policy.Input) (policy.Verdict, error) {
			return policy.Pass(), &policy.Fault{Code: policy.CodePolicyError, Rule: "r", Err: errors.New("division by zero")}
		}), Enforcement: policy.Warn},
		policy.Binding{Hook: policy.Func("trial", func(context.Context, *policy.Input) (policy.Verdict, error) {
			return policy.Refuse("t", "not yet"), nil
		}), Enforcement: policy.DryRun})
	if err != nil {
		t.Fatal(err)
	}
	in := ask("new", compiled(t, daily(nil)))
	in.Ledger = usage.NewMemory()
	d := reviewer(t, set, budget.ReviewerOptions{}).Admit(t.Context(), in, budget.Subject{})
	want := `Task in "team-a" (uid "new") at 2026-03-08T04:30:00Z: refused
  The budgets have room, and policies want to be asked again at 2026-03-08T04:31:30Z.

  TaskBudget team-a/daily has room
    Daily from 00:00 UTC, window [2026-03-08T00:00:00Z, 2026-03-09T00:00:00Z)
      meter  used  held  estimate  limit  remaining  unknown
    costUSD     0     0       0.3      1          1        0

  Policies hold off
    Policy host holds off: tasks start by day (night)
    Policy broken warns: policy "broken" could not be evaluated (policy-error)
    Policy host warns: opus is dear (dear)
    in dry run: Policy trial denies: not yet (t)
    ask again after 1m30s
    caps cost in micro-USD at 2
    caps tokens at 1
    caps cpu in millicores at 3
    caps memory in bytes at 4
    caps seconds until its deadline at 5
    labels: size=large
    error of Policy broken: r: division by zero
    revision ` + set.Revision() + "\n"
	if diff := cmp.Diff(want, d.Explain()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	data, err := json.Marshal(d)
	var told struct {
		Reason, Message string
		Policy          policy.Verdict
	}
	if err != nil || json.Unmarshal(data, &told) != nil || told.Reason != "PolicyHold" || told.Policy.Outcome != policy.Hold ||
		*told.Policy.Caps.MaxCostMicros != 2 || told.Policy.Reasons[0].Code != "night" {
		t.Errorf("%s, %v", data, err)
	}
	denied := reviewer(t, says(policy.Refuse("no", "never"), nil), budget.ReviewerOptions{}).Admit(t.Context(), in, budget.Subject{})
	if text := denied.Explain(); !strings.Contains(text, "\n  The budgets have room, and policies refuse.\n") || !strings.Contains(text, "\n  Policies deny\n") {
		t.Error(text)
	}
}

// A message is bounded, whatever policies say.
func TestMessageOfPoliciesIsBounded(t *testing.T) {
	v := policy.Verdict{}
	for i := range 40 {
		v.Reasons = append(v.Reasons, policy.Reason{Code: "c", Message: strings.Repeat("ü", i+400)})
	}
	in := ask("new", compiled(t, daily(nil)))
	in.Ledger = usage.NewMemory()
	d := reviewer(t, says(v, nil), budget.ReviewerOptions{}).Admit(t.Context(), in, budget.Subject{})
	if len(d.Message()) > 4096 || d.Policy.Omitted != 24 {
		t.Errorf("%d bytes, %d omitted", len(d.Message()), d.Policy.Omitted)
	}
	v.Reasons = v.Reasons[:20]
	for i := range v.Reasons {
		v.Reasons[i].Message = strings.Repeat("m", i+1)
	}
	d = reviewer(t, says(v, nil), budget.ReviewerOptions{}).Admit(t.Context(), in, budget.Subject{})
	if !strings.HasSuffix(d.Message(), "; and 4 more reasons and warnings") {
		t.Error(d.Message())
	}
}
