package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=th,categories=bursar
// +kubebuilder:printcolumn:name="Task",type=string,JSONPath=`.spec.taskRef.name`
// +kubebuilder:printcolumn:name="Cost",type=string,JSONPath=`.metadata.annotations.bursar\.dev/cost-usd`
// +kubebuilder:printcolumn:name="Admitted",type=date,JSONPath=`.spec.admittedAt`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.spec.expiresAt`
// +kubebuilder:printcolumn:name="Quantity",type=string,JSONPath=`.spec.amounts.costUSD`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name == self.spec.taskRef.uid || (oldSelf.hasValue() && oldSelf.value().spec.taskRef.uid == self.spec.taskRef.uid)",optionalOldSelf=true,message="metadata.name must be the task's UID, which is spec.taskRef.uid"

// TaskHold sets amounts aside for a task that was admitted and has not
// finished. It is named after the task's UID and written by the controller
// alone, so that nobody can plant what was taken down at the admission.
type TaskHold struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is held. Required.
	Spec TaskHoldSpec `json:"spec"`
}

// +kubebuilder:validation:XValidation:rule="has(self.taskLabels) == has(oldSelf.taskLabels) && (!has(self.taskLabels) || self.taskLabels == oldSelf.taskLabels)",message="taskLabels are immutable: they are the snapshot of the admission"

// TaskHoldSpec is what is set aside for a task, and how long. The snapshot of
// the labels never changes.
type TaskHoldSpec struct {
	// taskRef says which task it is.
	TaskRef TaskReference `json:"taskRef"`
	// taskLabels are the task's labels as they were when it was admitted.
	// +optional
	// +kubebuilder:validation:MaxProperties=1024
	TaskLabels map[string]string `json:"taskLabels,omitempty"`
	// amounts is what is set aside. Where a meter is absent, each budget sets
	// aside its own default estimate.
	// +optional
	Amounts Amounts `json:"amounts,omitzero"`
	// admittedAt is when the task was admitted.
	AdmittedAt metav1.Time `json:"admittedAt"`
	// expiresAt is when the hold ends by itself.
	ExpiresAt metav1.Time `json:"expiresAt"`
}

// +kubebuilder:object:root=true

// TaskHoldList is a list of holds.
type TaskHoldList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TaskHold `json:"items"`
}
