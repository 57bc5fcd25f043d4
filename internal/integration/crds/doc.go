// Package crds tests the custom resources on a real API server: what its schemas and CEL rules refuse, in which words, and
// where that differs from what budget.Compile says. It has no code of its own.
package crds
