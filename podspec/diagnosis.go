package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Diagnosis explains a failure: what it is, whether to try again, the names and figures in it, and what to change.
type Diagnosis struct {
	Category Category `json:"category"`
	Retry    Retry    `json:"retry"`
	// Object is the kind and name of what decided, if the failure names it: "ResourceQuota team", "PodSecurity
	// restricted:latest", "PriorityClass high".
	Object string `json:"object,omitempty"`
	// Figures are the amounts in the failure, in its order.
	Figures []Figure `json:"figures,omitempty"`
	// Containers are the containers that are named, sorted.
	Containers []string `json:"containers,omitempty"`
	// Reasons are the single complaints of a failure that is a list: violations of PodSecurity, answers of SCC providers,
	// clauses of the scheduler.
	Reasons []string `json:"reasons,omitempty"`
	// Causes are those of an invalid object (422), as the server gives them.
	Causes []metav1.StatusCause `json:"causes,omitempty"`
	// Webhook is the name of the admission webhook or policy that spoke, if one did.
	Webhook string `json:"webhook,omitempty"`
	// Message says what happened in a sentence.
	Message string `json:"message"`
	// Remedy says what to change in a sentence; may be empty.
	Remedy string `json:"remedy,omitempty"`
	// Original is the text that was explained, whole.
	Original string `json:"original,omitempty"`
}

// Figure is one amount of a failure. Its fields mean what those of a [Finding] mean, so that predictions and failures can
// be compared; what the failure does not say is empty or nil.
type Figure struct {
	Container string              `json:"container,omitempty"`
	Resource  corev1.ResourceName `json:"resource"`
	// Field is "requests", "limits" or "ratio".
	Field string             `json:"field,omitempty"`
	Have  *resource.Quantity `json:"have,omitempty"`
	Need  *resource.Quantity `json:"need,omitempty"`
	Bound *resource.Quantity `json:"bound,omitempty"`
	// Count is a number of nodes, for clauses of the scheduler.
	Count int `json:"count,omitempty"`
}

// String is the message with its remedy.
func (d Diagnosis) String() string {
	if d.Remedy == "" {
		return d.Message
	}
	return d.Message + "; " + d.Remedy
}

// quantityIn reads a quantity from a message; nil if it is none.
func quantityIn(text string) *resource.Quantity {
	if len(text) > maxText {
		return nil
	}
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return nil
	}
	return &quantity
}
