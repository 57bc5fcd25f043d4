package usage

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Hold sets amounts aside for a task that was admitted and has not finished. It
// is identified by the task's UID, counts in every budget that its labels
// match from the moment it exists until ExpiresAt, and is never spend.
//
// As with [time.Time] values everywhere in this package, the zone of a time
// plays no part.
type Hold struct {
	// UID is the task's UID, and so the hold's identity. Required.
	UID types.UID `json:"uid"`
	// Namespace is the task's namespace. Required.
	Namespace string `json:"namespace"`
	// Name is the task's name; it is told in messages and plays no part in
	// any sum.
	Name string `json:"name,omitempty"`
	// Labels are the task's labels as they were when it was admitted. They,
	// not the task's later labels, say where the task's spend is charged.
	Labels map[string]string `json:"labels,omitempty"`
	// Amounts is what is set aside. Where a meter is absent, each budget sets
	// aside its own default estimate, if it has one.
	Amounts Amounts `json:"amounts,omitempty"`
	// AdmittedAt is the instant of the admission.
	AdmittedAt time.Time `json:"admittedAt"`
	// ExpiresAt is the instant from which the hold counts no more. Required:
	// a hold that nothing ends would be a limit that nobody set.
	ExpiresAt time.Time `json:"expiresAt"`
}

// Clone returns a copy that shares no map with h.
func (h Hold) Clone() Hold {
	h.Labels = maps.Clone(h.Labels)
	h.Amounts = h.Amounts.Clone()
	return h
}

// Validate reports every reason why h can't be a hold, joined; nil if it can.
func (h Hold) Validate() error {
	var found faults
	if h.UID == "" {
		found.note(errors.New("uid: required, a hold is identified by its task's UID"))
	}
	if h.Namespace == "" {
		found.note(errors.New("namespace: required"))
	}
	if err := h.Amounts.Validate(); err != nil {
		found.note(fmt.Errorf("amounts: %w", err))
	}
	found.note(validateTime("expiresAt", h.ExpiresAt))
	found.note(validateOptionalTime("admittedAt", h.AdmittedAt))
	if len(found) > 0 {
		return fmt.Errorf("hold of task %s: %w", describe(h.Namespace, h.Name, h.UID), errors.Join(found...))
	}
	return nil
}

// String says in one line what the hold is of and what it sets aside.
func (h Hold) String() string {
	return fmt.Sprintf("hold of task %s until %s: %s",
		describe(h.Namespace, h.Name, h.UID), h.ExpiresAt.UTC().Format(time.RFC3339), h.Amounts)
}

// Live reports whether the hold counts at now: until ExpiresAt, not at it.
func (h Hold) Live(now time.Time) bool { return now.Before(h.ExpiresAt) }

// describe names a task for a message: namespace/name where there is a name,
// the UID otherwise.
func describe(namespace, name string, uid types.UID) string {
	if name == "" {
		return fmt.Sprintf("with uid %s in namespace %s", Quote(string(uid)), clip(namespace))
	}
	return fmt.Sprintf("%s/%s (uid %s)", clip(namespace), clip(name), Quote(string(uid)))
}

// clip gives a name for a message: as it is when it looks like one.
func clip(name string) string {
	q := Quote(name)
	if len(name) <= maxQuoted && q == `"`+name+`"` {
		return name
	}
	return q
}
