package controller

import (
	"errors"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// The reasons of events.
const (
	// EventBlocked is on a task that waits for a budget.
	EventBlocked = "BudgetBlocked"
	// EventAdmitted is on a task that was admitted after it has waited.
	EventAdmitted = "BudgetAdmitted"
	// EventWarning is on a task that was admitted, or recorded, although a budget
	// that only warns is spent or a policy warns.
	EventWarning = "BudgetWarning"
	// EventThreshold is on a budget that has reached a threshold.
	EventThreshold = "BudgetThreshold"
	// EventConflict is on a task that was recorded with other content.
	EventConflict = "RecordConflict"
	// EventOrphan is on a hold whose task is gone without a record.
	EventOrphan = "OrphanedHold"
)

// maxNote is the longest note of an event, in bytes.
const maxNote = 1000

// teller tells people and monitoring what happens.
type teller struct {
	events  events.EventRecorder
	metrics *meters
}

func (t *teller) event(about runtime.Object, kind, reason, action, note string) {
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote-len("…")], "") + "…"
	}
	t.events.Eventf(about, nil, kind, reason, action, "%s", note)
}

func (t *teller) blocked(task client.Object, d *budget.Decision) {
	t.event(task, corev1.EventTypeWarning, EventBlocked, "Admit", d.Message())
}

func (t *teller) admitted(task client.Object, d *budget.Decision) {
	t.event(task, corev1.EventTypeNormal, EventAdmitted, "Admit", d.Message())
}

func (t *teller) warned(task client.Object, warnings []string) {
	t.event(task, corev1.EventTypeWarning, EventWarning, "Admit", strings.Join(warnings, "; "))
}

func (t *teller) conflict(task client.Object, err *ConflictError) {
	t.event(task, corev1.EventTypeWarning, EventConflict, "Record", err.Error())
}

// meters are the metrics. None has a label per task.
type meters struct {
	admissions *prometheus.CounterVec
	duration   prometheus.Histogram
	records    *prometheus.CounterVec
	reloads    *prometheus.CounterVec
	failures   *prometheus.CounterVec
	stale      *prometheus.GaugeVec
	ledger     *prometheus.GaugeVec
	waiting    *prometheus.GaugeVec
	used, held *prometheus.GaugeVec
	limit      *prometheus.GaugeVec
	ratio      *prometheus.GaugeVec
}

// newMeters registers the metrics, or finds those that are registered already.
func newMeters(r prometheus.Registerer) (*meters, error) {
	var faults []error
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "bursar", Name: name, Help: help}, labels), &faults)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "bursar", Name: name, Help: help}, labels), &faults)
	}
	const unit = ", in the unit of the meter (dollars for costUSD)"
	m := &meters{
		admissions: counter("admissions_total", "Answers of gates, by outcome and reason.", "outcome", "reason"),
		records:    counter("records_total", "Figures of records that were written, by meter and basis.", "meter", "basis"),
		reloads:    counter("policy_reloads_total", "Reloads of the host's policies, by outcome.", "outcome"),
		failures:   counter("policy_errors_total", "Errors of policies, each of which refuses, by code.", "code"),
		stale:      gauge("policies_stale", "1 while older policies are in force since the last reload has failed."),
		ledger:     gauge("ledger_items", "Records and holds in memory.", "namespace", "kind"),
		waiting:    gauge("waiting_tasks", "Tasks that wait for a budget.", "namespace"),
		used:       gauge("budget_used", "What was used in the current window"+unit+".", "namespace", "budget", "meter"),
		held:       gauge("budget_held", "What is held for running tasks"+unit+".", "namespace", "budget", "meter"),
		limit:      gauge("budget_limit", "The limit"+unit+".", "namespace", "budget", "meter"),
		ratio:      gauge("budget_ratio", "Used and held together as a part of the limit.", "namespace", "budget", "meter"),
		duration: register(r, prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "bursar", Name: "admission_duration_seconds", Help: "How long gates take, API calls included.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
		}), &faults),
	}
	return m, errors.Join(faults...)
}

