// Package policytest runs cases against policies, the same cases against every
// engine. Cases are YAML next to the policies, in files named cases.yaml or
// ending in .cases.yaml:
//
//	policies: [policy.yaml, policy.rego]
//	params: {ceiling: 700}
//	requireCoverage: true
//	cases:
//	- name: a cheap model starts at any time
//	  set: {task.model: haiku, budget.cost.used: 95000000}
//	- name: opus does not start when 70% are used
//	  set: {budget.cost.used: 70000000}
//	  want: {outcome: Deny, codes: [opus-budget]}
//
// A case starts from Base, applies the suite's base and then its own set, and
// completes the input. In set, a key may be a path with dots; maps are merged;
// null removes a key; budget stands for the first of budgets. A case without
// want expects that nothing at all is said.
//
// From the command line, in a checkout of bursar or in a module that has this
// program as a tool (go get -tool):
//
//	go run github.com/bursar-dev/bursar/policy/policytest/cmd/policytest DIR
//
// and from a test, where package engines links CEL and Rego:
//
//	policytest.Run(t, os.DirFS("policies"), engines.Loaders())
//
// Unknown keys, suites without cases, folders without suites and policies that
// do not load are failures. This package links no engine: loaders are passed.
package policytest
