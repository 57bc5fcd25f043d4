package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursar-dev/bursar/period"
)

// What the text shows before it only counts.
const (
	maxHeldBack = 8
	maxWindows  = 7
	maxNames    = 8
)

// print writes the report for people.
func (r *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%d runs under %d budgets, from %s to %s on a simulated clock.\n",
		r.Runs, len(r.Budgets), clock(r.First), clock(r.Last))
	r.printHeldBack(w)
	heading(w, "WINDOWS", "what each budget's windows came to; used includes what is charged for unknown usage")
	for i := range r.Budgets {
		r.Budgets[i].print(w)
	}
	r.printUnknown(w)
	heading(w, "ONE DECISION", "as budget.Decision explains it")
	for line := range strings.Lines(r.Explained.Explain()) {
		fmt.Fprint(w, "  ", line)
	}
	heading(w, "ITS POD", "sized by podspec.Apply when it may start")
	text, err := r.Pod.yaml()
	for line := range strings.Lines(text) {
		fmt.Fprint(w, "  ", line)
	}
	return err
}

func heading(w io.Writer, title, about string) { fmt.Fprintf(w, "\n%s: %s\n", title, about) }

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04Z") }

// printHeldBack tells which runs had to wait and why.
func (r *report) printHeldBack(w io.Writer) {
	never := 0
	for _, h := range r.HeldBack {
		if h.StartedAt.IsZero() {
			never++
		}
	}
	heading(w, "HELD BACK", fmt.Sprintf("%d runs had to wait, %d of them to the end", len(r.HeldBack), never))
	t := table{align: "<<><<>>>>"}
	t.add("asked at (UTC)", "run", "waited", "first refused by", "meter", "used", "+ held", "+ estimate", "limit")
	for _, h := range r.HeldBack[:min(maxHeldBack, len(r.HeldBack))] {
		for i, f := range h.Refusals {
			asked, name, waited := h.AskedAt.UTC().Format("Mon 01-02 15:04:05"), h.Name, h.waited()
			if i > 0 {
				asked, name, waited = "", "", ""
			}
			t.add(asked, name, waited, f.Budget, string(f.Meter), short(f.Meter, f.Used),
				short(f.Meter, f.Held), short(f.Meter, f.Estimate), short(f.Meter, f.Limit))
		}
	}
	if len(r.HeldBack) == 0 {
		return
	}
	t.write(w)
	if rest := len(r.HeldBack) - maxHeldBack; rest > 0 {
		fmt.Fprintf(w, "  and %d more; over all, first refusals by budget: %s\n", rest, r.refusalsByBudget())
	}
}

func (h *heldBack) waited() string {
	if h.StartedAt.IsZero() {
		return "never ran"
	}
	return h.StartedAt.Sub(h.AskedAt).String()
}

func (r *report) refusalsByBudget() string {
	counts := map[string]int{}
	for _, h := range r.HeldBack {
		seen := map[string]bool{}
		for _, f := range h.Refusals {
			if !seen[f.Budget] {
				counts[f.Budget]++
			}
			seen[f.Budget] = true
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

// print tells the windows of a budget: all, or the fullest where they are many.
func (b *budgetReport) print(w io.Writer) {
	fmt.Fprintf(w, "\n  %s (%s)\n", b.Name, b.About)
	if len(b.Windows) == 0 {
		fmt.Fprintln(w, "  no task ran under it")
		return
	}
	shown := slices.Clone(b.Windows)
	if len(shown) > maxWindows {
		slices.SortStableFunc(shown, func(x, y windowReport) int { return cmp.Compare(y.fullest(), x.fullest()) })
		shown = shown[:maxWindows]
	}
	t := table{align: "<<<>><>>>>>"}
	t.add("", "window", "meter", "used", "limit", "", "", "peak held", "tasks", "unknown", "charged")
	for _, x := range shown {
		for i, l := range x.Limits {
			group, start, tasks := x.Group, b.label(x.Window), fmt.Sprint(x.Tasks)
			if i > 0 {
				group, start, tasks = "", "", ""
			}
			t.add(group, start, string(l.Meter), short(l.Meter, l.Used), short(l.Meter, l.Limit), bar(l.taken(), 10),
				fmt.Sprintf("%.0f%%", 100*l.taken()), short(l.Meter, l.PeakHeld), tasks, fmt.Sprint(l.Unknown), short(l.Meter, l.Charged))
		}
	}
	t.write(w)
	if rest := len(b.Windows) - len(shown); rest > 0 {
		fmt.Fprintf(w, "  and %d more windows, none as full as these\n", rest)
	}
}

func (x *windowReport) fullest() float64 {
	most := 0.0
	for _, l := range x.Limits {
		most = max(most, l.taken())
	}
	return most
}

// label tells when a window starts by the clock of its budget, and how long it
// lasts: that differs on the days on which clocks change.
func (b *budgetReport) label(x period.Window) string {
	switch {
	case x.LookBack:
		return "up to " + x.End.In(b.zone).Format("Mon 01-02 15:04 MST")
	case x.Start.IsZero():
		return "from the beginning"
	case x.End.IsZero():
		return x.Start.In(b.zone).Format("Mon 01-02 15:04 MST") + " on"
	}
	hours := strings.TrimSuffix(strings.TrimSuffix(x.End.Sub(x.Start).String(), "0s"), "0m")
	return x.Start.In(b.zone).Format("Mon 01-02 15:04 MST, ") + hours
}

// printUnknown tells what nobody knows, and why.
func (r *report) printUnknown(w io.Writer) {
	u := &r.Unknown
	heading(w, "UNKNOWN", "it is not zero; each budget says what becomes of it")
	for _, p := range u.Unreadable[:min(maxNames, len(u.Unreadable))] {
		fmt.Fprintf(w, "  %s: %s\n", p.Run, p.Problems[0])
	}
	if rest := len(u.Unreadable) - maxNames; rest > 0 {
		fmt.Fprintf(w, "  and %d more with figures that can't be read\n", rest)
	}
	names := strings.Join(u.NoUsage[:min(maxNames, len(u.NoUsage))], ", ")
	if rest := len(u.NoUsage) - maxNames; rest > 0 {
		names += fmt.Sprintf(" and %d more", rest)
	}
	fmt.Fprintf(w, "  %d runs reported nothing at all%s\n", len(u.NoUsage), prefixed(": ", names))
	fmt.Fprintf(w, "  %d runs reported tokens and no cost, and were priced\n", u.Priced)
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
