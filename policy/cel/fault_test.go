package cel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

// The tests of this file replay faults that were seen in the field in other
// policy engines' embedders.

func TestAnErrorOfEvaluationDenies(t *testing.T) {
	tests := map[string]struct{ expression, want, detail string }{
		"a missing label":              {`task.labels["owner"] == "x"`, "Deny policy-error", "no such key: owner"},
		"a missing label hints at in":  {`task.labels["owner"] == "x"`, "Deny policy-error", `test with "key" in map`},
		"a division by zero":           {`100 / (task.attempt - 1) > 5`, "Deny policy-error", "division by zero"},
		"text that is no number":       {`int(task.model) > 5`, "Deny policy-error", "type conversion error"},
		"an amount that is none":       {`usd(task.model) > 5`, "Deny policy-error", `usd("opus")`},
		"an overflow":                  {`budget.inputTokens.limit * 1024 * 1024 > 0`, "Deny policy-error", "overflow"},
		"a list that is too short":     {`budgets[7].name == "x"`, "Deny policy-error", "index out of bounds"},
		"a zone that does not exist":   {`now.getHours("Nowhere/Here") > 5`, "Deny policy-error", "unknown time zone"},
		"objects compared as a whole":  {`budgets[0] == budget`, "Deny policy-error", "compare its fields"},
		"an object made by the policy": {`bursar.Task{model: "x"}.model == "x"`, "Deny policy-error", "cannot be made"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := ask(t, base(), compile(t, deny(test.expression)))
			if codes(v) != test.want || !strings.Contains(v.Errors[0].Message, test.detail) {
				t.Errorf("got %s, %+v", codes(v), v.Errors)
			}
			if strings.Contains(v.Reasons[0].Message, test.detail) {
				t.Errorf("the engine's text reached the person: %s", v.Reasons[0].Message)
			}
		})
	}
}

