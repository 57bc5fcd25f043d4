package cel_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

// FuzzExpression compiles anything; what compiles is evaluated twice: no
// panic, the same verdict, and the input unchanged.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`task.model == "opus"`, `actor.groups.exists(g, g == "x")`, `task.labels[?"x"].orValue("") == ""`, `usd("1.5") > 2`,
		`task.name.matches("(a{3})+")`, `budgets.all(b, b.cost.used > 1)`, `bursar.Task{}`, `variables`, `now.getHours("UTC") > 1`,
		`[[1], [2]].map(x, x[0]) == [1, 2]`, `{"a": 1}.a == 1`, `"\uD800" == b"\xff"`, `1 / 0 == 1 || true`, `dyn(task) == dyn(budget)`,
	} {
		f.Add(seed)
	}
	in := base()
	before := in.Clone()
	f.Fuzz(func(t *testing.T, expression string) {
		h, err := cel.Compile(deny(expression), cel.Options{})
		if err != nil {
			return
		}
		first, err1 := h.Evaluate(t.Context(), &in)
		second, err2 := h.Evaluate(t.Context(), &in)
		if diff := cmp.Diff(first, second); diff != "" || (err1 == nil) != (err2 == nil) {
			t.Errorf("%s: not deterministic:\n%s%v, %v", expression, diff, err1, err2)
		}
		if diff := cmp.Diff(*before, in); diff != "" {
			t.Fatalf("%s: changed the input:\n%s", expression, diff)
		}
	})
}

// FuzzInput evaluates a policy on any input: no panic, and an input that is
// refused is never admitted.
func FuzzInput(f *testing.F) {
	h, err := cel.Load("sample.yaml", []byte(sample), cel.Options{})
	if err != nil {
		f.Fatal(err)
	}
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
