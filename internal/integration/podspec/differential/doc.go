// Package differential holds the differential test of podspec: random pods in random namespaces, predicted and then sent
// to a real API server as a dry-run create. It has no code of its own.
//
// Compared are the class of the verdict, every amount after defaulting, the QoS class, the overhead, the figures in every
// refusal, and, for one pod of each namespace that is really created, what it adds to the usage of the quotas. `make test`
// runs a fixed corpus of 2,000 pods; `make differential` runs more of them, and against older versions of Kubernetes, which
// the API server emulates:
//
//	BURSAR_PODS      how many pods (2000)
//	BURSAR_SEED      which pods (1)
//	BURSAR_MINOR     the minor version to emulate (that of the binary)
//	BURSAR_FAILURES  a folder for pods on which podspec and the server disagree, in the format of podspec/testdata/worlds, in
//	                 which they replay without a server
//
// Nobody counts quotas here but the test: it writes their status itself, so that usage can be any number.
package differential
