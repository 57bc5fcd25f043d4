package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tb,categories=bursar
// +kubebuilder:printcolumn:name="Period",type=string,JSONPath=`.spec.period.type`
// +kubebuilder:printcolumn:name="Limit",type=string,JSONPath=`.spec.maxCostUSD`
// +kubebuilder:printcolumn:name="Used",type=string,JSONPath=`.status.display.used`
// +kubebuilder:printcolumn:name="Held",type=string,JSONPath=`.status.display.held`
// +kubebuilder:printcolumn:name="Percent",type=integer,JSONPath=`.status.percent`
// +kubebuilder:printcolumn:name="Group",type=string,JSONPath=`.status.display.group`
// +kubebuilder:printcolumn:name="Resets",type=string,JSONPath=`.status.periodEnd`
// +kubebuilder:printcolumn:name="Degraded",type=string,JSONPath=`.status.conditions[?(@.type=="Degraded")].status`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.spec.period.timezone`,priority=1
// +kubebuilder:printcolumn:name="Action",type=string,JSONPath=`.spec.action`,priority=1
// +kubebuilder:printcolumn:name="Tokens in",type=integer,JSONPath=`.spec.maxInputTokens`,priority=1
// +kubebuilder:printcolumn:name="Tokens out",type=integer,JSONPath=`.spec.maxOutputTokens`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`

// TaskBudget limits what the tasks of a namespace may spend in each window of
// time.
type TaskBudget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is limited. Required.
	Spec TaskBudgetSpec `json:"spec"`
	// status says how the budget stands.
	// +optional
	Status TaskBudgetStatus `json:"status,omitzero"`
}

// TaskBudgetSpec says which tasks a budget is for and what they may spend.
//
// At least one of maxCostUSD, maxInputTokens, maxOutputTokens and limits is
// required.
type TaskBudgetSpec struct {
	// taskSelector selects the tasks by their labels; {} selects every task
	// of the namespace. Required.
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In','NotIn','Exists','DoesNotExist'])",message="an operator is one of In, NotIn, Exists and DoesNotExist"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, !(e.operator in ['In','NotIn']) || (has(e.values) && size(e.values) > 0))",message="In and NotIn need values"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, !(e.operator in ['Exists','DoesNotExist']) || !has(e.values) || size(e.values) == 0)",message="Exists and DoesNotExist take no values"
	TaskSelector *metav1.LabelSelector `json:"taskSelector"`
	// period cuts the time into windows; each has the whole limit. Required.
	Period Period `json:"period"`
	// maxCostUSD limits the cost in dollars, as a number or as text: 12.50,
	// "12.50" and 12500m are the same. Absent is no limit, 0 always refuses.
	// +optional
	MaxCostUSD *resource.Quantity `json:"maxCostUSD,omitempty"`
	// maxInputTokens limits the input tokens. Absent is no limit, 0 always
	// refuses.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxInputTokens *int64 `json:"maxInputTokens,omitempty"`
	// maxOutputTokens limits the output tokens. Absent is no limit, 0 always
	// refuses.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxOutputTokens *int64 `json:"maxOutputTokens,omitempty"`
	// limits is for every other meter.
	// +optional
	// +listType=map
	// +listMapKey=meter
	// +kubebuilder:validation:MaxItems=32
	Limits []Limit `json:"limits,omitempty"`
	// action says what happens when the budget is spent; default Block.
	// +optional
	Action Action `json:"action,omitempty"`
	// unknownUsage says what the budget makes of a finished task whose usage
	// is not known; default ChargeHold.
	// +optional
	UnknownUsage UnknownUsage `json:"unknownUsage,omitempty"`
	// groupBy gives each combination of the values of these label keys a
	// whole allowance of its own. Tasks without a label form a group, too.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=317
	// +kubebuilder:validation:items:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	GroupBy []string `json:"groupBy,omitempty"`
	// defaultEstimate is what a task is expected to spend that comes without
	// an estimate of its own.
	// +optional
	DefaultEstimate *Amounts `json:"defaultEstimate,omitempty"`
	// thresholds are percentages of the limit; each is told once per window
	// when used and held together reach it, of a budget with groupBy once for
	// each group.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=100
	Thresholds []int32 `json:"thresholds,omitempty"`
	// recordTTLSeconds is how long the records that count in this budget are
	// kept at least. It must not be shorter than the longest window, or spend
	// would be forgotten while it counts.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9223372036
	RecordTTLSeconds *int64 `json:"recordTTLSeconds,omitempty"`
	// policies are rules in CEL that tighten what this budget says: they are
	// asked where it has room, of the tasks that it selects. In their
	// expressions budget is this budget, budgets are all that apply.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Policies []PolicyRule `json:"policies,omitempty"`
}

// Limit limits one meter.
type Limit struct {
	// meter is the name of the meter, such as tasks, seconds or gpuSeconds.
	// +kubebuilder:validation:XValidation:rule="!(self in ['costUSD','inputTokens','outputTokens'])",message="this meter has a field of its own",messageExpression="'this meter has a field of its own: max' + self.substring(0, 1).upperAscii() + self.substring(1)"
	Meter MeterName `json:"meter"`
	// max is the limit in the unit of the meter; 0 always refuses.
	// +kubebuilder:validation:Minimum=0
	Max int64 `json:"max"`
}

// +kubebuilder:validation:Enum=Block;Warn

// Action says what a budget does when it is spent.
type Action string

// The actions. An empty action is Block.
const (
	// ActionBlock keeps tasks from starting.
	ActionBlock Action = "Block"
	// ActionWarn lets tasks start and says that they should not.
	ActionWarn Action = "Warn"
)

