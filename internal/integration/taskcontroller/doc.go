// Package taskcontroller runs examples/taskcontroller on a real API server.
package taskcontroller
