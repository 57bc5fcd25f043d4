// Package capacity holds the test of podspec.NodeRoom against the real kube-scheduler: random fake nodes with pods on them, and
// pods of one shape until no more are bound. It has no code of its own.
//
//	BURSAR_WORLDS    how many clusters (48)
//	BURSAR_SEED      which ones (1)
package capacity