// +kubebuilder:validation:Enum=ChargeHold;Block;Ignore

// UnknownUsage says what a budget makes of usage that is not known.
type UnknownUsage string

// The policies for unknown usage. An empty one is ChargeHold.
const (
	// UnknownChargeHold charges what was held for the task, or else the
	// default estimate. Where there is neither, the budget refuses.
	UnknownChargeHold UnknownUsage = "ChargeHold"
	// UnknownBlock refuses while a record with unknown usage counts.
	UnknownBlock UnknownUsage = "Block"
	// UnknownIgnore charges nothing.
	UnknownIgnore UnknownUsage = "Ignore"
)

// TaskBudgetStatus says how a budget stands. It is written by the controller.
type TaskBudgetStatus struct {
	// observedGeneration is the generation that the rest of the status is of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// periodStart is the start of the current window; absent if unbounded.
	// +optional
	PeriodStart *metav1.Time `json:"periodStart,omitempty"`
	// periodEnd is the end of the current window; absent if unbounded.
	// +optional
	PeriodEnd *metav1.Time `json:"periodEnd,omitempty"`
	// used is what was spent in the current window. Of a budget with groupBy it
	// is what the group named in group has spent, and not the sum of all
	// groups: each group has the whole limit to itself.
	// +optional
	Used *Amounts `json:"used,omitempty"`
	// held is what is set aside for running tasks, of the same group as used.
	// +optional
	Held *Amounts `json:"held,omitempty"`
	// group names the fullest group, the one with the highest percentage: used,
	// held, percent and unknownRecords are of that group alone. Absent without
	// groupBy, and while no group has used or holds anything. A group is named
	// by its labels, such as user=ada; !user are the tasks without the label.
	// +optional
	Group string `json:"group,omitempty"`
	// groups is the number of groups that have used or hold something now.
	// +optional
	Groups int64 `json:"groups,omitempty"`
	// topGroups are the fullest groups, at most 10, the fullest first. Groups
	// that have used and hold nothing are left out.
	// +optional
	// +listType=map
	// +listMapKey=group
	// +kubebuilder:validation:MaxItems=10
	TopGroups []GroupStatus `json:"topGroups,omitempty"`
	// percent is the highest percentage of a limit that used and held make.
	// +optional
	Percent *int32 `json:"percent,omitempty"`
	// display is what kubectl prints of the fields above, for people. Programs
	// read the fields themselves.
	// +optional
	Display *StatusDisplay `json:"display,omitempty"`
	// unknownRecords counts the records of the window with unknown usage.
	// +optional
	UnknownRecords int64 `json:"unknownRecords,omitempty"`
	// thresholdsReached are the thresholds that were told in this window, of a
	// budget with groupBy those that were told of the group named in group.
	// +optional
	// +listType=set
	ThresholdsReached []int32 `json:"thresholdsReached,omitempty"`
	// groupThresholds are the thresholds that were told of each group in its
	// current window, at most 100 groups. While there are 100, no other group is
	// told; one that is left or whose window has ended makes room.
	// +optional
	// +listType=map
	// +listMapKey=group
	// +kubebuilder:validation:MaxItems=100
	GroupThresholds []GroupThresholds `json:"groupThresholds,omitempty"`
	// conditions: Degraded says that the budget can't be evaluated and refuses
	// all tasks that it may be for.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MaxTopGroups is the greatest number of groups in a status.
const MaxTopGroups = 10

// GroupStatus says how one group of a budget with groupBy stands. Each has the
// whole limit to itself.
type GroupStatus struct {
	// group is the name of the group, such as user=ada.
	Group string `json:"group"`
	// used is what the group has spent in its current window, as the display
	// of the whole budget shows it: dollars as a plain decimal, such as 7.25.
	// +optional
	Used string `json:"used,omitempty"`
	// held is what is set aside for the group's running tasks, likewise.
	// +optional
	Held string `json:"held,omitempty"`
	// percent is the highest percentage of a limit that used and held make.
	Percent int32 `json:"percent"`
	// periodEnd is the end of the group's current window; absent if unbounded.
	// +optional
	PeriodEnd *metav1.Time `json:"periodEnd,omitempty"`
}

// MaxGroupThresholds is the greatest number of groups whose thresholds a status
// keeps.
const MaxGroupThresholds = 100

// GroupThresholds are the thresholds that were told of one group.
type GroupThresholds struct {
	// group is the name of the group, such as user=ada.
	Group string `json:"group"`
	// periodStart is the start of the window that they were told in; absent
	// where windows have none.
	// +optional
	PeriodStart *metav1.Time `json:"periodStart,omitempty"`
	// reached are the thresholds, in rising order.
	// +listType=set
	Reached []int32 `json:"reached"`
}

// StatusDisplay holds figures as people read them.
type StatusDisplay struct {
	// used is what was spent: dollars as a plain decimal, such as 7.25. Where
	// the budget limits no cost it is the meter that is nearest to its limit, such as
	// 812000 inputTokens.
	// +optional
	Used string `json:"used,omitempty"`
	// held is what is set aside for running tasks, on the same meter.
	// +optional
	Held string `json:"held,omitempty"`
	// group says whose figures these are where the budget has groupBy, such as
	// user=ada (1 of 3): the fullest group, and how many there are.
	// +optional
	Group string `json:"group,omitempty"`
}

// +kubebuilder:object:root=true

// TaskBudgetList is a list of budgets.
type TaskBudgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TaskBudget `json:"items"`
}