func register[C prometheus.Collector](r prometheus.Registerer, c C, faults *[]error) C {
	err := r.Register(c)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if known, ok := already.ExistingCollector.(C); ok {
			return known
		}
	}
	if err != nil {
		*faults = append(*faults, err)
	}
	return c
}

// admission counts an answer.
func (t *teller) admission(r *Result, err error, took time.Duration) {
	outcome, reason := "refused", r.Decision.Reason()
	switch {
	case err != nil:
		outcome, reason = "error", ""
	case r.Admitted:
		outcome = "admitted"
	}
	t.metrics.admissions.WithLabelValues(outcome, reason).Inc()
	t.failures(r.Decision.Policy)
	t.metrics.duration.Observe(took.Seconds())
}

// failures counts the errors of policies.
func (t *teller) failures(v *policy.Verdict) {
	if v == nil {
		return
	}
	for i := range v.Errors {
		t.metrics.failures.WithLabelValues(v.Errors[i].Code).Inc()
	}
}

// reloaded counts a reload of the host's policies.
func (t *teller) reloaded(s *policy.Status, err error) {
	outcome, stale := "loaded", 0.0
	if err != nil {
		outcome = "failed"
	}
	if s.Stale {
		stale = 1
	}
	t.metrics.reloads.WithLabelValues(outcome).Inc()
	t.metrics.stale.WithLabelValues().Set(stale)
}

func (t *teller) recorded(r *usage.Record) {
	for meter, figure := range r.Usage {
		t.metrics.records.WithLabelValues(string(meter), string(figure.Basis)).Inc()
	}
}

// budget shows how a budget stands.
func (t *teller) budget(tb *budgetv1alpha1.TaskBudget, r *budget.Rule, o *budget.Observation) {
	for _, l := range r.Limits() {
		labels := prometheus.Labels{"namespace": tb.Namespace, "budget": tb.Name, "meter": string(l.Meter)}
		t.metrics.limit.With(labels).Set(shown(l.Meter, l.Max))
		if o.Fault != nil || o.Outside != "" {
			continue
		}
		used, held := o.Used[l.Meter], o.Held[l.Meter]
		t.metrics.used.With(labels).Set(shown(l.Meter, used))
		t.metrics.held.With(labels).Set(shown(l.Meter, held))
		ratio := 1.0
		if l.Max > 0 {
			ratio = (float64(used) + float64(held)) / float64(l.Max)
		}
		t.metrics.ratio.With(labels).Set(ratio)
	}
}

// shown is an amount as monitoring shows it.
func shown(m usage.Meter, amount int64) float64 {
	if m == usage.CostUSD {
		return float64(amount) / float64(usage.USD)
	}
	return float64(amount)
}

// forgetBudget takes a budget out of the metrics.
func (t *teller) forgetBudget(namespace, name string) {
	labels := prometheus.Labels{"namespace": namespace, "budget": name}
	for _, g := range []*prometheus.GaugeVec{t.metrics.used, t.metrics.held, t.metrics.limit, t.metrics.ratio} {
		g.DeletePartialMatch(labels)
	}
}

// forgetNamespace takes a namespace out of the metrics of what is in memory.
func (t *teller) forgetNamespace(namespace string) {
	labels := prometheus.Labels{"namespace": namespace}
	t.metrics.ledger.DeletePartialMatch(labels)
	t.metrics.waiting.DeletePartialMatch(labels)
}

// size shows how much is in memory for a namespace.
func (t *teller) size(s *shelf) {
	records, holds := s.ledger.Len()
	t.metrics.ledger.WithLabelValues(s.namespace, "records").Set(float64(records))
	t.metrics.ledger.WithLabelValues(s.namespace, "holds").Set(float64(holds))
	s.mu.Lock()
	waiting := len(s.waiting)
	s.mu.Unlock()
	t.metrics.waiting.WithLabelValues(s.namespace).Set(float64(waiting))
}
