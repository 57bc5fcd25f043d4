// Package cel evaluates policies that are written in the Common Expression
// Language: rules in YAML files (Load), or inline as structs, as a budget
// carries them (Compile). Both pass through the same code.
//
//	hook, err := cel.Load("models.yaml", source, cel.Options{})
//	set, err := policy.NewSet(policy.Options{}, policy.Binding{Hook: hook})
//
// A policy file:
//
//	name: models
//	params:
//	  ceiling: {type: int, default: 800}
//	rules:
//	- name: opus-budget
//	  match: {models: ["opus*"]}
//	  when: budget.cost.usedPermille >= params.ceiling
//	  effect: deny
//	  message: opus starts only while less than 80% of the budget is used
//
// The variables of an expression are the roots of the input (see INPUT.md in
// package policy), params, and variables. Beside the standard functions of CEL
// there are usd, cpu, bytes, permille, money, lowerAscii, trim, split,
// math.greatest, math.least, sets.contains, sets.equivalent, sets.intersects and
// optional access (task.labels[?"team"].orValue("")).
//
// Laws:
//
//   - Everything is typed and checked when it is loaded: a misspelt field, a
//     condition that is not exactly a bool, an unknown key, a literal that its
//     function cannot read, an empty list of rules. Every fault is reported, with
//     its place.
//   - The worst cost of every expression is computed from the bounds of the
//     input. If it is small and all functions have a true cost, the expression
//     runs without accounting; otherwise it runs under a cost limit and looks at
//     the context. Both limits refuse the task when they are exceeded.
//   - An error denies. This holds for an expression as a whole: by the rules of
//     CEL, false && error is false and true || error is true, so do not rely on
//     an error inside of && and ||.
//   - A missing key of a map is an error: write "team" in task.labels first, or
//     task.labels[?"team"].orValue("").
//
// What it does not do: no clock, network, file, random or environment function
// exists; comprehensions do not nest; regular expressions are literals; no
// exported name mentions a type of the CEL library.
package cel
