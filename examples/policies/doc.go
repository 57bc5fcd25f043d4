// Package policies holds eight policies in CEL and in Rego, and their cases.
// It has no code besides tests; README.md is the guide for policy authors.
package policies
