package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/usage"
)

// spec is a TaskBudget around a spec.
func spec(name, text string) string {
	return fmt.Sprintf("apiVersion: bursar.dev/v1alpha1\nkind: TaskBudget\nmetadata: {name: %s, namespace: agents}\nspec: {%s}\n---\n", name, text)
}

const (
	everyone = `taskSelector: {}, defaultEstimate: {costUSD: "2"}, `
	dollars  = `, maxCostUSD: "12"`
)

func TestEveryKindOfPeriodIsPlayed(t *testing.T) {
	all, err := os.ReadFile("testdata/runs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	some := strings.Join(strings.SplitAfter(string(all), "\n")[:80], "")
	for kind, c := range map[string]struct {
		spec, label string
		waiting     bool // runs for which there never is room
	}{
		"Hourly":                {spec: everyone + `period: {type: Hourly}` + dollars, label: "00 UTC, 1h"},
		"Daily at another time": {spec: everyone + `period: {type: Daily, timeOfDay: "05:30", timezone: America/Havana}` + dollars, label: "05:30 CDT, 24h"},
		"Fixed":                 {spec: everyone + `period: {type: Fixed, duration: 90m}` + dollars, label: " UTC, 1h30m"},
		"FirstUse":              {spec: everyone + `period: {type: FirstUse, duration: 5h}` + dollars, label: " UTC, 5h"},
		"Sliding":               {spec: everyone + `period: {type: Sliding, duration: 6h}` + dollars, label: "up to "},
		"Sliding by user":       {spec: everyone + `period: {type: Sliding, duration: 1d}, groupBy: [user]` + dollars, label: "user=u1  up to "},
		"Lifetime":              {spec: everyone + `period: {type: Lifetime}` + dollars, label: "from the beginning", waiting: true},
		"Lifetime that starts": {
			spec:  everyone + `period: {type: Lifetime, startsAt: "2026-03-08T00:00:00Z"}` + dollars,
			label: "Sun 03-08 00:00 UTC on", waiting: true,
		},
		"Lifetime that ends": {
			spec:  everyone + `period: {type: Lifetime, endsAt: "2026-03-08T00:00:00Z"}` + dollars,
			label: "from the beginning", waiting: true,
		},
		"Cycle":             {spec: everyone + `period: {type: Cycle, unit: Day, every: 2, anchor: "2026-03-01T00:00:00Z"}` + dollars, label: " UTC, 48h"},
		"a limit of zero":   {spec: `taskSelector: {}, period: {type: Daily}, maxCostUSD: "0"`, label: "no task ran under it", waiting: true},
		"unknown usage":     {spec: `taskSelector: {}, period: {type: Daily}, unknownUsage: Block, maxCostUSD: "500"`, label: "00:00 UTC, 24h"},
		"a budget of tasks": {spec: `taskSelector: {}, period: {type: Hourly}, limits: [{meter: tasks, max: 2}]`, label: "00 UTC, 1h"},
	} {
		t.Run(kind, func(t *testing.T) {
			inFolder(t, map[string]string{
				"budgets/a.yaml": spec("a", c.spec) + spec("b", everyone+"period: {type: Daily}, action: Warn"+dollars),
				"runs.jsonl":     some,
			})
			played := played(t, "-budgets", "budgets", "-runs", "runs.jsonl")
			told, err := new(options).tell(played.journal)
			if err != nil {
				t.Fatal(err)
			}
			text := string(told)
			_, windows, _ := strings.Cut(text, "\n\nWINDOWS")
			if !strings.Contains(windows, c.label) {
				t.Errorf("want %q in:\n%s", c.label, windows)
			}
			if strings.Contains(text, ", 0 of them to the end") == c.waiting {
				t.Errorf("runs wait to the end: want %t in:\n%s", c.waiting, text)
			}
			checkWaits(t, played)
		})
	}
}

// A task must not wait longer than its budgets make it: who was refused and then
// admitted was refused until then, and who never started still is.
func checkWaits(t *testing.T, c *controller) {
	t.Helper()
	var last time.Time
	for _, r := range c.journal.records {
		last = later(last, r.CompletionTime)
	}
	for _, s := range c.journal.arrivals {
		if s.refusal == nil {
			continue
		}
		before := later(last, s.refusal.At)
		if s.admitted != nil {
			before = s.admitted.At.Add(-time.Second)
		}
		d := budget.Admit(budget.Input{
			Task:   budget.Task{UID: s.run.UID, Namespace: s.run.Namespace, Labels: s.run.Labels},
			Rules:  c.rules,
			Ledger: c.journal.at(before),
			Now:    before,
		})
		if before.After(s.refusal.At) && d.Allowed {
			t.Errorf("%s waited from %s, and there was room at %s", s.run.Name, s.refusal.At, before)
		}
	}
}

// at is what was recorded and held at an instant, told by plain slices.
func (j *journal) at(now time.Time) usage.History {
	var h usage.History
	for _, r := range j.records {
		switch {
		case !r.CompletionTime.After(now):
			h.Records = append(h.Records, r)
		case !r.AdmittedAt.After(now):
			h.Holds = append(h.Holds, *j.stories[r.UID].admitted.Hold)
		}
	}
	return h
}
