package podspec

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Labels by which a spawner that was restarted finds its pods again.
const (
	// LabelManaged marks every pod that a spawner made.
	LabelManaged = "bursar.dev/managed"
	// LabelWorkload carries the id of the workload that a pod runs.
	LabelWorkload = "bursar.dev/workload-id"
	// ManagedValue is the value of LabelManaged.
	ManagedValue = "true"
)

// Identity is how the pods of a spawner, or of one workload, are told from others. The zero Identity labels nothing.
type Identity struct {
	// Workload is the id of the workload, a label value of 1 to 63 characters. Empty: no label is set.
	Workload string
	// ManagedKey and WorkloadKey replace LabelManaged and LabelWorkload for spawners that have label names of their own.
	ManagedKey, WorkloadKey string
}

// Selector finds the pods again: those of one workload if there is one in the identity, those of every workload
// otherwise. It fails with ErrLabel where key or value are no label.
func (i Identity) Selector() (labels.Selector, error) {
	if err := i.validate(); err != nil {
		return nil, err
	}
	managed, workload := i.keys()
	set := labels.Set{managed: ManagedValue}
	if i.Workload != "" {
		set[workload] = i.Workload
	}
	return labels.SelectorFromSet(set), nil
}

// Managed is the selector of all pods that carry the default labels, whatever their workload.
func Managed() labels.Selector { return labels.SelectorFromSet(labels.Set{LabelManaged: ManagedValue}) }

func (i Identity) keys() (managed, workload string) {
	managed, workload = i.ManagedKey, i.WorkloadKey
	if managed == "" {
		managed = LabelManaged
	}
	if workload == "" {
		workload = LabelWorkload
	}
	return managed, workload
}

func (i Identity) validate() error {
	var found faults
	managed, workload := i.keys()
	for _, key := range []string{managed, workload} {
		if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
			found.add(fmt.Errorf("label key %q: %w: %s", clip(key), ErrLabel, strings.Join(wrong, "; ")))
		}
	}
	if managed == workload {
		found.add(fmt.Errorf("label key %q: %w: it cannot mark both the spawner and the workload", clip(managed), ErrLabel))
	}
	if wrong := validation.IsValidLabelValue(i.Workload); len(wrong) > 0 {
		found.add(fmt.Errorf("workload id %q: %w: %s", clip(i.Workload), ErrLabel, strings.Join(wrong, "; ")))
	}
	return found.err()
}

// label sets the two labels where they are absent and reports what is there. The map it returns is the caller's own.
func (i Identity) label(present map[string]string, report *Report) map[string]string {
	if i.Workload == "" {
		return present
	}
	managed, workload := i.keys()
	for _, want := range [][2]string{{managed, ManagedValue}, {workload, i.Workload}} {
		key, value := want[0], want[1]
		had, found := present[key]
		entry := Entry{Path: "metadata.labels[" + key + "]", Had: had, Now: value, Source: "identity"}
		switch {
		case !found:
			if present == nil {
				present = map[string]string{}
			}
			present[key] = value
			entry.Action = ActionSet
		case had == value:
			continue
		default:
			entry.Action, entry.Now, entry.Wanted = ActionKept, had, value
		}
		report.Entries = append(report.Entries, entry)
	}
	return present
}
