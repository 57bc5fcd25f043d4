package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// CostAnnotation is on records and holds and repeats their cost in dollars as a
// plain decimal, such as 7.25, for kubectl to print: as a quantity it is 7250m.
// Nothing is ever read from it.
const CostAnnotation = "bursar.dev/cost-usd"

// Amounts is an amount per meter. What is absent is not known, which is not
// zero.
type Amounts struct {
	// costUSD is money in dollars.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('0')) >= 0",message="must be an amount of dollars that is not negative"
	CostUSD *resource.Quantity `json:"costUSD,omitempty"`
	// inputTokens are the tokens that a model read.
	// +optional
	// +kubebuilder:validation:Minimum=0
	InputTokens *int64 `json:"inputTokens,omitempty"`
	// outputTokens are the tokens that a model wrote.
	// +optional
	// +kubebuilder:validation:Minimum=0
	OutputTokens *int64 `json:"outputTokens,omitempty"`
	// meters are the amounts of every other meter.
	// +optional
	// +listType=map
	// +listMapKey=meter
	// +kubebuilder:validation:MaxItems=256
	Meters []MeterAmount `json:"meters,omitempty"`
}

// MeterAmount is the amount of one meter.
type MeterAmount struct {
	// meter is the name of the meter, such as gpuSeconds.
	// +kubebuilder:validation:XValidation:rule="!(self in ['costUSD','inputTokens','outputTokens'])",message="this meter has a field of its own",messageExpression="'this meter has a field of its own: ' + self"
	Meter MeterName `json:"meter"`
	// amount is in the unit of the meter.
	// +kubebuilder:validation:Minimum=0
	Amount int64 `json:"amount"`
}

// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^[A-Za-z]([A-Za-z0-9._/-]*[A-Za-z0-9])?$`

// MeterName names a meter other than costUSD, inputTokens and outputTokens,
// which have fields of their own.
type MeterName string

// +kubebuilder:validation:Enum=Reported;Priced;Held;Unknown

// Basis says where a figure comes from.
type Basis string

// MeterBasis says where the figure of one meter comes from.
type MeterBasis struct {
	// meter is the name of the meter.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Meter string `json:"meter"`
	// basis is where its figure comes from.
	Basis Basis `json:"basis"`
}

// TaskReference says which task a record or a hold is of.
type TaskReference struct {
	// uid is the task's UID.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	UID string `json:"uid"`
	// name is the task's name.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// apiVersion is the task's API version.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion,omitempty"`
	// kind is the task's kind.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`
}
