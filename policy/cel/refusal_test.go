package cel_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

func TestVariablesAndNamesAreRefusedWithTheirPlace(t *testing.T) {
	many := make([]policy.Variable, 65)
	for i := range many {
		many[i] = policy.Variable{Name: fmt.Sprint("v", i), Expression: "1"}
	}
	long := strings.Repeat("é", 40)
	for name, test := range map[string]struct {
		change func(*cel.Policy)
		want   string
	}{
		"too many variables":          {func(p *cel.Policy) { p.Variables = many }, "variables: 65 variables, at most 64 are allowed"},
		"a variable without a name":   {func(p *cel.Policy) { p.Variables = many[:1:1]; p.Variables[0].Name = "" }, `variables[0].name: "": want a letter or _, then letters, digits and _`},
		"a variable with a hyphen":    {func(p *cel.Policy) { p.Variables = []policy.Variable{{Name: "a-b", Expression: "1"}} }, `variables[0].name: "a-b": want`},
		"a variable that is a digit":  {func(p *cel.Policy) { p.Variables = []policy.Variable{{Name: "1a", Expression: "1"}} }, `variables[0].name: "1a": want`},
		"a variable with a long name": {func(p *cel.Policy) { p.Variables = []policy.Variable{{Name: long, Expression: "1"}} }, `variables[0].name: "` + strings.Repeat("é", 20) + `…": want`},
		"a variable given twice": {func(p *cel.Policy) {
			p.Variables = []policy.Variable{{Name: "a", Expression: "1"}, {Name: "a", Expression: "2"}}
		}, "variables[1].name: a is given twice"},
		"a policy with a bad name":     {func(p *cel.Policy) { p.Name = "My Policy" }, `name: "My Policy": want 1 to 63 of a-z, 0-9 and -`},
		"assignment in place of ==":    {func(p *cel.Policy) { p.Rules[0].When = `task.model = "opus"` }, "equality is written =="},
		"an amount that is too large":  {func(p *cel.Policy) { p.Rules[0].When = `usd("9999999999999") > 1` }, `usd("9999999999999"): is too large`},
		"cores that are negative":      {func(p *cel.Policy) { p.Rules[0].When = `cpu("-1") > 1` }, `cpu("-1"): is negative`},
		"too many cores":               {func(p *cel.Policy) { p.Rules[0].When = `cpu("9223372036854776") > 1` }, `cpu("9223372036854776"): is too large`},
		"too many bytes":               {func(p *cel.Policy) { p.Rules[0].When = `bytes("9223372036854775807") > 1` }, `bytes("9223372036854775807"): is too large`},
		"a quantity that is too long":  {func(p *cel.Policy) { p.Rules[0].When = `bytes("` + strings.Repeat("1", 65) + `") > 1` }, `bytes("` + strings.Repeat("1", 40) + `…"): is too long`},
		"a size that is no quantity":   {func(p *cel.Policy) { p.Rules[0].When = `bytes("4 GB") > 1` }, `bytes("4 GB"): is not a quantity, say "500m" or "4Gi"`},
		"a field of an object in dyn":  {func(p *cel.Policy) { p.Rules[0].When = `dyn(task).colour == "opus"` }, `no field "colour"`},
		"a key of an object in dyn":    {func(p *cel.Policy) { p.Rules[0].When = `dyn(task)[1] == "opus"` }, "no key of type int"},
		"an object converted to text":  {func(p *cel.Policy) { p.Rules[0].When = `string(dyn(task)) == "opus"` }, "no such overload: string(bursar.Task)"},
		"a type made of another":       {func(p *cel.Policy) { p.Rules[0].When = `google.protobuf.StringValue{value: task} == "x"` }, "expected type of field 'value' is"},
		"an object of no known type":   {func(p *cel.Policy) { p.Rules[0].When = `bursar.Nothing{} == task` }, "undeclared reference to 'bursar.Nothing'"},
		"a message of a wrong type":    {func(p *cel.Policy) { p.Rules[0].Message, p.Rules[0].MessageExpression = "", "dyn(5)" }, "must be string, is dyn"},
		"a share of nothing":           {func(p *cel.Policy) { p.Rules[0].When = `permille(1, 0) > 1` }, "the whole must be above 0"},
		"a method that is not defined": {func(p *cel.Policy) { p.Rules[0].When = `task.name.reverse() == "x"` }, "reverse"},
	} {
		t.Run(name, func(t *testing.T) {
			p := deny("true")
			test.change(&p)
			_, err := cel.Compile(p, cel.Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// What holds of an object whose type the checker does not know, and at the ends
// of what numbers can say.
func TestExpressionsAtTheirEnds(t *testing.T) {
	for name, expression := range map[string]string{
		"a field through dyn is there":      `has(dyn(task).model) && !has(dyn(task).colour)`,
		"the type of an object":             `type(dyn(task)) == type(task)`,
		"a share of less than nothing":      `permille(0 - task.attempt, 1000) == 0`,
		"a share beyond what counts":        `permille(9223372036854775807, 1) == 9223372036854775807`,
		"the largest amount":                `usd("999999999999.999999") == 999999999999999999`,
		"the most cores":                    `cpu("9223372036854775") == 9223372036854775000`,
		"the actor through dyn":             `dyn(actor).groups.size() == 2 && dyn(pod).profile == pod.profile`,
		"the period of a budget":            `dyn(budget).period.kind == "Daily" && dyn(budget).cost.used == 50000000`,
		"an estimate through dyn":           `dyn(estimate).known == true`,
		"a variable of text, read as a map": `{"a": task.model}["a"] == "opus"`,
		"a list of no known type":           `[dyn(1), dyn("a"), dyn(true)].size() == 3`,
		"a comparison with null":            `dyn(null) == null`,
		"capital letters":                   `"ABCxyz".lowerAscii() == "abcxyz"`,
	} {
		t.Run(name, func(t *testing.T) {
			if v := ask(t, base(), compile(t, deny(expression))); codes(v) != "Deny r" {
				t.Errorf("%s: got %s, %+v", expression, codes(v), v.Errors)
			}
		})
	}
}

// endsAfter is a context that is cancelled once it was asked some times.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	c.left--
	if c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestAContextThatEndsMeanwhileNeverAdmits whichever question about it is the
// first that is answered with an end.
func TestAContextThatEndsMeanwhileNeverAdmits(t *testing.T) {
	loop := `task.labels.exists(k, task.labels[k].matches("^(a?){80}(a+)+(a|b|c)*$") && task.labels[k].contains(task.name + "b"))`
	h := compile(t, deny(loop))
	if !cel.Guarded(h)[0] {
		t.Fatal("the rule's cost is not watched")
	}
	in := base()
	for questions := range 3 {
		v, err := h.Evaluate(&endsAfter{t.Context(), questions}, &in)
		if err == nil || v.Allowed() && !errors.Is(err, context.Canceled) {
			t.Errorf("after %d questions: got %+v, %v", questions, v, err)
		}
	}
	if v, err := h.Evaluate(t.Context(), &in); err != nil || !v.Allowed() {
		t.Errorf("without an end: got %+v, %v", v, err)
	}
}

// TestABadInputIsNotEvaluated nor explained.
func TestABadInputIsNotEvaluated(t *testing.T) {
	in := base()
	in.Operation = "admit"
	h := compile(t, deny("false"))
	if v, err := h.Evaluate(t.Context(), &in); err == nil || v.Allowed() {
		t.Errorf("Evaluate: got %+v, %v", v, err)
	}
	if trace, err := h.Explain(t.Context(), &in); err == nil || trace.Outcome == policy.Allow {
		t.Errorf("Explain: got %+v, %v", trace, err)
	}
}

// TestExplainTellsWhatARuleDoes of each effect.
func TestExplainTellsWhatARuleDoes(t *testing.T) {
	h := compile(t, cel.Policy{Name: "p", Rules: []policy.Rule{
		{Name: "a", When: "true", Effect: policy.EffectCap, Field: "maxTokens", Value: "5"},
		{Name: "b", When: "true", Effect: policy.EffectLabel, Key: "k", Value: `"v"`},
		{Name: "c", When: "false", Effect: policy.EffectWarn, Message: "m"},
		{Name: "d", When: "true", Effect: policy.EffectHold, Message: "m", RetryAfterSeconds: "60"},
	}})
	in := base()
	trace, err := h.Explain(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range trace.Rules {
		got = append(got, fmt.Sprintf("%s %s %s", r.Rule, r.State, r.Note))
	}
	want := []string{"a matched caps maxTokens", "b matched labels k", "c not matched ", "d matched code d"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// unreadable is a folder of which something can't be read.
type unreadable struct {
	fs.FS
	name string
}

var errUnreadable = errors.New("input/output error")

func (u unreadable) Open(name string) (fs.File, error) {
	if name == u.name {
		return nil, errUnreadable
	}
	return u.FS.Open(name)
}

// TestAFolderThatCannotBeReadIsNotEmpty: it is an error that nobody can take
// for a folder without policies.
func TestAFolderThatCannotBeReadIsNotEmpty(t *testing.T) {
	folder := fstest.MapFS{"p.yaml": {Data: []byte("rules:\n- {name: r, when: 'false', effect: deny, message: m}\n")}}
	for _, name := range []string{".", "p.yaml"} {
		if hooks, err := cel.LoadFS(unreadable{folder, name}, cel.FolderOptions{}); !errors.Is(err, errUnreadable) {
			t.Errorf("%s: got %v, %v", name, hooks, err)
		}
	}
	if _, err := cel.LoadFS(folder, cel.FolderOptions{SHA256: strings.Repeat("0", 64)}); err == nil {
		t.Error("files of another digest are accepted")
	}
}
