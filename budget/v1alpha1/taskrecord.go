package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=tr,categories=bursar
// +kubebuilder:printcolumn:name="Task",type=string,JSONPath=`.spec.taskRef.name`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.spec.phase`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.spec.model`
// +kubebuilder:printcolumn:name="Cost",type=string,JSONPath=`.metadata.annotations.bursar\.dev/cost-usd`
// +kubebuilder:printcolumn:name="Completed",type=date,JSONPath=`.spec.completionTime`
// +kubebuilder:printcolumn:name="Quantity",type=string,JSONPath=`.spec.usage.costUSD`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name == self.spec.taskRef.uid || (oldSelf.hasValue() && oldSelf.value().spec.taskRef.uid == self.spec.taskRef.uid)",optionalOldSelf=true,message="metadata.name must be the task's UID, which is spec.taskRef.uid"

// TaskRecord says what one finished task spent. It is named after the task's
// UID, never changes, and outlives the task.
type TaskRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what happened. Required, and immutable.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a record is immutable; write a correction instead"
	Spec TaskRecordSpec `json:"spec"`
}

// +kubebuilder:validation:XValidation:rule="!has(self.replaces) || has(self.corrects)",message="only a correction replaces figures"

// TaskRecordSpec is what a task spent and when.
type TaskRecordSpec struct {
	// taskRef says which task it was.
	TaskRef TaskReference `json:"taskRef"`
	// taskLabels are the task's labels as they were when it was admitted. They
	// decide in which budgets the record counts; the record's own labels are
	// for listing only.
	// +optional
	// +kubebuilder:validation:MaxProperties=1024
	TaskLabels map[string]string `json:"taskLabels,omitempty"`
	// type is what sort of worker did the task.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Type string `json:"type,omitempty"`
	// model is the model that did the work.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Model string `json:"model,omitempty"`
	// phase is how the task ended.
	// +kubebuilder:validation:Enum=Succeeded;Failed
	Phase string `json:"phase"`
	// admittedAt is when the task was admitted.
	// +optional
	AdmittedAt *metav1.Time `json:"admittedAt,omitempty"`
	// startTime is when the task began to work.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// completionTime decides in which window the record counts. Required.
	CompletionTime metav1.Time `json:"completionTime"`
	// usage is what the task spent.
	// +optional
	Usage Amounts `json:"usage,omitzero"`
	// basis says where figures come from that were not reported.
	// +optional
	// +listType=map
	// +listMapKey=meter
	// +kubebuilder:validation:MaxItems=512
	Basis []MeterBasis `json:"basis,omitempty"`
	// problems says why figures are unknown.
	// +optional
	// +listType=map
	// +listMapKey=meter
	// +listMapKey=source
	// +kubebuilder:validation:MaxItems=512
	Problems []RecordProblem `json:"problems,omitempty"`
	// corrects is the UID of the record that this one corrects.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Corrects string `json:"corrects,omitempty"`
	// replaces is what the corrected record said of the meters in usage.
	// +optional
	Replaces *Replaced `json:"replaces,omitempty"`
	// reason says why the correction was made.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
	// ttlSeconds is how long after its completion the record is kept; for
	// ever, if absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TTLSeconds *int64 `json:"ttlSeconds,omitempty"`
}

// Replaced is what a record said before it was corrected.
type Replaced struct {
	// usage is what it said.
	// +optional
	Usage Amounts `json:"usage,omitzero"`
	// basis says where its figures came from that were not reported.
	// +optional
	// +listType=map
	// +listMapKey=meter
	// +kubebuilder:validation:MaxItems=512
	Basis []MeterBasis `json:"basis,omitempty"`
}

// RecordProblem says why a figure could not be had.
type RecordProblem struct {
	// meter is what stays unknown.
	// +kubebuilder:validation:MaxLength=253
	Meter string `json:"meter"`
	// source is where the figure was looked for.
	// +kubebuilder:validation:MaxLength=1024
	Source string `json:"source"`
	// reason says what is wrong with it.
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason"`
}

// +kubebuilder:object:root=true

// TaskRecordList is a list of records.
type TaskRecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TaskRecord `json:"items"`
}
