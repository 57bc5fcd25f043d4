package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Verdict is what a namespace will say to a pod, as far as it can be known.
type Verdict string

// The verdicts.
const (
	// Admit: the pod will be accepted.
	Admit Verdict = "Admit"
	// Reject: the pod will be refused, for the finding at the prediction's stage.
	Reject Verdict = "Reject"
	// Depends: the server applies several LimitRanges in no fixed order, and the order decides.
	Depends Verdict = "Depends"
	// VerdictUnknown: something that decides is not known; the findings and caveats say what.
	VerdictUnknown Verdict = "Unknown"
)

// Stage is a step of the API server on the way of a new pod, in the order in which it takes them. The first stage that
// refuses is the one whose message the caller gets; later ones are never reached.
type Stage string

// The stages in their order.
const (
	StageNamespace    Stage = "Namespace"
	StagePriority     Stage = "Priority"
	StageRuntimeClass Stage = "RuntimeClass"
	StageValidation   Stage = "Validation"
	StageLimitRange   Stage = "LimitRange"
	StagePodSecurity  Stage = "PodSecurity"
	StageOverhead     Stage = "Overhead"
	StageQuota        Stage = "ResourceQuota"
)

// Severity says what a finding does to the verdict.
type Severity string

// The severities, gravest first.
const (
	// Refuses: the server refuses the pod for this.
	Refuses Severity = "Refuses"
	// Undecided: whether the server refuses cannot be known.
	Undecided Severity = "Undecided"
	// Warns: the pod is accepted, and something about it is probably not meant.
	Warns Severity = "Warns"
)

// Finding is one thing that a stage has to say about the pod.
type Finding struct {
	Stage    Stage    `json:"stage"`
	Category Category `json:"category"`
	Severity Severity `json:"severity"`
	// Object is the kind and name of what decides: "ResourceQuota team".
	Object string `json:"object,omitempty"`
	// Container is the name of the container that is meant; empty for the whole pod.
	Container string `json:"container,omitempty"`
	// Resource is the resource as the deciding object names it: "cpu" in a LimitRange, "limits.cpu" in a quota.
	Resource corev1.ResourceName `json:"resource,omitempty"`
	// Field is "requests" or "limits" where one of the two is meant.
	Field string `json:"field,omitempty"`
	// Have is what the pod has there, or what is used of a quota; nil if there is nothing.
	Have *resource.Quantity `json:"have,omitempty"`
	// Need is what the pod would need of a quota; nil elsewhere.
	Need *resource.Quantity `json:"need,omitempty"`
	// Bound is the minimum, maximum, ratio or hard limit that decides; nil if there is none.
	Bound *resource.Quantity `json:"bound,omitempty"`
	Retry Retry              `json:"retry,omitempty"`
	// Message says what is wrong in a sentence.
	Message string `json:"message"`
	// Remedy says what to change in a sentence; may be empty.
	Remedy string `json:"remedy,omitempty"`
}

// String is the severity, the message and its remedy.
func (f Finding) String() string {
	text := string(f.Severity) + ": " + f.Message
	if f.Remedy == "" {
		return text
	}
	return text + "; " + f.Remedy
}

// Masking is an amount that the pod did not declare and a LimitRange fills in. Such pods look sized and are not: they get
// whatever the LimitRange says, be it too little to live or more than was meant.
type Masking struct {
	LimitRange string              `json:"limitRange"`
	Container  string              `json:"container"`
	Init       bool                `json:"init,omitempty"`
	Field      string              `json:"field"` // "requests" or "limits"
	Resource   corev1.ResourceName `json:"resource"`
	Value      resource.Quantity   `json:"value"`
}

// QuotaUse is what the pod would use of one quota.
type QuotaUse struct {
	// Name is the quota's name; Cluster says that it is a ClusterResourceQuota of OpenShift.
	Name    string `json:"name"`
	Cluster bool   `json:"cluster,omitempty"`
	// Matches says whether the quota's resources and scopes apply to the pod. The lists below are nil if not.
	Matches bool `json:"matches"`
	// Synced says whether the quota controller has counted: status.hard equals spec.hard, and used has all its keys.
	Synced bool `json:"synced"`
	// Delta is what the pod adds to the usage: only resources that the quota names, without zeros.
	Delta corev1.ResourceList `json:"delta,omitempty"`
	// Headroom is hard minus used, for every resource of the quota that concerns pods; negative where it is overdrawn.
	Headroom corev1.ResourceList `json:"headroom,omitempty"`
	// Fits says whether the quota takes the pod now.
	Fits bool `json:"fits"`
	// CanEverFit says whether it would take the pod if nothing else were used.
	CanEverFit bool `json:"canEverFit"`
}

// Outcome is what comes of one order of the LimitRanges.
type Outcome struct {
	// Order are the names of the LimitRanges in the order that was assumed.
	Order []string `json:"order,omitempty"`
	// Verdict is never Depends here.
	Verdict Verdict `json:"verdict"`
	// Stage and Category are those of the refusal that the server will show; empty unless the verdict is Reject. Of several
	// quotas that refuse, the server shows whichever it comes to first, in no fixed order; the findings have all.
	Stage    Stage    `json:"stage,omitempty"`
	Category Category `json:"category,omitempty"`
	// Findings are those of all stages, in the order of the stages.
	Findings []Finding `json:"findings,omitempty"`
	// Effective is the pod as it would be stored, as far as amounts, priority class, overhead and volumes are concerned. Of a
	// pod that is refused it is what was judged.
	Effective *corev1.Pod `json:"effective"`
	// QOS is its class.
	QOS corev1.PodQOSClass `json:"qos"`
	// Quotas are what it would use, one for each quota.
	Quotas []QuotaUse `json:"quotas,omitempty"`
	// Masked is what LimitRanges fill in.
	Masked []Masking `json:"masked,omitempty"`
}

// Prediction is the answer of Predict. Its own fields are those of the first order of LimitRanges; where the order changes
// anything, Alternatives hold all distinct outcomes, the first one included.
type Prediction struct {
	Outcome
	// Alternatives are the distinct outcomes; nil if there is only one.
	Alternatives []Outcome `json:"alternatives,omitempty"`
	// Caveats are what no snapshot can tell, in sentences.
	Caveats []string `json:"caveats,omitempty"`
}

// Refusals are the findings for which the server would refuse the pod.
func (o Outcome) Refusals() []Finding {
	var refusals []Finding
	for _, finding := range o.Findings {
		if finding.Severity == Refuses {
			refusals = append(refusals, finding)
		}
	}
	return refusals
}

// conclude sets verdict, stage and category from the findings, which are in the order of the stages. Behind unknown
// LimitRanges nothing is certain, because they may fill in what a quota misses. Behind any other undecided finding a
// refusal is one all the same, though the server may show another one first.
func (o *Outcome) conclude() {
	o.Verdict = Admit
	for i := range o.Findings {
		finding := &o.Findings[i]
		switch finding.Severity {
		case Undecided:
			o.Verdict = VerdictUnknown
			if finding.Stage == StageLimitRange {
				return
			}
		case Refuses:
			o.Verdict, o.Stage, o.Category = Reject, finding.Stage, finding.Category
			return
		case Warns:
		}
	}
}
