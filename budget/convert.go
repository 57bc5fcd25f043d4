package budget

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// maxReason is the longest reason of a problem in a TaskRecord, in bytes.
const maxReason = 1024

// NewTaskRecord gives a record the form in which it is stored: named after the
// task's UID, without an owner, so that it outlives the task. Its own labels are
// the task's labels at admission, for listing; what counts is in its spec, which
// can't be changed. The object shares nothing with r.
func NewTaskRecord(r usage.Record) *budgetv1alpha1.TaskRecord {
	spec := budgetv1alpha1.TaskRecordSpec{
		TaskRef:        reference(r.UID, r.Name, r.APIVersion, r.Kind),
		TaskLabels:     maps.Clone(r.Labels),
		Type:           r.Type,
		Model:          r.Model,
		Phase:          string(r.Phase),
		AdmittedAt:     someTime(r.AdmittedAt),
		StartTime:      someTime(r.StartTime),
		CompletionTime: metav1.NewTime(r.CompletionTime),
		Corrects:       string(r.Corrects),
		Reason:         bounded(r.Reason, maxReason),
	}
	spec.Usage, spec.Basis = manifest(r.Usage)
	if r.Corrects != "" {
		spec.Replaces = &budgetv1alpha1.Replaced{}
		spec.Replaces.Usage, spec.Replaces.Basis = manifest(r.Replaces)
	}
	for _, p := range r.Problems {
		spec.Problems = append(spec.Problems, budgetv1alpha1.RecordProblem{
			Meter: string(p.Meter), Source: p.Source, Reason: bounded(p.Reason, maxReason),
		})
	}
	if r.TTL != nil {
		seconds := int64(*r.TTL / time.Second)
		if *r.TTL%time.Second > 0 {
			seconds++
		}
		spec.TTLSeconds = &seconds
	}
	record := &budgetv1alpha1.TaskRecord{
		TypeMeta:   typeMeta("TaskRecord"),
		ObjectMeta: objectMeta(r.Namespace, r.UID, r.Labels),
		Spec:       spec,
	}
	if cost := r.Usage.Of(usage.CostUSD); cost.Basis != usage.Unknown {
		showCost(&record.ObjectMeta, cost.Amount)
	}
	return record
}

// showCost puts a cost on an object for people to read.
func showCost(on *metav1.ObjectMeta, nano int64) {
	metav1.SetMetaDataAnnotation(on, budgetv1alpha1.CostAnnotation, usage.CostUSD.Format(nano))
}

// RecordFrom reads a stored record. What can't be read is reported with its
// path, and then there is no record.
func RecordFrom(tr *budgetv1alpha1.TaskRecord) (usage.Record, field.ErrorList) {
	if tr == nil {
		return usage.Record{}, field.ErrorList{field.Required(field.NewPath("spec"), "there is no TaskRecord")}
	}
	var c compiler
	spec := field.NewPath("spec")
	r := usage.Record{
		Task: usage.Task{
			UID:        types.UID(tr.Spec.TaskRef.UID),
			Namespace:  tr.Namespace,
			Name:       tr.Spec.TaskRef.Name,
			APIVersion: tr.Spec.TaskRef.APIVersion,
			Kind:       tr.Spec.TaskRef.Kind,
			Type:       tr.Spec.Type,
			Model:      tr.Spec.Model,
		},
		Phase:          usage.Phase(tr.Spec.Phase),
		Labels:         maps.Clone(tr.Spec.TaskLabels),
		AdmittedAt:     timeOf(tr.Spec.AdmittedAt),
		StartTime:      timeOf(tr.Spec.StartTime),
		CompletionTime: timeOf(&tr.Spec.CompletionTime),
		Usage:          figures(&c, spec, tr.Spec.Usage, tr.Spec.Basis),
		Corrects:       types.UID(tr.Spec.Corrects),
		Reason:         tr.Spec.Reason,
	}
	if tr.Spec.Replaces != nil {
		r.Replaces = figures(&c, spec.Child("replaces"), tr.Spec.Replaces.Usage, tr.Spec.Replaces.Basis)
	}
	for _, p := range tr.Spec.Problems {
		r.Problems = append(r.Problems, usage.Problem{Meter: usage.Meter(p.Meter), Source: p.Source, Reason: p.Reason})
	}
	if seconds := tr.Spec.TTLSeconds; seconds != nil {
		const most = int64(math.MaxInt64 / time.Second)
		ttl := time.Duration(max(-most, min(*seconds, most))) * time.Second
		r.TTL = &ttl
	}
	c.identity(tr.Name, tr.Spec.TaskRef.UID)
	if err := r.Validate(); err != nil && len(c.faults) == 0 {
		c.faults = append(c.faults, field.Invalid(spec, tr.Name, err.Error()))
	}
	if len(c.faults) > 0 {
		return usage.Record{}, c.faults
	}
	return r, nil
}

