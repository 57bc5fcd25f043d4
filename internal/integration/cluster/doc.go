// Package cluster gives a test binary a real API server: etcd and kube-apiserver through envtest, and on request
// kube-controller-manager and kube-scheduler.
//
//	var shared cluster.Cluster
//
//	func TestMain(m *testing.M) {
//		os.Exit(shared.Main(m, cluster.Options{Controllers: []string{"resourcequota-controller"}}))
//	}
//
//	func TestX(t *testing.T) {
//		namespace := shared.Namespace(t)
//		... shared.Client ...
//	}
//
// One environment serves all tests of a binary, each in a namespace of its own. The servers are children of a supervisor,
// which is the test binary run once more: it stops them when its standard input closes, so that they end with the
// tests whether these pass, panic, run out of time or are killed.
//
// The binaries come from KUBEBUILDER_ASSETS or from the cache that internal/apiserver fills (`make apiserver`).
package cluster
