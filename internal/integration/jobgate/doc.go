// Package jobgate runs examples/jobgate on a real API server, with the Job controller. There is no kubelet: the tests write
// what it would write into the status of pods.
package jobgate
