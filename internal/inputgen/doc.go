// Package inputgen holds the one table that describes the document a policy
// sees, and renders from it everything that must agree about that document:
//
//	policy/input_gen.go       the Go structs and their checks
//	policy/cel/fields_gen.go  the CEL types, their getters and size bounds
//	rego/terms_gen.go         the builders of the Rego input
//	rego/schemas/input.json   the JSON schema that `opa check -s` reads
//	policy/INPUT.md           the reference page
//
// The files are committed; `go generate ./policy` writes them anew. A test
// renders them in memory and fails when a committed file differs, and another
// walks the Go struct by reflection and compares it with the table, so that a
// hand edit on either side is found.
//
// To add a field: add a row to the table, generate, and set the field where
// the host builds its input. Fields are never renamed or removed within a
// version: authors' policies name them.
package inputgen
