// Package v1alpha1 holds the custom resources of a host that does not exist: AgentTask, a piece of work for an agent;
// WorkerPool, who does the work; TaskProducer, which makes tasks. They stand for yours. Nothing in them is bursar's but the
// type of the conditions, which any host has.
//
// +kubebuilder:object:generate=true
// +groupName=example.bursar.dev
package v1alpha1
