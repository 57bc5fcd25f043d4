package main

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// A report is all that the program tells, as data: the text is printed from it,
// and -json is it.
type report struct {
	Runs      int              `json:"runs"`
	First     time.Time        `json:"first"`
	Last      time.Time        `json:"last"`
	HeldBack  []heldBack       `json:"heldBack"`
	Warned    map[string]int   `json:"warned"` // starts that a budget warned of
	Budgets   []budgetReport   `json:"budgets"`
	Unknown   unknownReport    `json:"unknown"`
	Records   []usage.Record   `json:"records"`
	Explained *budget.Decision `json:"explained"`
	Pod       *pod             `json:"pod"`
}

// heldBack is a run that had to wait.
type heldBack struct {
	UID  types.UID `json:"uid"`
	Name string    `json:"name"`
	// AskedAt is when it asked first. StartedAt is when it was admitted, zero
	// if it never was; it asked Asked times.
	AskedAt   time.Time `json:"askedAt"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	Asked     int       `json:"asked"`
	// Refusals are the budgets that refused it first.
	Refusals []refusal `json:"refusals"`
	Message  string    `json:"message"`
}

// refusal is a limit that left no room, or a budget outside its life.
type refusal struct {
	Budget   string       `json:"budget"`
	Meter    usage.Meter  `json:"meter,omitempty"`
	Used     int64        `json:"used"`
	Held     int64        `json:"held"`
	Estimate int64        `json:"estimate"`
	Limit    int64        `json:"limit"`
	Cause    budget.Cause `json:"cause,omitempty"`
}

// budgetReport is how the windows of a budget came out.
type budgetReport struct {
	Name    string         `json:"name"`
	About   string         `json:"about"`
	Windows []windowReport `json:"windows"`

	zone *time.Location
}

// windowReport is one window of one group.
type windowReport struct {
	Group  string        `json:"group,omitempty"`
	Window period.Window `json:"window"`
	// Known is what was reported or priced, on every meter of the budget.
	Known  usage.Amounts `json:"known"`
	Limits []limitReport `json:"limits"`
	Tasks  int           `json:"tasks"`
	// UnknownCost counts the tasks whose cost could not be read, NoUsage those
	// that reported nothing at all.
	UnknownCost int `json:"unknownCost"`
	NoUsage     int `json:"noUsage"`
}

// limitReport is how one limit came out.
type limitReport struct {
	Meter usage.Meter `json:"meter"`
	Limit int64       `json:"limit"`
	// Used includes Charged, what stands in for the usage of Unknown tasks.
	Used     int64 `json:"used"`
	Charged  int64 `json:"charged"`
	Unknown  int64 `json:"unknown"`
	PeakHeld int64 `json:"peakHeld"`
}

// taken is what part of the limit was used.
func (l *limitReport) taken() float64 {
	if l.Limit <= 0 {
		return 1
	}
	return float64(l.Used) / float64(l.Limit)
}

// unknownReport is what nobody knows of what was spent.
type unknownReport struct {
	Unreadable []problemReport `json:"unreadable"`
	NoUsage    []string        `json:"noUsage"`
	Priced     int             `json:"priced"`
}

type problemReport struct {
	Run      string          `json:"run"`
	Problems []usage.Problem `json:"problems"`
}
