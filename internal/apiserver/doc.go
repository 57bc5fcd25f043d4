// Package apiserver builds the Kubernetes control plane of the integration tests from Go modules: etcd, kube-apiserver,
// kube-controller-manager and, on request, kube-scheduler. Nothing is downloaded but modules, and their checksums are in
// the repository: the folders kubernetes and etcd are modules of their own that pin the versions.
//
// A [Builder] puts the binaries into the user's cache directory, in a folder that is named after the versions, the
// platform, the Go release and a digest of the recipe, so that another clone finds them and a change of any of these
// builds anew. A binary is built aside, asked for its version, and renamed into place: what stands in the folder is
// whole. Processes that want the same binaries at once take turns.
//
// The command cmd/assets prints the folder for a shell; the tests' harness finds it with [Builder.Find].
package apiserver
