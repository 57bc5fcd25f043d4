package jobs

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// Job is what is needed of a batch/v1 Job, in a type of our own: a host's conditions are of type metav1.Condition, and those
// of [batchv1.Job] are not. What a Job has beside this stays as it is, because jobs are only ever patched. Never send one with
// Create or Update.
//
// +kubebuilder:object:root=true
//
// [batchv1.Job]: https://pkg.go.dev/k8s.io/api/batch/v1#Job
type Job struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   JobSpec   `json:"spec,omitzero"`
	Status JobStatus `json:"status,omitzero"`
}

// JobSpec is the part of a Job's spec that the gate changes.
//
// +kubebuilder:object:generate=true
type JobSpec struct {
	Suspend *bool `json:"suspend,omitempty"`
}

// JobStatus is the part of a Job's status that says how it went.
//
// +kubebuilder:object:generate=true
type JobStatus struct {
	Conditions     []metav1.Condition `json:"conditions,omitempty"`
	StartTime      *metav1.Time       `json:"startTime,omitempty"`
	CompletionTime *metav1.Time       `json:"completionTime,omitempty"`
}

// GetGeneration is 0. The conditions of a Job have no observedGeneration: one that was written would be gone when it is read,
// and the gate would write it again and again.
func (j *Job) GetGeneration() int64 { return 0 }

// JobList is a list of Jobs.
//
// +kubebuilder:object:root=true
type JobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Job `json:"items"`
}

// NewScheme makes the scheme of the manager. A kind has one type in a scheme: where yours has batchv1.Job already, run the
// gate in a manager of its own.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	batch := schema.GroupVersion{Group: "batch", Version: "v1"}
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme,
		budgetv1alpha1.AddToScheme, // bursar: TaskBudget, TaskRecord, TaskHold
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	scheme.AddKnownTypes(batch, &Job{}, &JobList{})
	metav1.AddToGroupVersion(scheme, batch)
	return scheme, nil
}

// Config is the configuration of the manager's client: in JSON, since the Job above has no protobuf form.
func Config(cluster *rest.Config) *rest.Config {
	config := rest.CopyConfig(cluster)
	config.ContentType = runtime.ContentTypeJSON
	return config
}
