// Package tasks is a controller of AgentTasks whose spending bursar governs: the part of taskcontroller to read, and to copy
// from.
//
// What bursar adds to a controller is marked with "bursar:" in host.go, setup.go and reconciler.go, some 20 lines beside the
// description of the task. The rest is what any such controller has: a reconciler ([Reconciler]), a [Producer] that makes
// tasks, and workers that do them ([Workers], with an [Agent] that only pretends to).
package tasks
