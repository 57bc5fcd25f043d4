package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The labels that a producer puts on the tasks that it makes, for budgets to select by. They win over those of the
// template.
const (
	// LabelProducer is the producer's name.
	LabelProducer = "example.bursar.dev/producer"
	// LabelSource is where the producer's work comes from.
	LabelSource = "example.bursar.dev/source"
	// LabelPool is the worker pool, if the tasks name one.
	LabelPool = "example.bursar.dev/pool"
	// LabelType and LabelModel are who does the work: the pool's, if the tasks name one.
	LabelType  = "example.bursar.dev/type"
	LabelModel = "example.bursar.dev/model"
)

// The conditions of a producer. Both always say the same: the second is the older name of the first, for those who wait
// for it.
const (
	// ConditionMaxTotalTasksReached is True on a producer that has made all the tasks that it may make.
	ConditionMaxTotalTasksReached = "MaxTotalTasksReached"
	// ConditionTaskBudgetExhausted is its older name. It has nothing to do with a TaskBudget.
	ConditionTaskBudgetExhausted = "TaskBudgetExhausted"
)

// TaskProducer makes one task after the other.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Source",type=string,JSONPath=`.spec.source`
// +kubebuilder:printcolumn:name="Created",type=integer,JSONPath=`.status.totalTasksCreated`
// +kubebuilder:printcolumn:name="Max",type=integer,JSONPath=`.spec.maxTotalTasks`
// +kubebuilder:printcolumn:name="Reached",type=string,JSONPath=`.status.conditions[?(@.type=="MaxTotalTasksReached")].status`
//
// Room for a number and a dash is left in the names of its tasks:
//
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40",message="the name of a producer has 40 characters at most: those of its tasks begin with it"
type TaskProducer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is made.
	Spec TaskProducerSpec `json:"spec"`
	// status is what was made so far.
	// +optional
	Status TaskProducerStatus `json:"status,omitzero"`
}

// TaskProducerSpec is what a producer makes.
type TaskProducerSpec struct {
	// source says where the work comes from, such as a repository or a queue. It becomes a label of each task.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`
	Source string `json:"source"`
	// interval is the time between two tasks.
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="interval must be more than nothing"
	Interval metav1.Duration `json:"interval"`
	// maxTotalTasks is how many tasks the producer may make in its life, those that are gone by now included. Without it
	// there is no such limit; 0 makes none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxTotalTasks *int64 `json:"maxTotalTasks,omitempty"`
	// labels are put on each task, beside those that say where it comes from.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// task is what each task is to do.
	Task AgentTaskSpec `json:"task"`
}

// TaskProducerStatus is what a producer has made.
type TaskProducerStatus struct {
	// totalTasksCreated counts the tasks that were made.
	// +optional
	TotalTasksCreated int64 `json:"totalTasksCreated,omitempty"`
	// lastTaskTime is when the last one was made.
	// +optional
	LastTaskTime *metav1.Time `json:"lastTaskTime,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// TaskProducerList is a list of producers.
//
// +kubebuilder:object:root=true
type TaskProducerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TaskProducer `json:"items"`
}
