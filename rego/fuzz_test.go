package rego_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/rego"
)

// FuzzRule compiles anything; what compiles is evaluated twice: no panic, the
// same verdict, and the input unchanged.
func FuzzRule(f *testing.F) {
	for _, seed := range []string{
		five, `deny contains 7`, `deny contains x if some x in input.actor.groups`, `cap contains {"field": "maxTokens", "value": -1}`,
		`deny contains "x" if to_number("x") > 1`, `hold contains {"msg": "m", "retryAfterSeconds": 5}`, `label contains {"key": "a", "value": "b"}`,
		`deny contains sprintf("%v", [input])`, `deny contains "x" if regex.match("(a{3})+", input.task.model)`,
	} {
		f.Add(seed)
	}
	in := base()
	before := in.Clone()
	f.Fuzz(func(t *testing.T, rules string) {
		h, err := rego.Compile(map[string]string{"p.rego": "package bursar.p\n" + rules}, rego.Options{Steps: 2000})
		if err != nil {
			return
		}
		first, err1 := h.Evaluate(t.Context(), &in)
		second, err2 := h.Evaluate(t.Context(), &in)
		if diff := cmp.Diff(first, second); diff != "" && err1 == nil && err2 == nil {
			t.Errorf("%s: not deterministic:\n%s", rules, diff)
		}
		if diff := cmp.Diff(*before, in); diff != "" {
			t.Fatalf("%s: changed the input:\n%s", rules, diff)
		}
	})
}

// FuzzInput evaluates a policy on any input: no panic, and an input that is
// refused is never admitted.
func FuzzInput(f *testing.F) {
	h := compile(f, five)
	f.Add("opus", "team", "a", int64(5), int64(10), int64(3))
	f.Add("\xff", "", "", int64(-1), int64(1)<<62, int64(1)<<62)
	f.Fuzz(func(t *testing.T, model, key, value string, attempt, limit, used int64) {
		in := base()
		in.Task.Model, in.Task.Attempt = model, attempt
		in.Task.Labels = map[string]string{key: value}
		in.Budgets[0].Cost = policy.Limited(limit, used, 0)
		in = in.Complete()
		v, err := h.Evaluate(t.Context(), &in)
		if in.Check() != nil && (err == nil || v.Allowed()) {
			t.Errorf("admitted an input that is refused: %+v", v)
		}
		if in.Check() == nil && err != nil {
			t.Errorf("%v", err)
		}
	})
}
