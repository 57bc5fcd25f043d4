// Package rego evaluates policies that are written in Rego, the language of the
// Open Policy Agent.
//
//	hooks, err := rego.Load(os.DirFS("policies"), rego.Options{})
//	set, err := policy.NewSet(policy.Options{}, policy.Binding{Hook: hooks[0]})
//
// A policy is a package under bursar that defines one or more of these sets:
//
//	package bursar.models
//
//	deny contains {"code": "opus-budget", "msg": "opus starts only below 80%"} if {
//		startswith(input.task.model, "opus")
//		input.budget.cost.usedPermille >= 800
//	}
//
// The sets and their members:
//
//	deny   {"code", "msg"}, or a string
//	warn   {"code", "msg"}, or a string
//	hold   {"code", "msg", "retryAfterSeconds"}, or a string
//	cap    {"field": "maxTokens", "value": n}
//	label  {"key", "value"}
//
// A string is the message; its code is then denied, warning or held.
//
// A package without any of them is a helper of the others. Packages under
// bursar.lib come with this package (Library); they are loaded when they are
// imported. Parameters are declared in the metadata of the package, and read as
// data.params.NAME:
//
//	# METADATA
//	# custom:
//	#   params:
//	#     ceiling: {type: int, default: 800}
//	package bursar.models
//
// Laws:
//
//   - Everything that can be is checked when it is loaded: the kind of each set,
//     fields of the input against its schema, references to data that does not
//     exist, rules that nothing uses (a misspelt deny), built-in functions
//     outside an allowlist, patterns that are no literals, an operation that
//     there is none of.
//
//   - A rule does not fall silent because the input lacks a label, an
//     annotation, a fact, a meter or a member of a list: in Rego all that reads
//     it is undefined, and a deny would allow. A member of a set that is made of
//     it, and a comparison of it by !=, are refused when they are loaded, unless
//     a condition of the rule mentions it, it is read with object.get, or
//     another rule answers where it is missing. What happens within
//     comprehensions and behind not is left to the author.
//
//   - A built-in that fails is an error, and an error denies; in Rego by itself
//     it would be undefined, and the rule silent.
//
//   - Every evaluation has a budget of steps and heeds its context. There is no
//     clock, network, environment or chance.
//
//   - There are no built-ins of our own: opa check, opa test and regal lint work
//     on a policy as it stands, with schemas/input.json, capabilities.json and
//     .regal/config.yaml of this package.
//
//   - What an evaluation makes is bounded, too: the built-ins that make text or
//     long numbers are charged for their operands, 4 MiB in all, and rules that
//     put values into values again and again are refused when they are loaded.
//     Within compiled rules these built-ins are called through a meter of this
//     package; policies know only the built-ins of OPA.
//
// What it does not do: it fetches no bundles and verifies no signatures. Its
// bound on memory is not exact: 50 000 steps may each make a small value, and
// nested comprehensions can multiply sizes before a step is counted. Review
// policies before they are loaded.
package rego

//go:generate go run ../internal/capsgen/cmd/capsgen .
