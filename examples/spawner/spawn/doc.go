// Package spawn is the heart of the spawner: a service that runs workloads as bare pods in one namespace, each of the size of
// its profile. Read spawner.go first.
//
// It keeps no state of its own. A pod's name follows from its workload, its labels say which workload it is, and so a
// spawner that was restarted, or two that run at once, find and share the same pods.
package spawn
