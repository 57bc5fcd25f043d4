// Package podspec holds the tests of podspec, podspec/live and examples/spawner on a real API server whose quotas are counted
// by the real controller. It has no code of its own; package differential below it holds the random pods.
package podspec