func TestAMalformedAnswerDenies(t *testing.T) {
	rule := func(effect policy.Effect, field, key, value, retry string) policy.Rule {
		r := policy.Rule{Name: "r", When: "true", Effect: effect, Field: field, Key: key, Value: value, RetryAfterSeconds: retry}
		if effect == policy.EffectHold {
			r.Message = "m"
		}
		return r
	}
	tests := map[string]struct {
		rules  []policy.Rule
		detail string
	}{
		"a negative cap":        {[]policy.Rule{rule("cap", "maxTokens", "", "0 - task.attempt", "")}, "cap maxTokens: -1 is negative"},
		"a retry in the past":   {[]policy.Rule{rule("hold", "", "", "", "0 - task.attempt")}, "retryAfterSeconds: -1 is not between 0 and 31622400"},
		"a bad label":           {[]policy.Rule{rule("label", "", "k", `"a b"`, "")}, `label k: "a b" is not a valid label value`},
		"two values of a label": {[]policy.Rule{rule("label", "", "k", `"a"`, ""), {Name: "s", When: "true", Effect: "label", Key: "k", Value: `"b"`}}, `label k: two rules set it to "a" and "b"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := ask(t, base(), compile(t, cel.Policy{Name: "p", Rules: test.rules}))
			if v.Outcome != policy.Deny || v.Errors[0].Code != policy.CodeBadResult || !strings.Contains(v.Errors[0].Message, test.detail) {
				t.Errorf("got %s, %+v", codes(v), v.Errors)
			}
		})
	}
}

func TestALargeNumberStaysExact(t *testing.T) {
	in := base()
	in.Budgets[0].Cost = policy.Limited(9007199254740993, 9007199254740993, 0)
	in = in.Complete()
	if v := ask(t, in, compile(t, deny(`budget.cost.used == 9007199254740993`))); codes(v) != "Deny r" {
		t.Errorf("got %s", codes(v))
	}
}

func TestACancelledContextNeverAdmits(t *testing.T) {
	h := compile(t, deny("false"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := base()
	if v, err := h.Evaluate(ctx, &in); !errors.Is(err, context.Canceled) || v.Allowed() {
		t.Errorf("got %+v, %v", v, err)
	}
}

func TestAPolicyWhoseMatchExcludesTheCallIsSkipped(t *testing.T) {
	p := deny("true")
	p.Rules[0].Match.Models = []string{"haiku"}
	want := policy.Verdict{Outcome: policy.Allow, Skipped: []policy.Skip{{Policy: "p", Why: "no rule matches"}}}
	if diff := cmp.Diff(want, ask(t, base(), compile(t, p))); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
}

func TestFunctionsOutsideTheSandboxDoNotExist(t *testing.T) {
	for _, e := range []string{
		`http.get("x") == ""`, `env("HOME") == ""`, `timestamp() > now`, `random() > 1`, `quantity("1") == 1`,
		`authorizer.allowed()`, `"%s".format(["x"]) == ""`, `"x".replace("x", "y") == ""`, `[1].join() == ""`, `lists.range(1000000).size() > 1`,
	} {
		if _, err := cel.Compile(deny(e), cel.Options{}); err == nil {
			t.Errorf("%s was accepted", e)
		}
	}
}

func TestHostilePoliciesEndInTime(t *testing.T) {
	long := strings.Repeat("a", policy.MaxString)
	in := base()
	in.Task.Labels = map[string]string{}
	for i := range policy.MaxTaskLabels {
		in.Task.Labels[fmt.Sprint("k", i)] = long
	}
	in.Task.Name = long
	variables := []policy.Variable{{Name: "v0", Expression: "task.name"}}
	for i := 1; i < 40; i++ {
		variables = append(variables, policy.Variable{Name: fmt.Sprint("v", i), Expression: fmt.Sprintf("variables.v%d + variables.v%d", i-1, i-1)})
	}
	loop := `task.labels.exists(k, task.labels[k].matches("^(a?){80}(a+)+(a|b|c)*$") && task.labels[k].contains(task.name + "b"))`
	many := cel.Policy{Name: "many"}
	for i := range 500 {
		many.Rules = append(many.Rules, policy.Rule{Name: fmt.Sprint("r", i), When: loop, Effect: policy.EffectDeny, Message: "m"})
	}
	tests := map[string]struct {
		policy cel.Policy
		want   string
	}{
		"text that doubles forty times": {cel.Policy{Name: "p", Variables: variables, Rules: []policy.Rule{
			{Name: "r", When: "variables.v39 == ''", Effect: policy.EffectDeny, Message: "m"},
		}}, "Deny policy-cost"},
		"a dear pattern on all labels":  {deny(loop), "Deny policy-cost"},
		"five hundred of them":          {many, "Deny policy-cost"},
		"every letter against patterns": {deny(`task.name.split("").all(c, task.name.matches("^(a|aa|aaa|aaaa|aaaaa)+$"))`), "Deny policy-cost"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := compile(t, test.policy)
			set, err := policy.NewSet(policy.Options{}, policy.Binding{Hook: h})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			v, err := set.Evaluate(t.Context(), &in)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %s", took)
			} else {
				t.Logf("took %s", took)
			}
			if v.Outcome != policy.Deny || len(v.Errors) == 0 {
				t.Fatalf("got %+v", v)
			}
			for _, e := range v.Errors {
				if e.Code != policy.CodePolicyCost && e.Code != policy.CodePolicyTimeout {
					t.Errorf("got %+v", e)
				}
			}
		})
	}
}

func TestTheCostOfAllRulesTogetherIsLimited(t *testing.T) {
	in := base()
	in.Task.Name = strings.Repeat("a", policy.MaxString)
	p := cel.Policy{Name: "p"}
	for i := range 60 {
		p.Rules = append(p.Rules, policy.Rule{
			Name: fmt.Sprint("r", i), When: `task.name.split("").all(c, task.name.startsWith(c)) && false`, Effect: policy.EffectDeny, Message: "m",
		})
	}
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, policy.Binding{Hook: compile(t, p)})
	if err != nil {
		t.Fatal(err)
	}
	v, err := set.Evaluate(t.Context(), &in)
	if err != nil || v.Outcome != policy.Deny || v.Reasons[0].Code != policy.CodePolicyCost || !strings.Contains(v.Errors[0].Message, "cost is above 300000") {
		t.Errorf("got %s %+v, %v", v.Outcome, v.Errors[:min(2, len(v.Errors))], err)
	}
}

func TestAHookIsSharedByManyGoroutines(t *testing.T) {
	h, err := cel.Load("sample.yaml", []byte(sample), cel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := base()
	before := in.Clone()
	want, err := h.Evaluate(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				got, err := h.Evaluate(t.Context(), &in)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("verdict (-want +got):\n%s%v", diff, err)
					return
				}
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff(*before, in); diff != "" {
		t.Errorf("the input changed (-before +after):\n%s", diff)
	}
}

func TestQuantitiesAreNotShared(t *testing.T) {
	h := compile(t, deny(`cpu("100000000000000.5") > cpu("5") && bytes("5") < bytes("1.5")`))
	in := base()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				if v, err := h.Evaluate(t.Context(), &in); err != nil || !v.Allowed() {
					t.Errorf("got %+v, %v", v, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestTwoLoadsOfOneFolderAtOnce(t *testing.T) {
	files := fstest.MapFS{"p.yaml": {Data: []byte(sample)}}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := cel.LoadFS(files, cel.FolderOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A reload with a parameter of another type, or of a folder that is not the
// pinned one, keeps what is in force.
func TestABadReloadKeepsTheLastGoodPolicy(t *testing.T) {
	files := fstest.MapFS{"p.yaml": {Data: []byte("params: {max: {type: int}}\nrules:\n- {name: r, when: task.attempt > params.max, effect: deny, message: m}\n")}}
	pin := policy.Digest(map[string][]byte{"p.yaml": files["p.yaml"].Data})
	load := func(value any, pin string) func() (*policy.Set, error) {
		return func() (*policy.Set, error) {
			hooks, err := cel.LoadFS(files, cel.FolderOptions{Params: map[string]map[string]any{"p": {"max": value}}, SHA256: pin})
			if err != nil {
				return nil, err
			}
			return policy.NewSet(policy.Options{Timeout: time.Minute}, policy.Binding{Hook: hooks[0]})
		}
	}
	var h policy.Holder
	in := base()
	if err := h.Reload(in.Now, load(0, pin)); err != nil {
		t.Fatal(err)
	}
	good := h.Revision()
	if err := h.Reload(in.Now, load("abc", pin)); err == nil || !strings.Contains(err.Error(), `parameter max: want int, have the text "abc"`) {
		t.Errorf("a parameter of text: got %v", err)
	}
	if err := h.Reload(in.Now, load(9, strings.Repeat("0", 64))); err == nil || !strings.Contains(err.Error(), "the policies have the digest") {
		t.Errorf("another digest: got %v", err)
	}
	v, err := h.Evaluate(t.Context(), &in)
	if err != nil || codes(v) != "Deny r" || v.Revision != good || !h.Status().Stale {
		t.Errorf("got %s, %+v, %v", codes(v), h.Status(), err)
	}
}

// The worst cost that is computed when a policy is loaded is not exceeded by
// the greatest input that is accepted.
func TestTheWorstCostIsAnUpperBound(t *testing.T) {
	long := strings.Repeat("a", policy.MaxString)
	in := base()
	in.Task.Name, in.Task.Model, in.Task.Labels, in.Facts = long, long, map[string]string{"cpu": "1"}, map[string]string{}
	in.Actor.Groups = nil
	for i := range policy.MaxTaskLabels - 1 {
		in.Task.Labels[fmt.Sprintf("%s%02d", long[2:], i)] = long
	}
	for range policy.MaxActorGroups {
		in.Actor.Groups = append(in.Actor.Groups, long)
	}
	for len(in.Budgets) < policy.MaxBudgets {
		in.Budgets = append(in.Budgets, in.Budgets[0])
	}
	in = in.Complete()
	if err := in.Check(); err != nil {
		t.Fatal(err)
	}
	for _, e := range []string{
		`task.name == task.model`, `task.labels.all(k, task.labels[k] != "" || k.size() > 5)`, `"ops" in actor.groups`,
		`actor.groups.all(g, g.startsWith(task.name))`, `budgets.all(b, b.cost.remaining > estimate.costMicros && b.name != "")`,
		`task.name.matches("^(a|b)*(a+)c$")`, `now.getHours("Asia/Tokyo") > 40`, `task.name.split("").size() > 5000`,
		`sets.contains(actor.groups, ["x"])`, `cpu(task.labels["cpu"]) > 4000`, `task.name + task.model == "x"`, `task.name.lowerAscii().trim() == "b"`,
		`task.labels[?"owner"].orValue("nobody") == task.name`, `money(budget.cost.used) == task.name`, `task.name.contains("aab")`,
	} {
		worst, actual, err := cel.Costs(compile(t, deny(e)), &in)
		if err != nil {
			t.Errorf("%s: %v", e, err)
		}
		if actual > worst {
			t.Errorf("%s: cost %d, but at most %d was computed", e, actual, worst)
		}
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	many := cel.Policy{Name: "p", Rules: make([]policy.Rule, 501)}
	if _, err := cel.Compile(many, cel.Options{}); err == nil || !strings.Contains(err.Error(), "501 rules, at most 500 are allowed") {
		t.Errorf("rules: got %v", err)
	}
	if _, err := cel.Load("f", make([]byte, 257<<10), cel.Options{}); err == nil || !strings.Contains(err.Error(), "at most 262144 are allowed") {
		t.Errorf("source: got %v", err)
	}
	if _, err := cel.Compile(deny(`"`+strings.Repeat("x", 5000)+`" == ""`), cel.Options{}); err == nil || !strings.Contains(err.Error(), "expression code point size exceeds limit") {
		t.Errorf("expression: got %v", err)
	}
	if _, err := cel.Compile(deny(strings.Repeat("(", 100)+"true"+strings.Repeat(")", 100)), cel.Options{}); err == nil {
		t.Error("a deep expression was accepted")
	}
	if _, err := cel.Compile(deny("1 == 1"+strings.Repeat(" && 1 == 1", 300)), cel.Options{}); err == nil {
		t.Error("an expression of too many nodes was accepted")
	}
}