// NewTaskHold gives a hold the form in which it is stored, named after the
// task's UID. Its times are kept in whole seconds: the admission is floored and
// the expiry rounded up. The object shares nothing with h.
func NewTaskHold(h usage.Hold, task usage.Task) *budgetv1alpha1.TaskHold {
	hold := &budgetv1alpha1.TaskHold{
		TypeMeta:   typeMeta("TaskHold"),
		ObjectMeta: objectMeta(h.Namespace, h.UID, h.Labels),
		Spec: budgetv1alpha1.TaskHoldSpec{
			TaskRef:    reference(h.UID, h.Name, task.APIVersion, task.Kind),
			TaskLabels: maps.Clone(h.Labels),
			AdmittedAt: metav1.NewTime(floorSecond(h.AdmittedAt)),
			ExpiresAt:  metav1.NewTime(ceilSecond(h.ExpiresAt)),
		},
	}
	for _, m := range h.Amounts.Meters() {
		set(&hold.Spec.Amounts, m, h.Amounts[m])
	}
	if nano, known := h.Amounts[usage.CostUSD]; known {
		showCost(&hold.ObjectMeta, nano)
	}
	return hold
}

// HoldFrom reads a stored hold. What can't be read is reported with its path,
// and then there is no hold.
func HoldFrom(th *budgetv1alpha1.TaskHold) (usage.Hold, field.ErrorList) {
	if th == nil {
		return usage.Hold{}, field.ErrorList{field.Required(field.NewPath("spec"), "there is no TaskHold")}
	}
	var c compiler
	spec := field.NewPath("spec")
	h := usage.Hold{
		UID:        types.UID(th.Spec.TaskRef.UID),
		Namespace:  th.Namespace,
		Name:       th.Spec.TaskRef.Name,
		Labels:     maps.Clone(th.Spec.TaskLabels),
		Amounts:    amounts(&c, spec.Child("amounts"), &th.Spec.Amounts),
		AdmittedAt: timeOf(&th.Spec.AdmittedAt),
		ExpiresAt:  timeOf(&th.Spec.ExpiresAt),
	}
	c.identity(th.Name, th.Spec.TaskRef.UID)
	if err := h.Validate(); err != nil && len(c.faults) == 0 {
		c.faults = append(c.faults, field.Invalid(spec, th.Name, err.Error()))
	}
	if len(c.faults) > 0 {
		return usage.Hold{}, c.faults
	}
	return h, nil
}

// identity holds an object to the name that makes it the only one of its task.
func (c *compiler) identity(name, uid string) {
	if name != uid {
		c.faults = append(c.faults, field.Invalid(field.NewPath("metadata", "name"), bounded(name, maxValue),
			fmt.Sprintf("must be the task's UID, which is %s", usage.Quote(uid))))
	}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: budgetv1alpha1.GroupVersion.String(), Kind: kind}
}

func objectMeta(namespace string, uid types.UID, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: string(uid), Labels: legal(labels)}
}

// legal are those of a task's labels that an object may carry. A host's task
// need not be an object whose labels an API server has checked.
func legal(labels map[string]string) map[string]string {
	kept := maps.Clone(labels)
	maps.DeleteFunc(kept, func(key, value string) bool {
		return len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0
	})
	return kept
}

func reference(uid types.UID, name, apiVersion, kind string) budgetv1alpha1.TaskReference {
	return budgetv1alpha1.TaskReference{UID: string(uid), Name: name, APIVersion: apiVersion, Kind: kind}
}

func someTime(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil || t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// manifest splits figures into their amounts and the bases of those that were
// not reported.
func manifest(figures usage.Figures) (budgetv1alpha1.Amounts, []budgetv1alpha1.MeterBasis) {
	var amounts budgetv1alpha1.Amounts
	var bases []budgetv1alpha1.MeterBasis
	for _, m := range figures.Meters() {
		f := figures[m]
		if f.Basis != usage.Reported {
			bases = append(bases, budgetv1alpha1.MeterBasis{Meter: string(m), Basis: budgetv1alpha1.Basis(f.Basis)})
		}
		if f.Basis != usage.Unknown {
			set(&amounts, m, f.Amount)
		}
	}
	return amounts, bases
}

// set puts an amount into its field, or into the list.
func set(a *budgetv1alpha1.Amounts, m usage.Meter, amount int64) {
	switch m {
	case usage.CostUSD:
		q := usage.USDQuantity(amount)
		a.CostUSD = &q
	case usage.InputTokens:
		a.InputTokens = &amount
	case usage.OutputTokens:
		a.OutputTokens = &amount
	default:
		a.Meters = append(a.Meters, budgetv1alpha1.MeterAmount{Meter: budgetv1alpha1.MeterName(m), Amount: amount})
	}
}

// figures puts amounts and bases together again.
func figures(c *compiler, path *field.Path, a budgetv1alpha1.Amounts, bases []budgetv1alpha1.MeterBasis) usage.Figures {
	read := usage.Figures{}
	for m, amount := range amounts(c, path.Child("usage"), &a) {
		read[m] = usage.Figure{Amount: amount, Basis: usage.Reported}
	}
	for i, b := range bases {
		m, basis := usage.Meter(b.Meter), usage.Basis(b.Basis)
		f, known := read[m]
		at := path.Child("basis").Index(i)
		switch {
		case !slices.Contains([]usage.Basis{usage.Reported, usage.Priced, usage.Held, usage.Unknown}, basis):
			c.faults = append(c.faults, field.NotSupported(at.Child("basis"), basis,
				[]usage.Basis{usage.Reported, usage.Priced, usage.Held, usage.Unknown}))
		case known == (basis == usage.Unknown):
			c.faults = append(c.faults, field.Invalid(at.Child("basis"), b.Basis,
				"usage must name the amount of every basis but Unknown"))
		default:
			f.Basis = basis
			read[m] = f
		}
	}
	return read
}
