package usage

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Phase is how a task ended.
type Phase string

// The phases of a finished task.
const (
	Succeeded Phase = "Succeeded"
	Failed    Phase = "Failed"
)

// Task says which task a record is of.
type Task struct {
	// UID is the task's UID. Required: it is the record's identity.
	UID types.UID `json:"uid"`
	// Namespace is the task's namespace. Required.
	Namespace string `json:"namespace"`
	// Name is the task's name.
	Name string `json:"name,omitempty"`
	// APIVersion and Kind say what sort of object the task is.
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	// Type and Model say who did the work, such as "claude-code" and "opus".
	Type  string `json:"type,omitempty"`
	Model string `json:"model,omitempty"`
}

// Record is what one finished task spent: immutable, one per task, and the only
// source of what was spent. Build it with [RecordUsage], or with [Correct] for
// a correction. Times are in UTC and whole seconds, since that is what the API
// server keeps of them.
type Record struct {
	Task
	// Phase is how the task ended.
	Phase Phase `json:"phase"`
	// Labels are the task's labels as they were at its admission. They decide
	// which budgets the record counts in.
	Labels map[string]string `json:"labels,omitempty"`
	// AdmittedAt is the instant of admission; zero if it is not known.
	AdmittedAt time.Time `json:"admittedAt,omitzero"`
	// StartTime is when the task began to work; zero if it never did.
	StartTime time.Time `json:"startTime,omitzero"`
	// CompletionTime decides which window of a budget the record counts in.
	CompletionTime time.Time `json:"completionTime"`
	// Usage is what was spent and how that is known.
	Usage Figures `json:"usage,omitempty"`
	// Problems says why figures are unknown.
	Problems []Problem `json:"problems,omitempty"`
	// Corrects is the UID of the record that this one corrects; see [Correct].
	// A correction counts for nothing but the meters that it names.
	Corrects types.UID `json:"corrects,omitempty"`
	// Replaces are the corrected record's figures for the meters of Usage:
	// they count no more. Only corrections have it. It replaces what is there:
	// nothing where the corrected record was deleted, or has other figures,
	// labels or another CompletionTime than the correction says.
	Replaces Figures `json:"replaces,omitempty"`
	// Reason says why a correction was made.
	Reason string `json:"reason,omitempty"`
	// TTL is how long the record is kept after CompletionTime; nil for ever.
	TTL *time.Duration `json:"ttl,omitempty"`
}

// String says in one line what the record is of and what it says was spent.
func (r Record) String() string {
	return fmt.Sprintf("record of task %s, %s at %s: %s",
		describe(r.Namespace, r.Name, r.UID), r.Phase, r.CompletionTime.UTC().Format(time.RFC3339), r.Usage)
}

// Clone returns a copy that shares nothing with r.
func (r Record) Clone() Record {
	r.Labels = maps.Clone(r.Labels)
	r.Usage, r.Replaces = r.Usage.Clone(), r.Replaces.Clone()
	r.Problems = append([]Problem(nil), r.Problems...)
	if r.TTL != nil {
		ttl := *r.TTL
		r.TTL = &ttl
	}
	return r
}

// Validate reports every reason why r can't be a record, joined; nil if it can.
func (r Record) Validate() error { return validateRecord(&r) }

// validateRecord is Validate without a copy of the record.
func validateRecord(r *Record) error {
	found := headFaults(r)
	if err := r.Usage.validate(); err != nil {
		found.note(fmt.Errorf("usage: %w", err))
	}
	found.note(validateCorrection(r))
	if len(found) > 0 {
		return fmt.Errorf("record of task %s: %w", describe(r.Namespace, r.Name, r.UID), errors.Join(found...))
	}
	return nil
}

// maxReason is the longest reason of a correction, in bytes: what is stored of
// it must be all of it.
const maxReason = 1024

