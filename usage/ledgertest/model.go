package ledgertest

import (
	"errors"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// model is what a ledger must know, in plain slices.
type model struct {
	usage.History
}

func (m *model) recorded(uid types.UID) int {
	return slices.IndexFunc(m.Records, func(r usage.Record) bool { return r.UID == uid })
}

func (m *model) holding(uid types.UID) int {
	return slices.IndexFunc(m.Holds, func(h usage.Hold) bool { return h.UID == uid })
}

// add enters a record on both sides and compares what they say.
func (m *model) add(t fataler, ledger usage.Ledger, r usage.Record) {
	t.Helper()
	judge(t, r, m.take(r), ledger.Add(r.Clone()))
}

// addAll enters a list of records on both sides and compares what they say.
func (m *model) addAll(t fataler, ledger Filler, list []usage.Record) {
	t.Helper()
	given := make([]usage.Record, len(list))
	for i := range list {
		given[i] = list[i].Clone()
	}
	var errs []error
	if err := ledger.AddAll(given); err != nil {
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok {
			t.Fatalf("AddAll gives an error that joins none: %v", err)
		}
		errs = joined.Unwrap()
	}
	for i := range list {
		says, err := m.take(list[i]), error(nil)
		if says != good && len(errs) > 0 {
			err, errs = errs[0], errs[1:]
		}
		judge(t, list[i], says, err)
	}
	if len(errs) > 0 {
		t.Fatalf("AddAll gives an error of a record that is good: %v", errs[0])
	}
}

// verdict is what becomes of a record.
type verdict int

const (
	good verdict = iota // or known already
	invalid
	conflicting
)

// take enters a record into the model.
func (m *model) take(r usage.Record) verdict {
	i := m.recorded(r.UID)
	switch {
	case r.Validate() != nil:
		return invalid
	case i < 0:
		m.Records = append(m.Records, r)
		m.drop(r.UID)
		return good
	case m.Records[i].Equal(r):
		return good
	default:
		return conflicting
	}
}

// judge compares what a ledger says of a record with the verdict on it.
func judge(t fataler, r usage.Record, v verdict, err error) {
	t.Helper()
	var conflict *usage.ConflictError
	switch {
	case v == good && err != nil:
		t.Fatalf("Add of a record that is new or the same again: %v", err)
	case v == invalid && err == nil:
		t.Fatalf("Add accepted a record that is not valid: %v", r.Validate())
	case v == conflicting && (!errors.As(err, &conflict) || conflict.UID != r.UID):
		t.Fatalf("Add of another record with the UID %s: got %v, want a ConflictError", r.UID, err)
	}
}

// enter enters a hold on both sides and compares what they say.
func (m *model) enter(t fataler, ledger usage.Ledger, h usage.Hold) {
	t.Helper()
	got, err := ledger.Hold(h.Clone())
	if h.Validate() != nil {
		if err == nil {
			t.Fatalf("Hold accepted a hold that is not valid: %v", h.Validate())
		}
		return
	}
	if i := m.holding(h.UID); i < 0 || !m.Holds[i].Live(h.AdmittedAt) {
		m.replace(h)
	}
	if m.recorded(h.UID) >= 0 {
		if !errors.Is(err, usage.ErrRecorded) {
			t.Fatalf("Hold of a task with a record: got %v, want ErrRecorded", err)
		}
		return
	}
	if err != nil {
		t.Fatalf("Hold: %v", err)
	}
	if diff := cmp.Diff(m.Holds[m.holding(h.UID)], got); diff != "" {
		t.Fatalf("Hold returned another hold than the one in force (-want +got):\n%s", diff)
	}
}

// replace puts a hold in the place of the one of its UID, unless that has a
// record.
func (m *model) replace(h usage.Hold) {
	if m.recorded(h.UID) >= 0 {
		return
	}
	m.drop(h.UID)
	m.Holds = append(m.Holds, h)
}

func (m *model) drop(uid types.UID) {
	m.Holds = slices.DeleteFunc(slices.Clone(m.Holds), func(h usage.Hold) bool { return h.UID == uid })
}

// remove takes a record out.
func (m *model) remove(uid types.UID) {
	m.Records = slices.DeleteFunc(slices.Clone(m.Records), func(r usage.Record) bool { return r.UID == uid })
}

// held compares the hold of a UID.
func (m *model) held(t fataler, ledger usage.Ledger, uid types.UID) {
	t.Helper()
	if got, want := ledger.Recorded(uid), m.recorded(uid) >= 0; got != want {
		t.Fatalf("Recorded(%s) says %v, want %v", uid, got, want)
	}
	got, ok := ledger.Held(uid)
	i := m.holding(uid)
	if want := i >= 0 && m.recorded(uid) < 0; ok != want {
		t.Fatalf("Held(%s) says %v, want %v", uid, ok, want)
	}
	if !ok {
		return
	}
	if diff := cmp.Diff(m.Holds[i], got); diff != "" {
		t.Fatalf("Held(%s) (-want +got):\n%s", uid, diff)
	}
}

// ask compares the answers to a query.
func (m *model) ask(t fataler, ledger usage.Ledger, q usage.Query) {
	t.Helper()
	want, wantErr := m.Used(q)
	got, gotErr := ledger.Used(q)
	compareErrors(t, q, "Used", wantErr, gotErr)
	if diff := cmp.Diff(want, got); diff != "" && wantErr == nil {
		t.Fatalf("Used %s (-want +got):\n%s", describe(q), diff)
	}
	wantTurns, wantErr := m.Turns(q)
	gotTurns, gotErr := ledger.Turns(q)
	compareErrors(t, q, "Turns", wantErr, gotErr)
	if diff := cmp.Diff(wantTurns, gotTurns); diff != "" {
		t.Fatalf("Turns %s (-want +got):\n%s", describe(q), diff)
	}
}

// sentinels are the errors of a period that callers tell apart.
var sentinels = []error{
	period.ErrBeforeStart, period.ErrAfterEnd, period.ErrNotOpen, period.ErrOutOfRange, period.ErrZeroTime, period.ErrNotCompiled,
}

func compareErrors(t fataler, q usage.Query, method string, want, got error) {
	t.Helper()
	if (want == nil) != (got == nil) {
		t.Fatalf("%s %s: got the error %v, want %v", method, describe(q), got, want)
	}
	for _, sentinel := range sentinels {
		if errors.Is(want, sentinel) != errors.Is(got, sentinel) {
			t.Fatalf("%s %s: got the error %v, want %v", method, describe(q), got, want)
		}
	}
}

func describe(q usage.Query) string {
	name := "of no scope"
	if q.Scope != nil {
		name = "of " + q.Scope.Name + " group " + q.Scope.Group(q.Labels)
	}
	return name + " meter " + string(q.Meter) + " at " + q.At.UTC().Format(time.RFC3339Nano) + " except " + string(q.Except)
}
