package v1alpha1

// PolicyRule is one rule in CEL: what it looks at, when it applies, and what it
// does then. A rule can only tighten an answer. One that fails refuses.
type PolicyRule struct {
	// name is the code of the rule's reasons if code is absent. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+$`
	Name string `json:"name"`
	// description is for people.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`
	// match narrows the calls that the rule looks at.
	// +optional
	Match *PolicyMatch `json:"match,omitempty"`
	// when is a bool expression: the effect applies if it is true. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	When string `json:"when"`
	// effect is what the rule does. Required.
	Effect PolicyEffect `json:"effect"`
	// code of the reason, for deny, hold and warn.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+$`
	Code string `json:"code,omitempty"`
	// message of the reason, for deny, hold and warn; either it or
	// messageExpression is given there.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// messageExpression is a string expression.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	MessageExpression string `json:"messageExpression,omitempty"`
	// retryAfterSeconds is an int expression, for hold: when to ask again.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	RetryAfterSeconds string `json:"retryAfterSeconds,omitempty"`
	// field that a cap bounds: maxTokens, maxCostMicros, cpuMilli, memoryBytes
	// or deadlineSeconds.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Field string `json:"field,omitempty"`
	// key of the label that the effect label sets.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key,omitempty"`
	// value is an int expression for cap and a string expression for label.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
}

// +kubebuilder:validation:Enum=deny;hold;warn;cap;label

// PolicyEffect is what a rule does when it applies.
type PolicyEffect string

// PolicyMatch narrows the calls that a rule looks at. Every field that is given
// must agree. A pattern that ends in * agrees with what starts alike.
type PolicyMatch struct {
	// operations are Admit, Renew, BuildPod and RecordUsage.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=4
	Operations []PolicyOperation `json:"operations,omitempty"`
	// namespaces are patterns of the task's namespace, for rules that come from
	// a file: a budget sees no other namespace than its own.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	Namespaces []string `json:"namespaces,omitempty"`
	// models are patterns of the task's model.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	Models []string `json:"models,omitempty"`
	// priorities are patterns of the task's priority.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	Priorities []string `json:"priorities,omitempty"`
	// profiles are patterns of the profile that the pod's size comes from.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	Profiles []string `json:"profiles,omitempty"`
	// labels that the task must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`
}

// +kubebuilder:validation:Enum=Admit;Renew;BuildPod;RecordUsage

// PolicyOperation is a question that a rule is asked.
type PolicyOperation string
