package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WorkerPool is a set of workers of one sort, which tasks share.
//
// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.spec.model`
type WorkerPool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what its workers are.
	Spec WorkerPoolSpec `json:"spec"`
}

// WorkerPoolSpec is what the workers of a pool are.
type WorkerPoolSpec struct {
	// type is the sort of agent.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Type string `json:"type"`
	// model is what the agents run on.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Model string `json:"model,omitempty"`
}

// WorkerPoolList is a list of pools.
//
// +kubebuilder:object:root=true
type WorkerPoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WorkerPool `json:"items"`
}
