package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// printHeldBack tells which runs had to wait and why.
func (r *report) printHeldBack(w *bytes.Buffer) {
	never := 0
	for _, h := range r.HeldBack {
		if h.StartedAt.IsZero() {
			never++
		}
	}
	heading(w, "HELD BACK", fmt.Sprintf("%s had to wait, %d of them to the end", count(len(r.HeldBack), "run"), never))
	t := table{align: "<<><<>>>>"}
	t.add("asked (UTC)", "run", "waited", "first refused by", "meter", "used", "+held", "+own", ">limit")
	for _, h := range r.HeldBack[:min(maxHeldBack, len(r.HeldBack))] {
		about := []string{h.AskedAt.UTC().Format("01-02 15:04"), h.Name, h.waited()}
		for _, f := range h.Refusals {
			t.add(append(about, f.Budget, string(f.Meter), short(f.Meter, f.Used),
				short(f.Meter, f.Held), short(f.Meter, f.Estimate), short(f.Meter, f.Limit))...)
			about = []string{"", "", ""}
		}
	}
	if len(r.HeldBack) > 0 {
		t.write(w)
		if rest := len(r.HeldBack) - maxHeldBack; rest > 0 {
			fmt.Fprintf(w, "  and %d more\n", rest)
		}
		wrap(w, "  First refusals by budget, several of one run among them: "+counts(r.refusalsByBudget()))
	}
	if len(r.Warned) > 0 {
		wrap(w, "  Started with a warning: "+counts(r.Warned))
	}
}

// count tells how many there are of something.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

func (h *heldBack) waited() string {
	if h.StartedAt.IsZero() {
		return "to the end"
	}
	minutes := h.StartedAt.Sub(h.AskedAt).Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", int(minutes.Hours()), int(minutes.Minutes())%60)
}

// refusalsByBudget counts the runs that each budget was among the first to
// refuse.
func (r *report) refusalsByBudget() map[string]int {
	count := map[string]int{}
	for _, h := range r.HeldBack {
		budgets := map[string]bool{}
		for _, f := range h.Refusals {
			budgets[f.Budget] = true
		}
		for name := range budgets {
			count[name]++
		}
	}
	return count
}

func counts(count map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, count[name]))
	}
	return strings.Join(parts, ", ")
}
