// Package live connects package podspec with a cluster: it reads the snapshot that a prediction needs, asks the API server
// itself by a dry run, and creates pods of deterministic names without burning quota.
//
//	reader, err := live.NewReader(config, client)
//	snapshot, err := reader.Read(ctx, "agents")                   // lists that are forbidden are unknown, not an error
//	prediction, err := podspec.Predict(snapshot, pod)
//	judgement, err := live.Checker{Reader: reader}.Check(ctx, pod) // prediction and dry run, and where they differ
//	created, err := live.Creator{Client: client}.Create(ctx, pod) // looks first, adopts what is there, backs off
//
// # Laws
//
//   - One thing that cannot be read makes one part of the snapshot unknown, with the reason; it never makes the reading fail,
//     and it is never taken for empty.
//   - A name is looked for before it is created, each time. The API server charges the quota before it finds that a name is
//     taken, so that whoever creates blindly fills the quota with pods that do not exist.
//   - A refusal is retried only where time alone can change it.
//
// The clients must not be caches: a cache may miss a pod that exists, and a quota that is charged already. The package keeps
// no state and starts no goroutine; its types may be used by several goroutines at once.
package live
