package podspec

import (
	"fmt"
	"strings"
)

// Action is what Apply or Harden did at one place.
type Action string

// The actions.
const (
	// ActionSet: something absent was set.
	ActionSet Action = "set"
	// ActionReplaced: something was there and was replaced.
	ActionReplaced Action = "replaced"
	// ActionKept: something was there that differs from what was wanted, and stays.
	ActionKept Action = "kept"
)

// Entry is what was done at one place of an object, in text that a person reads.
type Entry struct {
	// Action is what was done.
	Action Action `json:"action"`
	// Path is the place: "spec.containers[bot].resources.limits.cpu". List items are named, not numbered.
	Path string `json:"path"`
	// Had is what was there before; empty if nothing was.
	Had string `json:"had,omitempty"`
	// Now is what is there afterwards.
	Now string `json:"now"`
	// Wanted is what the plan asked for where it was not followed.
	Wanted string `json:"wanted,omitempty"`
	// Source is where the value comes from.
	Source string `json:"source,omitempty"`
}

// String is the entry on one line.
func (e Entry) String() string {
	switch e.Action {
	case ActionKept:
		return fmt.Sprintf("kept %s %s (wanted %s)", e.Path, e.Now, e.Wanted)
	case ActionReplaced:
		return fmt.Sprintf("replaced %s %s by %s (%s)", e.Path, e.Had, e.Now, e.Source)
	default:
		return fmt.Sprintf("set %s %s (%s)", e.Path, e.Now, e.Source)
	}
}

// Report lists what was set, replaced and kept, in the order of the object. Places that were as wanted already are not in
// it: an empty report says that nothing had to be done and nothing was in the way.
type Report struct {
	Entries []Entry `json:"entries,omitempty"`
}

// Changed says whether anything was set or replaced.
func (r Report) Changed() bool {
	for _, entry := range r.Entries {
		if entry.Action != ActionKept {
			return true
		}
	}
	return false
}

// Kept are the entries of what was in the way and stays.
func (r Report) Kept() []Entry {
	var kept []Entry
	for _, entry := range r.Entries {
		if entry.Action == ActionKept {
			kept = append(kept, entry)
		}
	}
	return kept
}

// String is one entry a line.
func (r Report) String() string {
	lines := make([]string, 0, len(r.Entries))
	for _, entry := range r.Entries {
		lines = append(lines, entry.String())
	}
	return strings.Join(lines, "\n")
}
