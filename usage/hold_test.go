package usage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/usage"
)

func TestHoldValidate(t *testing.T) {
	good := heldFor(finished(), usage.Amounts{usage.CostUSD: 0})
	for name, change := range map[string]func(*usage.Hold){
		"as it is":                       func(*usage.Hold) {},
		"no labels, amounts, name":       func(h *usage.Hold) { h.Labels, h.Amounts, h.Name = nil, nil, "" },
		"no admission":                   func(h *usage.Hold) { h.AdmittedAt = time.Time{} },
		"an expiry before the admission": func(h *usage.Hold) { h.ExpiresAt = h.AdmittedAt.Add(-time.Hour) },
		"the first instant":              func(h *usage.Hold) { h.ExpiresAt = time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC) },
		"the last instant":               func(h *usage.Hold) { h.ExpiresAt = time.Date(9998, 12, 31, 23, 59, 59, 0, time.UTC) },
	} {
		h := good.Clone()
		change(&h)
		if err := h.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for reason, change := range map[string]func(*usage.Hold){
		"uid: required":                  func(h *usage.Hold) { h.UID = "" },
		"namespace: required":            func(h *usage.Hold) { h.Namespace = "" },
		"amounts: costUSD -1":            func(h *usage.Hold) { h.Amounts[usage.CostUSD] = -usage.USD },
		"amounts: a meter needs a name":  func(h *usage.Hold) { h.Amounts[""] = 1 },
		"expiresAt: required":            func(h *usage.Hold) { h.ExpiresAt = time.Time{} },
		"expiresAt: the year 9999":       func(h *usage.Hold) { h.ExpiresAt = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) },
		"admittedAt: the year 0 is":      func(h *usage.Hold) { h.AdmittedAt = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC) },
		`hold of task team-a/run-7 (uid`: func(h *usage.Hold) { h.UID, h.Name = "", "run-7" },
	} {
		h := good.Clone()
		change(&h)
		if err := h.Validate(); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want an error with %q", err, reason)
		}
	}
	err := usage.Hold{}.Validate()
	for _, field := range []string{"uid: ", "namespace: ", "expiresAt: "} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("an empty hold: %v lacks %s", err, field)
		}
	}
}

func TestHoldIsLiveUntilItExpires(t *testing.T) {
	h := heldFor(finished(), nil)
	for when, want := range map[time.Time]bool{
		h.ExpiresAt.Add(-1): true, h.ExpiresAt: false, h.ExpiresAt.Add(1): false, h.AdmittedAt.Add(-time.Hour): true,
		h.ExpiresAt.Add(-1).In(time.FixedZone("x", -7200)): true,
	} {
		if got := h.Live(when); got != want {
			t.Errorf("at %s: %v, want %v", when, got, want)
		}
	}
}

func TestHoldCloneSharesNothing(t *testing.T) {
	h := heldFor(finished(), usage.Amounts{usage.CostUSD: 1})
	want, clone := h.Clone(), h.Clone()
	clone.Labels["team"], clone.Amounts[usage.CostUSD] = "other", 2
	if diff := cmp.Diff(want, *h); diff != "" {
		t.Errorf("the clone changed the original (-want +got):\n%s", diff)
	}
}

func TestAHoldSaysInOneLineWhatItIs(t *testing.T) {
	h := usage.Hold{UID: "u1", Namespace: "team-a", Name: "fix-bug", Amounts: usage.Amounts{usage.CostUSD: 6 * usage.USD}, ExpiresAt: noon}
	if want := `hold of task team-a/fix-bug (uid "u1") until 2026-03-29T12:00:00Z: costUSD 6`; h.String() != want {
		t.Errorf("got  %s\nwant %s", h, want)
	}
}
