package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursar-dev/bursar/period"
)

// What the text shows before it only counts.
const (
	maxHeldBack = 7
	maxWindows  = 5
	maxNames    = 8
)

// print writes the report for people.
func (r *report) print(w *bytes.Buffer) error {
	fmt.Fprintf(w, "%s of agents under %s on a simulated clock, %s to %s\n",
		count(r.Runs, "run"), count(len(r.Budgets), "budget"), clock(r.First), clock(r.Last))
	r.printHeldBack(w)
	heading(w, "WINDOWS", "used includes what is charged for unknown usage, and passes a limit where runs cost more than they held; peak is the most that was held at one time")
	for i := range r.Budgets {
		r.Budgets[i].print(w)
	}
	r.printUnknown(w)
	heading(w, "ONE DECISION", "as budget.Decision explains it")
	for line := range strings.Lines(r.Explained.Explain()) {
		wrap(w, "  "+line)
	}
	heading(w, "ITS POD", "sized by podspec.Apply when it may start")
	text, err := r.Pod.yaml()
	for line := range strings.Lines(text) {
		fmt.Fprint(w, "  ", line)
	}
	return err
}

func heading(w *bytes.Buffer, title, about string) {
	fmt.Fprintln(w)
	wrap(w, title+": "+about)
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04Z") }

// print tells the windows of a budget: all, or the fullest where they are many.
func (b *budgetReport) print(w *bytes.Buffer) {
	fmt.Fprintln(w)
	wrap(w, fmt.Sprintf("  %s: %s", b.Name, b.About))
	if len(b.Windows) == 0 {
		fmt.Fprintln(w, "  no task ran under it")
		return
	}
	shown := slices.Clone(b.Windows)
	if len(shown) > maxWindows {
		slices.SortStableFunc(shown, func(x, y windowReport) int { return cmp.Compare(y.fullest(), x.fullest()) })
		shown = shown[:maxWindows]
	}
	t := table{align: "<<<>><>>>>"}
	t.add("", "window", "meter", "used", "limit", "", "", "peak", "tasks", "unknown")
	for _, x := range shown {
		about := []string{x.Group, b.label(x.Window)}
		tasks := strconv.Itoa(x.Tasks)
		for _, l := range x.Limits {
			t.add(append(about, string(l.Meter), short(l.Meter, l.Used), short(l.Meter, l.Limit), bar(l.taken(), 10),
				fmt.Sprintf("%.0f%%", 100*l.taken()), short(l.Meter, l.PeakHeld), tasks, l.unknown())...)
			about, tasks = []string{"", ""}, ""
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
	length := x.End.Sub(x.Start).String() // 24h0m0s, of which 24h is told
	length = strings.Replace(strings.TrimSuffix(length, "m0s")+"m", "h0m", "h", 1)
	return x.Start.In(b.zone).Format("Mon 01-02 15:04 MST, ") + length
}

// unknown tells how many tasks' usage is not known, and what is charged for it.
func (l *limitReport) unknown() string {
	switch {
	case l.Unknown == 0:
		return ""
	case l.Charged == 0:
		return strconv.FormatInt(l.Unknown, 10)
	default:
		return fmt.Sprintf("%d (%s)", l.Unknown, short(l.Meter, l.Charged))
	}
}

// printUnknown tells what nobody knows, and why.
func (r *report) printUnknown(w *bytes.Buffer) {
	u := &r.Unknown
	heading(w, "UNKNOWN", "it is not zero; each budget says what becomes of it")
	byReason := map[string][]string{}
	for _, p := range u.Unreadable {
		reason := p.Problems[0].String()
		byReason[reason] = append(byReason[reason], p.Run)
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		wrap(w, fmt.Sprintf("  %s: %s", reason, names(byReason[reason])))
	}
	wrap(w, fmt.Sprintf("  %s reported nothing at all: %s", count(len(u.NoUsage), "run"), names(u.NoUsage)))
	fmt.Fprintf(w, "  %s reported no cost that can be read, and their tokens were priced\n", count(u.Priced, "run"))
}

// names lists the first of many names.
func names(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	text := strings.Join(list[:min(maxNames, len(list))], ", ")
	if rest := len(list) - maxNames; rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}
