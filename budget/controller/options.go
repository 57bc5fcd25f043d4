package controller

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/policy"
)

// Mode says how admissions of several replicas keep out of each other's way.
type Mode string

// The modes.
const (
	// LeaderElection, the default, admits on one replica at a time: the
	// manager's leader. Admissions are serialized in its memory, which costs no
	// API call. The manager must have leader election switched on wherever more
	// than one replica runs; without it only one may run.
	LeaderElection Mode = "LeaderElection"
	// Fenced admits on every replica. Before a hold counts, its namespace's
	// fence is moved on through the API server with the resourceVersion that was
	// read, so that no two replicas decide on the same room. It costs one more
	// read and one more write for each admission, and as much for the end of the
	// hold that was admitted last.
	Fenced Mode = "Fenced"
)

// Orphans says what becomes of the hold of a task that is gone and left no
// record.
type Orphans string

// What becomes of orphans.
const (
	// ChargeOrphans, the default, writes a record of a failed task that is
	// charged with what was held: nobody knows what the task has spent, and
	// deleting it must not be a way to spend for nothing.
	ChargeOrphans Orphans = "Charge"
	// ReleaseOrphans lets go of the hold. It is for hosts whose finalizer
	// keeps each task until it is recorded.
	ReleaseOrphans Orphans = "Release"
)

// Options are the settings of a [Book]. The zero value is ready for use.
type Options struct {
	// Clock tells the time; nil is the system's.
	Clock clock.Clock
	// Mode is LeaderElection unless it is set.
	Mode Mode
	// Namespaces are those that the manager's cache is restricted to; none if
	// it watches all.
	Namespaces []string
	// Orphans is ChargeOrphans unless it is set.
	Orphans Orphans
	// Compile are the options with which budgets are compiled. With
	// budget.WithPolicies(cel.CompileRules) budgets may carry policies in CEL;
	// without it, one that has any is Degraded, and refuses. Give the same to
	// the webhook.
	Compile []budget.CompileOption
	// Policies are those of the host, asked about every task beside those of
	// its budgets: a policy.Set, say, or a policy.Holder, for policies from a
	// folder that changes ([Book.ReloadPolicies]). Nil for none.
	Policies policy.Hook
	// PolicyTimeout bounds how long the policies of a task's budgets may take
	// together, and Policies too if it is neither a policy.Set nor a
	// policy.Holder; policy.DefaultTimeout unless it is set.
	PolicyTimeout time.Duration
	// HoldTTL is how long a hold counts when its task is never heard of again;
	// 24 hours unless it is set. It should exceed the longest run of a task:
	// what an expired hold had set aside is free again.
	HoldTTL time.Duration
	// RecordTTL is how long a record is kept after its task has finished; zero
	// keeps records for ever. It is raised where a budget needs them longer.
	RecordTTL time.Duration
	// StatusInterval is the least time between two writes to the status of one
	// budget for nothing but new figures; 2 seconds unless it is set. What
	// people act on is written at once: a new window, a threshold, a fault.
	StatusInterval time.Duration
	// SweepInterval is how often each hold is compared with its task, besides
	// the events that tell of it; 10 minutes unless it is set.
	SweepInterval time.Duration
	// Metrics is where metrics are registered; nil is controller-runtime's
	// registry.
	Metrics prometheus.Registerer
	// Events records events; nil is the manager's recorder.
	Events events.EventRecorder
	// ControllerName is the prefix of the names of the controllers, "bursar"
	// unless it is set. Names must differ within a process.
	ControllerName string
}

// The defaults of Options.
const (
	defaultHoldTTL        = 24 * time.Hour
	defaultStatusInterval = 2 * time.Second
	defaultSweepInterval  = 10 * time.Minute
)

// complete fills in the defaults and refuses what makes no sense.
func (o Options) complete() (Options, error) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Mode == "" {
		o.Mode = LeaderElection
	}
	if o.Orphans == "" {
		o.Orphans = ChargeOrphans
	}
	if o.Metrics == nil {
		o.Metrics = metrics.Registry
	}
	if o.ControllerName == "" {
		o.ControllerName = "bursar"
	}
	o.HoldTTL = orDefault(o.HoldTTL, defaultHoldTTL)
	o.StatusInterval = orDefault(o.StatusInterval, defaultStatusInterval)
	o.SweepInterval = orDefault(o.SweepInterval, defaultSweepInterval)
	return o, o.validate()
}

func (o Options) validate() error {
	var faults []error
	if o.Mode != LeaderElection && o.Mode != Fenced {
		faults = append(faults, fmt.Errorf("options: mode %q is not %s or %s", o.Mode, LeaderElection, Fenced))
	}
	if o.Orphans != ChargeOrphans && o.Orphans != ReleaseOrphans {
		faults = append(faults, fmt.Errorf("options: orphans %q is not %s or %s", o.Orphans, ChargeOrphans, ReleaseOrphans))
	}
	for name, d := range map[string]time.Duration{
		"holdTTL": o.HoldTTL, "recordTTL": o.RecordTTL,
		"statusInterval": o.StatusInterval, "sweepInterval": o.SweepInterval, "policyTimeout": o.PolicyTimeout,
	} {
		if d < 0 {
			faults = append(faults, fmt.Errorf("options: %s %s is negative", name, d))
		}
	}
	if _, err := budget.NewReviewer(o.Policies, budget.ReviewerOptions{}); err != nil {
		faults = append(faults, fmt.Errorf("options: policies: %w", err))
	}
	return errors.Join(faults...)
}

func orDefault(d, standard time.Duration) time.Duration {
	if d == 0 {
		return standard
	}
	return d
}
