package controller_test

import (
	"context"
	"maps"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/controller"
	"github.com/bursar-dev/bursar/usage"
)

// agents is the group and version of the tasks of examples/taskcontroller, which the manifests name.
var agents = schema.GroupVersion{Group: "example.bursar.dev", Version: "v1alpha1"}

// AgentTask is the host's own type: the least that a host can have.
type AgentTask struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   AgentTaskSpec   `json:"spec,omitzero"`
	Status AgentTaskStatus `json:"status,omitzero"`
}

type AgentTaskSpec struct {
	EstimateUSD string `json:"estimateUSD,omitempty"`
	Pool        string `json:"pool,omitempty"`
}

type AgentTaskStatus struct {
	Phase          string             `json:"phase,omitempty"`
	Results        map[string]string  `json:"results,omitempty"`
	StartTime      *metav1.Time       `json:"startTime,omitempty"`
	CompletionTime *metav1.Time       `json:"completionTime,omitempty"`
	Conditions     []metav1.Condition `json:"conditions,omitempty"`
}

// DeepCopy copies the task.
func (t *AgentTask) DeepCopy() *AgentTask {
	to := *t
	to.ObjectMeta = *t.ObjectMeta.DeepCopy()
	to.Status.Results = maps.Clone(t.Status.Results)
	to.Status.StartTime, to.Status.CompletionTime = t.Status.StartTime.DeepCopy(), t.Status.CompletionTime.DeepCopy()
	to.Status.Conditions = slices.Clone(t.Status.Conditions)
	return &to
}

// DeepCopyObject implements runtime.Object.
func (t *AgentTask) DeepCopyObject() runtime.Object { return t.DeepCopy() }

type AgentTaskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []AgentTask `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *AgentTaskList) DeepCopyObject() runtime.Object {
	meta := l.ListMeta
	to := &AgentTaskList{TypeMeta: l.TypeMeta, ListMeta: *meta.DeepCopy(), Items: make([]AgentTask, len(l.Items))}
	for i := range l.Items {
		to.Items[i] = *l.Items[i].DeepCopy()
	}
	return to
}

func addAgents(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(agents, &AgentTask{}, &AgentTaskList{})
	metav1.AddToGroupVersion(scheme, agents)
	return nil
}

func agentTaskCRD() *apiextensionsv1.CustomResourceDefinition {
	keep := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "agenttasks." + agents.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: agents.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "agenttasks", Singular: "agenttask", Kind: "AgentTask", ListKind: "AgentTaskList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: agents.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &keep,
				}},
			}},
		},
	}
}

// pools are the worker pools: who does the work of the tasks that name them.
var pools = map[string]usage.Task{"blue": {Type: "claude-code", Model: "opus"}}

// host is how bursar reads an AgentTask.
var host = controller.Host[*AgentTask]{
	New:        func() *AgentTask { return &AgentTask{} },
	Conditions: func(t *AgentTask) *[]metav1.Condition { return &t.Status.Conditions },
	Estimate: func(t *AgentTask) usage.Amounts {
		nano, err := usage.ParseUSD(t.Spec.EstimateUSD)
		if err != nil {
			return nil
		}
		return usage.Amounts{usage.CostUSD: nano}
	},
	Subject: func(t *AgentTask) budget.Subject {
		return budget.Subject{Agent: pools[t.Spec.Pool].Type, Model: pools[t.Spec.Pool].Model}
	},
	Completion: func(_ context.Context, t *AgentTask) (usage.Completion, error) {
		return usage.Completion{
			Task: pools[t.Spec.Pool], Phase: usage.Phase(t.Status.Phase), Results: t.Status.Results,
			StartTime: timeOf(t.Status.StartTime), CompletionTime: timeOf(t.Status.CompletionTime),
		}, nil
	},
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