// headFaults are the faults of all but the figures.
func headFaults(r *Record) faults {
	var found faults
	if r.UID == "" {
		found.note(errors.New("uid: required, a record is identified by its task's UID"))
	}
	if r.Namespace == "" {
		found.note(errors.New("namespace: required"))
	}
	if r.Phase != Succeeded && r.Phase != Failed {
		found.note(fmt.Errorf("phase: %s is not Succeeded or Failed", Quote(string(r.Phase))))
	}
	if len(r.Reason) > maxReason {
		found.note(fmt.Errorf("reason: %d bytes long, at most %d are allowed", len(r.Reason), maxReason))
	}
	found.note(validateTime("completionTime", r.CompletionTime))
	found.note(validateOptionalTime("admittedAt", r.AdmittedAt))
	found.note(validateOptionalTime("startTime", r.StartTime))
	if r.TTL != nil && *r.TTL <= 0 {
		found.note(fmt.Errorf("ttl: %s is not positive", *r.TTL))
	}
	return found
}

func validateCorrection(r *Record) error {
	switch {
	case len(r.Replaces) == 0 && r.Corrects == "":
		return nil
	case r.Corrects == "" && len(r.Replaces) > 0:
		return errors.New("replaces: only a correction replaces figures, and corrects is empty")
	case r.UID != CorrectionUID(r.Corrects):
		return fmt.Errorf("uid: the correction of %s must have the UID %s", Quote(string(r.Corrects)), Quote(string(CorrectionUID(r.Corrects))))
	}
	if err := r.Replaces.validate(); err != nil {
		return fmt.Errorf("replaces: %w", err)
	}
	for _, m := range r.Replaces.Meters() {
		if _, ok := r.Usage[m]; !ok {
			return fmt.Errorf("replaces: %s has no new figure in usage", m)
		}
	}
	return nil
}

// Equal reports whether both records say the same: every field counts but
// Problems, which explain, and TTL, which only says how long to keep it. Times
// count in whole seconds, since that is what the API server keeps of them. Two
// records of one UID that are not Equal are a conflict.
func (r Record) Equal(other Record) bool {
	return r.Task == other.Task &&
		r.Phase == other.Phase &&
		r.Corrects == other.Corrects &&
		r.Reason == other.Reason &&
		r.AdmittedAt.Unix() == other.AdmittedAt.Unix() &&
		r.StartTime.Unix() == other.StartTime.Unix() &&
		r.CompletionTime.Unix() == other.CompletionTime.Unix() &&
		maps.Equal(r.Labels, other.Labels) &&
		maps.Equal(r.Usage, other.Usage) &&
		maps.Equal(r.Replaces, other.Replaces)
}

// openedAt is the instant that opens a window which opens at its first use.
func openedAt(r *Record) time.Time {
	switch {
	case !r.AdmittedAt.IsZero():
		return r.AdmittedAt
	case !r.StartTime.IsZero():
		return r.StartTime
	default:
		return r.CompletionTime
	}
}

// digestOf is a hash of what Equal compares beside the UID, the namespace and
// the labels, which an item knows. It is cheaper to keep than the record.
//
// It is a sum of mixed terms, each of which says where it stands: what is empty
// adds nothing, and none waits for another.
func digestOf(seed maphash.Seed, r *Record, figures []itemFigure) uint64 {
	h := uint64(len(figures))
	for _, f := range figures {
		h += mix(mix(uint64(f.meter)<<16|uint64(f.code)<<8|uint64(uint8(f.sign))) + uint64(f.amount)) //nolint:gosec // only the bits matter
	}
	for i, s := range [...]string{
		r.Name, r.APIVersion, r.Kind, r.Type, r.Model, string(r.Phase), string(r.Corrects), r.Reason,
	} {
		if s != "" {
			h += mix(maphash.String(seed, s) + uint64(i))
		}
	}
	for i, t := range [...]time.Time{r.AdmittedAt, r.StartTime, r.CompletionTime} {
		h += mix(mix(uint64(i)) + uint64(t.Unix())) //nolint:gosec // only the bits matter
	}
	return h
}
