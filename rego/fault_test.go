package rego_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/rego"
)

// The tests of this file replay faults that were seen in the field in other
// policy engines' embedders.

func TestAMalformedAnswerDenies(t *testing.T) {
	tests := map[string]struct{ rule, want, detail string }{
		"a number in deny":           {`deny contains 7`, "Deny bad-result", `deny: a member is a number: want a string or {"code": …, "msg": …}`},
		"an unknown key":             {`deny contains {"code": "a", "mesage": "b"}`, "Deny bad-result", "deny: mesage: unknown key"},
		"no message":                 {`deny contains {"code": "a"}`, "Deny bad-result", "deny: msg is missing"},
		"a code that is none":        {`deny contains {"code": "A b", "msg": "m"}`, "Deny bad-result", `deny: code: "A b": want 1 to 63 of a-z, 0-9 and -`},
		"a message that is a number": {`deny contains {"code": "a", "msg": 5}`, "Deny bad-result", "deny: msg: want string, have number"},
		"a warning that is a list":   {`warn contains ["x"]`, "Deny bad-result", `warn: a member is an array: want a string or {"code": …, "msg": …}`},
		"a retry in a deny":          {`deny contains {"msg": "m", "retryAfterSeconds": 5}`, "Deny bad-result", "deny: retryAfterSeconds: unknown key"},
		"a retry in the past":        {`hold contains {"msg": "m", "retryAfterSeconds": -5}`, "Deny bad-result", "hold: retryAfterSeconds: -5 is not between 0 and 31622400"},
		"a negative cap":             {`cap contains {"field": "maxTokens", "value": -1}`, "Deny bad-result", "cap: cap maxTokens: -1 is negative"},
		"a fractional cap":           {`cap contains {"field": "maxTokens", "value": 1.5}`, "Deny bad-result", "cap: value: 1.5 is not a whole number of 64 bits"},
		"a cap of nothing known":     {`cap contains {"field": "tokens", "value": 1}`, "Deny bad-result", `cap: cap "tokens": not one of`},
		"a cap without value":        {`cap contains {"field": "maxTokens"}`, "Deny bad-result", "cap: field and value are required"},
		"a bad label":                {`label contains {"key": "a b", "value": "c"}`, "Deny bad-result", `label: "a b": "c" is not a valid label`},
		"two values of a label":      {"label contains {\"key\": \"a\", \"value\": \"b\"}\nlabel contains {\"key\": \"a\", \"value\": \"c\"}", "Deny bad-result", `label: a is set to "b" and "c"`},
		"too many members":           {`deny contains sprintf("%d", [x]) if some x in numbers.range(1, 65)`, "Deny bad-result", "deny: 65 members, at most 64 are allowed"},
		"a good member beside it":    {"deny contains 7\ndeny contains {\"code\": \"a\", \"msg\": \"m\"}", "Deny a bad-result", "deny: a member is a number"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := ask(t, base(), compile(t, test.rule))
			if codes(v) != test.want || v.Reasons[0].Policy != "p" || !strings.Contains(v.Errors[0].Message, test.detail) {
				t.Errorf("got %s, %+v", codes(v), v.Errors)
			}
		})
	}
}

func TestAFailingBuiltInDenies(t *testing.T) {
	for name, body := range map[string]string{
		"text that is no number":     `to_number("12 USD") > 5`,
		"a division by zero":         `100 / (input.task.attempt - 1) > 5`,
		"a remainder by zero":        `5 % (input.task.attempt - 1) == 1`,
		"a zone that does not exist": `time.clock([input.nowUnixMs, "Nowhere/Here"])[0] > 5`,
		"units that are none":        `units.parse_bytes("12 apples") > 5`,
		"a range over a fraction":    `count(numbers.range(1, 2.5)) > 5`,
	} {
		t.Run(name, func(t *testing.T) {
			v := ask(t, base(), compile(t, deny(body)))
			if codes(v) != "Deny policy-error" || !strings.Contains(v.Errors[0].Message, "p.rego:2:") {
				t.Errorf("got %s, %+v", codes(v), v.Errors)
			}
		})
	}
}

func TestALargeNumberStaysExact(t *testing.T) {
	in := base()
	in.Budgets[0].Cost = policy.Limited(9007199254740993, 9007199254740993, 0)
	in = in.Complete()
	if v := ask(t, in, compile(t, deny(`input.budget.cost.used == 9007199254740993`))); codes(v) != "Deny r" {
		t.Errorf("got %s", codes(v))
	}
	h, err := rego.Compile(map[string]string{"p.rego": "# METADATA\n# custom:\n#   params:\n#     max: {type: int}\npackage bursar.p\n" +
		deny("input.budget.cost.used == data.params.max")}, rego.Options{Params: map[string]map[string]any{"p": {"max": int64(9007199254740993)}}})
	if err != nil {
		t.Fatal(err)
	}
	if v := ask(t, in, h); codes(v) != "Deny r" {
		t.Errorf("as a parameter: got %s", codes(v))
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

func TestHostilePoliciesEndInTime(t *testing.T) {
	tests := map[string]string{
		"a loop in a loop in a loop": deny(`some a in numbers.range(1, 900); some b in numbers.range(1, 900); some c in numbers.range(1, 900); (a + b) + c == 0`),
		"a range without end":        deny(`count(numbers.range(1, 1000000000)) == 5`),
		"text of a range":            deny(`count(concat("", [s | some x in numbers.range(1, 100000); s := sprintf("%d", [x])])) == 5`),
		"every number divides":       deny(`every x in numbers.range(1, 200000) { x % 1 == 0 }; false`),
	}
	for name, rule := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rego.Compile(map[string]string{"p.rego": "package bursar.p\n" + rule}, rego.Options{})
			if want := "policy p cannot be evaluated for a usual task that wants to start: more than 50000 steps"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("at load: got %v", err)
			}
			h := compile(t, rule)
			set, err := policy.NewSet(policy.Options{}, policy.Binding{Hook: h})
			if err != nil {
				t.Fatal(err)
			}
			in := base()
			start := time.Now()
			v, err := set.Evaluate(t.Context(), &in)
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %s", took)
			}
			if c := codes(v); err != nil || c != "Deny policy-cost" && c != "Deny policy-timeout" {
				t.Errorf("got %s, %v", c, err)
			}
		})
	}
}

