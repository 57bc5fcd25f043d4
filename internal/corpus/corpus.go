// Package corpus reads decision cases: budgets, records and holds of one moment
// and the one right decision. They outlive the code: whatever decides (the
// library on a ledger or on plain slices, a policy engine, a live API server)
// replays the same files.
package corpus

import (
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// File is a file of cases, in JSON or YAML.
type File struct {
	Meta  map[string]string `json:"meta,omitempty"`
	Cases []Case            `json:"cases"`
}

// Case is one decision.
type Case struct {
	ID      string                      `json:"id"`
	Why     string                      `json:"why"`
	Now     time.Time                   `json:"now"`
	Budgets []budgetv1alpha1.TaskBudget `json:"budgets"`
	Records []Record                    `json:"records"`
	Holds   []Hold                      `json:"holds"`
	Task    Task                        `json:"task"`
	Want    Want                        `json:"want"`
}

// Record is a finished task. Usage lists what was reported.
type Record struct {
	UID            types.UID         `json:"uid"`
	Namespace      string            `json:"namespace"`
	Labels         map[string]string `json:"labels"`
	StartTime      time.Time         `json:"startTime,omitzero"`
	CompletionTime time.Time         `json:"completionTime"`
	Usage          usage.Amounts     `json:"usage"`
}

// Hold is a task that was admitted and, unless it has a record, runs.
type Hold struct {
	UID        types.UID         `json:"uid"`
	Namespace  string            `json:"namespace"`
	Labels     map[string]string `json:"labels"`
	AdmittedAt time.Time         `json:"admittedAt,omitzero"`
	ExpiresAt  time.Time         `json:"expiresAt"`
	Amounts    usage.Amounts     `json:"amounts"`
}

// Task asks to start.
type Task struct {
	UID       types.UID         `json:"uid"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
	Estimate  usage.Amounts     `json:"estimate,omitempty"`
}

// Want is the right decision. Budgets are named namespace/name.
type Want struct {
	Allowed   bool     `json:"allowed"`
	RefusedBy []string `json:"refusedBy"`
	// Warnings are the budgets that would have refused and only warn.
	Warnings []string `json:"warnings"`
	// RetryAt is not asked for where the task is allowed; there null is that
	// time alone changes nothing.
	RetryAt *time.Time `json:"retryAt,omitempty"`
	// Degraded gives the reason of each budget that can't be evaluated.
	Degraded map[string]string `json:"degraded,omitempty"`
	// Figures is what the decision must say of a budget, where given.
	Figures map[string]Figures `json:"figures,omitempty"`
}

// Figures is how a budget stands. A window has a start and an end, null where
// it has none.
type Figures struct {
	Used      usage.Amounts `json:"used,omitempty"`
	Held      usage.Amounts `json:"held,omitempty"`
	Remaining usage.Amounts `json:"remaining,omitempty"`
	Window    []*time.Time  `json:"window,omitempty"`
	Group     string        `json:"group,omitempty"`
}

// Read reads a file of cases. A field that it does not know is an error, as is
// a file without cases and an id that is there twice.
func Read(path string) ([]Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file File
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(file.Cases) == 0 {
		return nil, fmt.Errorf("%s: no cases", path)
	}
	seen := map[string]bool{}
	for i, c := range file.Cases {
		if c.ID == "" || seen[c.ID] {
			return nil, fmt.Errorf("%s: cases[%d]: the id %q is empty or there twice", path, i, c.ID)
		}
		seen[c.ID] = true
	}
	return file.Cases, nil
}

// History gives the records and holds of a case, made in the way in which a
// controller makes them: a record is told the hold of its task.
func (c *Case) History() (usage.History, error) {
	var h usage.History
	held := map[types.UID]*usage.Hold{}
	for _, in := range c.Holds {
		hold := usage.Hold{
			UID: in.UID, Namespace: in.Namespace, Labels: in.Labels,
			Amounts: in.Amounts, AdmittedAt: in.AdmittedAt, ExpiresAt: in.ExpiresAt,
		}
		h.Holds = append(h.Holds, hold)
		held[in.UID] = &hold
	}
	for _, in := range c.Records {
		completion := usage.Completion{
			Task:           usage.Task{UID: in.UID, Namespace: in.Namespace},
			Phase:          usage.Succeeded,
			Labels:         in.Labels,
			StartTime:      in.StartTime,
			CompletionTime: in.CompletionTime,
			Reported:       in.Usage,
		}
		if hold, ok := held[in.UID]; ok && hold.Namespace == in.Namespace {
			completion.Hold = hold
		}
		record, err := usage.RecordUsage(completion)
		if err != nil {
			return usage.History{}, fmt.Errorf("case %s: %w", c.ID, err)
		}
		h.Records = append(h.Records, record)
	}
	return h, nil
}
