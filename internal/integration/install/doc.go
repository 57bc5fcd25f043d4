// Package install tests on a real API server how bursar comes onto a cluster: the CRDs, over older ones and beside other
// managers, and the webhook. It has no code of its own.
package install
