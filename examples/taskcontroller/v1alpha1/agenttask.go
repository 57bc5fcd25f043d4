package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AgentTask is one piece of work for an agent.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=at
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.status.type`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.model`
// +kubebuilder:printcolumn:name="Cost",type=string,JSONPath=`.status.results.cost-usd`
// +kubebuilder:printcolumn:name="Blocked",type=string,JSONPath=`.status.conditions[?(@.type=="BudgetBlocked")].reason`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="BudgetBlocked")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AgentTask struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is to be done. It does not change.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable: make another task"
	Spec AgentTaskSpec `json:"spec"`
	// status is what became of it, written by the controller alone.
	// +optional
	Status AgentTaskStatus `json:"status,omitzero"`
}

// AgentTaskSpec is what is to be done.
//
// +kubebuilder:validation:XValidation:rule="has(self.workerPoolRef) || has(self.type)",message="say who does the work: type, or workerPoolRef"
type AgentTaskSpec struct {
	// prompt is what the agent is told.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	Prompt string `json:"prompt"`
	// workerPoolRef names the pool that does the work. Type and model are then the pool's.
	// +optional
	WorkerPoolRef *WorkerPoolReference `json:"workerPoolRef,omitempty"`
	// type is the sort of agent, for a task without a pool.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Type string `json:"type,omitempty"`
	// model is what the agent runs on, for a task without a pool.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Model string `json:"model,omitempty"`
	// estimateUSD is what the task is expected to cost, in US dollars, such as "0.75". It is set aside while the task
	// runs. Without it each budget sets aside its own default.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[0-9]{1,9}(\.[0-9]{1,9})?$`
	EstimateUSD string `json:"estimateUSD,omitempty"`
}

// WorkerPoolReference names a WorkerPool of the same namespace.
type WorkerPoolReference struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
}

// Phase is how far a task has come.
//
// +kubebuilder:validation:Enum=Pending;Waiting;Running;Succeeded;Failed
type Phase string

// The phases. A task that has no phase yet is Pending.
const (
	// Pending: nobody has asked for it to start, or its worker pool is missing.
	Pending Phase = "Pending"
	// Waiting: a budget has no room for it. The condition BudgetBlocked says which, and why.
	Waiting Phase = "Waiting"
	// Running: it was admitted, and a worker has it.
	Running Phase = "Running"
	// Succeeded and Failed: it has finished, and has spent what its results say.
	Succeeded Phase = "Succeeded"
	Failed    Phase = "Failed"
)

// Finished reports whether a task in this phase has ended.
func (p Phase) Finished() bool { return p == Succeeded || p == Failed }

// AgentTaskStatus is what became of a task.
type AgentTaskStatus struct {
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// message says what a task that is Pending waits for.
	// +optional
	Message string `json:"message,omitempty"`
	// type and model are who does the work, taken down when the task starts: the pool may be another one, or gone, when
	// it has finished.
	// +optional
	Type string `json:"type,omitempty"`
	// +optional
	Model string `json:"model,omitempty"`
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// results are what the agent reports, as text: cost-usd, input-tokens, output-tokens and whatever else it says.
	// +optional
	Results map[string]string `json:"results,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// AgentTaskList is a list of tasks.
//
// +kubebuilder:object:root=true
type AgentTaskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AgentTask `json:"items"`
}