func TestTextThatDoublesIsStopped(t *testing.T) {
	chain := func(levels int, first, next string) string {
		var b strings.Builder
		b.WriteString("x0 := " + first + "\n")
		for i := 1; i <= levels; i++ {
			b.WriteString(fmt.Sprintf("x%d := ", i) + strings.ReplaceAll(next, "PREV", fmt.Sprintf("x%d", i-1)) + "\n")
		}
		return b.String() + deny(fmt.Sprintf(`x%d == "x"`, levels))
	}
	tests := map[string]string{
		"joined text":           chain(12, "input.task.name", `concat("", [PREV, PREV, PREV])`),
		"formatted text":        chain(12, "input.task.name", `sprintf("%s%s%s", [PREV, PREV, PREV])`),
		"numbers":               strings.ReplaceAll(chain(60, "input.nowUnixMs", "PREV * PREV"), `"x"`, "5"),
		"copies of a long text": `long := concat("", [input.task.name | some x in numbers.range(1, 5000)])` + "\n" + deny(`count({y | some x in numbers.range(1, 9000); y := upper(substring(long, x, -1))}) == 5`),
		"pieces of a long text": `long := concat("", [input.task.name | some x in numbers.range(1, 9000)])` + "\n" + deny(`count(split(long, "")) == 5`),
	}
	for name, rules := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rego.Compile(map[string]string{"p.rego": "package bursar.p\n" + rules}, rego.Options{})
			if want := "more than 4194304 bytes of text"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("at load: got %v", err)
			}
			h := compile(t, rules)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			v := ask(t, base(), h)
			runtime.ReadMemStats(&after)
			if codes(v) != "Deny policy-cost" || !strings.Contains(v.Errors[0].Message, "bytes of text") {
				t.Errorf("got %s, %+v", codes(v), v.Errors)
			}
			if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 64 {
				t.Errorf("%d MiB were allocated", made)
			}
		})
	}
}

func TestValuesThatDoubleAreRefused(t *testing.T) {
	var rules strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rules, "x%d := [x%d, x%d]\n", i+1, i, i)
	}
	_, err := rego.Compile(map[string]string{"p.rego": "package bursar.p\nx0 := [input.task.name]\n" + rules.String() + deny(`count(x60) == 5`)}, rego.Options{})
	if err == nil || !strings.Contains(err.Error(), "puts values into values too many times over") {
		t.Errorf("got %v", err)
	}
}

func TestADeadlineStopsAnEvaluation(t *testing.T) {
	h, err := rego.CompileUntried(map[string]string{"p.rego": "package bursar.p\n" +
		deny(`some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a + b == 0`)}, rego.Options{Steps: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	in := base()
	start := time.Now()
	v, err := h.Evaluate(ctx, &in)
	var f *policy.Fault
	if !errors.As(err, &f) || f.Code != policy.CodePolicyTimeout || v.Allowed() {
		t.Errorf("got %+v, %v", v, err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestAHookIsSharedByManyGoroutines(t *testing.T) {
	h := compile(t, deny(`input.budget.cost.used >= input.task.attempt`))
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

func TestTwoLoadsOfOneFolderAtOnce(t *testing.T) {
	files := fstest.MapFS{"m.rego": {Data: []byte(withParams)}, "s.rego": {Data: []byte(shared)}}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := rego.Load(files, rego.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestACachedTaskIsNotMistakenForAnother(t *testing.T) {
	h := compile(t, deny(`input.task.labels.team == "b"`)+"\n"+`deny contains {"code": "spent", "msg": "m"} if input.budgets[0].cost.used > 60000000`)
	in := base()
	if v := ask(t, in, h); codes(v) != "Allow" {
		t.Fatalf("got %s", codes(v))
	}
	in.Task.Labels["team"] = "b" // the same UID and the same map, changed in place
	if v := ask(t, in, h); codes(v) != "Deny r" {
		t.Errorf("another label: got %s", codes(v))
	}
	in.Budgets[0].Cost = policy.Limited(100_000_000, 70_000_000, 0)
	in = in.Complete()
	if v := ask(t, in, h); codes(v) != "Deny r spent" {
		t.Errorf("another figure: got %s", codes(v))
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	h := compile(t, deny(`input.task.uid == "u-7"`))
	for i := range 2000 {
		in := base()
		in.Task.UID = fmt.Sprint("u-", i)
		in.Budgets[0].Name = fmt.Sprint("b-", i)
		in = in.Complete()
		if v := ask(t, in, h); v.Allowed() == (i == 7) {
			t.Fatalf("task %d: got %s", i, codes(v))
		}
	}
	if tasks, budgets := rego.Cached(h); tasks > 256 || budgets > 256 {
		t.Errorf("%d tasks and %d budgets are cached", tasks, budgets)
	}
}
