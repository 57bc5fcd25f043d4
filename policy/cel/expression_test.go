package cel_test

import (
	"testing"

	"github.com/bursar-dev/bursar/policy/cel"
)

func TestExpressions(t *testing.T) {
	tests := map[string]string{ // every expression must be true of the base input
		"a string field":                 `task.model == "opus"`,
		"a nested number":                `budget.cost.used == 50000000`,
		"a derived share":                `budget.cost.usedPermille == 500 && budget.period.elapsedPermille == 500`,
		"a boolean":                      `estimate.known && !budget.cost.uncertain`,
		"the operation":                  `operation == "Admit" && version == "v1"`,
		"a label":                        `task.labels["team"] == "a"`,
		"a label by field":               `task.labels.team == "a"`,
		"a label that is there":          `"team" in task.labels && has(task.labels.team)`,
		"a label that is not":            `!("owner" in task.labels) && !has(task.labels.owner)`,
		"an optional label":              `task.labels[?"owner"].orValue("nobody") == "nobody"`,
		"a group":                        `"ops" in actor.groups && actor.groups.size() == 2`,
		"a group by predicate":           `actor.groups.exists(g, g.startsWith("dev"))`,
		"the hour":                       `now.getHours() == 12 && now.getDayOfWeek() == 1`,
		"the hour in a zone":             `now.getHours("Asia/Tokyo") == 21`,
		"the instant":                    `now == timestamp("2026-03-02T12:00:00Z") && nowUnixMs == 1772452800000`,
		"a duration":                     `now - timestamp("2026-03-02T00:00:00Z") == duration("12h")`,
		"all budgets":                    `budgets.all(b, b.cost.remaining > estimate.costMicros) && size(budgets) == 1`,
		"a budget by index":              `budgets[0].name == budget.name && budgets[0].period.kind == "Daily"`,
		"no meter":                       `!("gpu-seconds" in budget.meters) && budget.meters.size() == 0`,
		"no limit":                       `budget.inputTokens.unlimited && budget.inputTokens.remaining * 1000 > 0`,
		"dollars":                        `usd("12.50") == 12500000 && usd("0.000001") == 1 && usd("7") == 7000000 && usd("1.500000000") == 1500000`,
		"cores":                          `cpu("500m") == 500 && cpu("2") == 2000 && cpu("0.5") == 500`,
		"sizes":                          `bytes("4Gi") == pod.memoryBytes && bytes("1k") == 1000`,
		"shares":                         `permille(799, 1000) == 799 && permille(budget.cost.used, budget.cost.limit) == 500`,
		"money as text":                  `money(12500000) == "12.50 USD" && money(1) == "0.000001 USD" && money(-3000000) == "-3.00 USD"`,
		"text functions":                 `" A-b ".trim().lowerAscii() == "a-b" && "a,b".split(",") == ["a", "b"]`,
		"a literal pattern":              `task.name.matches("^refactor-[0-9]+$")`,
		"a pattern that counts":          `task.name.matches("[0-9]{1}$")`,
		"the greatest and the least":     `math.greatest(1, estimate.totalTokens) == 20000 && math.least(1, 2) == 1`,
		"sets":                           `sets.contains(["a", "b"], [task.labels["team"]])`,
		"numbers beyond 2^53 stay exact": `9007199254740993 != 9007199254740992`,
		"the type of a conversion":       `int("5") == 5 && string(5) == "5"`,
		"an element of another type":     `type(task.model) == string`,
		"a meter":                        `budgets.all(b, !("x" in b.meters) || b.meters["x"].used > 1)`,
		"an object through dyn":          `dyn(task).model == "opus"`,
	}
	for name, expression := range tests {
		t.Run(name, func(t *testing.T) {
			if v := ask(t, base(), compile(t, deny(expression))); codes(v) != "Deny r" {
				t.Errorf("%s: got %s, %+v", expression, codes(v), v.Errors)
			}
		})
	}
}

func TestExpressionsAreRefusedWhenLoaded(t *testing.T) {
	tests := map[string]struct{ expression, want string }{
		"a misspelt field":         {`task.modell == "a"`, `1:5: rules[0].when: rule r: undefined field 'modell'; did you mean model?`},
		"a misspelt root":          {`tsk.model == "a"`, `1:1: rules[0].when: rule r: undeclared reference to 'tsk'; did you mean task?`},
		"a string":                 {`'Submit order'`, "1:1: rules[0].when: rule r: must be bool, is string"},
		"a map":                    {`{"dney": true}`, "1:1: rules[0].when: rule r: must be bool, is map(string, bool)"},
		"a value of unknown type":  {`dyn(task.model)`, "1:1: rules[0].when: rule r: must be bool, is dyn"},
		"a number as text":         {`task.attempt == "1"`, `1:14: rules[0].when: rule r: == cannot be applied to (int, string): write a number without quotes; for quantities usd("12.50"), cpu("500m"), bytes("4Gi")`},
		"an unreadable cpu":        {`pod.cpuMilli > cpu("500x")`, `1:20: rules[0].when: rule r: cpu("500x"): is not a quantity, say "500m" or "4Gi"`},
		"a cpu that is no text":    {`pod.cpuMilli > cpu(2)`, `1:19: rules[0].when: rule r: cpu cannot be applied to (int)`},
		"an unreadable amount":     {`usd("12 USD") > 5`, `1:5: rules[0].when: rule r: usd("12 USD"): want a plain decimal, say "12.50"`},
		"an amount too fine":       {`usd("0.0000001") > 5`, `1:5: rules[0].when: rule r: usd("0.0000001"): is finer than a millionth of a dollar`},
		"a share of nothing":       {`permille(1, 0) > 5`, `1:13: rules[0].when: rule r: permille: the whole must be above 0`},
		"a pattern from the input": {`task.name.matches(task.model)`, "1:23: rules[0].when: rule r: the pattern of matches must be a literal"},
		"a broken pattern":         {`task.name.matches("(")`, "1:19: rules[0].when: rule r: invalid matches argument"},
		"a pattern too large":      {`task.name.matches("(a?){600}")`, "1:19: rules[0].when: rule r: the pattern compiles to 2402 instructions, at most 500 are allowed"},
		"a nested loop":            {`actor.groups.all(a, actor.groups.all(b, a != b))`, "1:37: rules[0].when: rule r: comprehension exceeds nesting limit"},
		"params as a whole":        {`dyn(params) == 1`, "1:5: rules[0].when: rule r: params must be followed by a name, as in params.name"},
		"a parameter not declared": {`params.max > 1`, `1:7: rules[0].when: rule r: undefined field 'max': the policy declares no such parameter`},
		"no expression":            {``, "rules[0].when: rule r: is required"},
		"broken syntax":            {"task.model ==\n  ", "2:3: rules[0].when: rule r: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := cel.Compile(deny(test.expression), cel.Options{})
			if err == nil || err.Error() != test.want {
				t.Errorf("%s\ngot  %v\nwant %s", test.expression, err, test.want)
			}
		})
	}
}
