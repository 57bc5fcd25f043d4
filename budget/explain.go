package budget

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/usage"
)

// Explain tells a decision in full, for people: every matching budget, its
// window and the figures of each limit, and what can be done about a refusal.
// The text ends with a newline. [Decision.MarshalJSON] tells the same to
// programs.
func (d Decision) Explain() string {
	var text strings.Builder
	verdict := "refused"
	if d.Allowed {
		verdict = "admitted"
	}
	fmt.Fprintf(&text, "Task %s at %s: %s\n", d.Task, stamp(d.At), verdict)
	fmt.Fprintf(&text, "  %s\n", d.summary())
	for i := range d.Verdicts {
		d.Verdicts[i].explain(&text)
	}
	d.explainPolicy(&text)
	return text.String()
}

// summary says in one line what all verdicts come to.
func (d Decision) summary() string {
	switch {
	case d.PolicyRefuses() && d.RetryAt.IsZero():
		return "The budgets have room, and policies refuse."
	case d.PolicyRefuses():
		return "The budgets have room, and policies want to be asked again at " + stamp(d.RetryAt) + "."
	case d.Allowed && !d.resumed() && len(d.Warners()) > 0:
		return "No budget refuses." // those that warn are told after it
	case d.Allowed || d.Fault != "" || len(d.Verdicts) == 0:
		return d.Message()
	case d.RetryAt.IsZero():
		return "Time alone never makes room."
	default:
		return "Time alone makes room at " + stamp(d.RetryAt) + "."
	}
}

// String names the task: namespace/name, and the UID where it has one.
func (t TaskID) String() string {
	name := usage.Quote(t.Namespace + "/" + t.Name)
	if t.Name == "" {
		name = "in " + usage.Quote(t.Namespace)
	}
	switch {
	case t.UID == "" && t.Namespace == "" && t.Name == "":
		return "without a name"
	case t.UID == "":
		return name
	default:
		return fmt.Sprintf("%s (uid %s)", name, usage.Quote(string(t.UID)))
	}
}

func (v Verdict) explain(text *strings.Builder) {
	says := "has room"
	switch {
	case !v.Admits && v.blocks():
		says = "refuses"
	case !v.Admits:
		says = "warns"
	}
	fmt.Fprintf(text, "\n  TaskBudget %s %s", v.Budget, says)
	if v.Group != "" {
		fmt.Fprintf(text, ", for %s", usage.Quote(v.Group))
	}
	text.WriteByte('\n')
	switch {
	case v.Fault != nil:
	case v.Outside != "":
		fmt.Fprintf(text, "    %s, outside its life\n", v.Period)
	default:
		fmt.Fprintf(text, "    %s, window %s\n", v.Period, window(v.Window))
	}
	v.table(text)
	if !v.Admits {
		fmt.Fprintf(text, "    why:    %s\n    remedy: %s\n", v.why(), v.Remedy())
	}
}

// table writes the figures, one limit a line. A strings.Builder does not fail.
func (v Verdict) table(text *strings.Builder) {
	if len(v.Figures) == 0 {
		return
	}
	table := tabwriter.NewWriter(text, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(table, "  meter\tused\theld\testimate\tlimit\tremaining\tunknown\t\n")
	for i := range v.Figures {
		f := &v.Figures[i]
		estimate := "-"
		if f.Estimated {
			estimate = f.Meter.Format(f.Estimate)
		}
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", f.Meter, f.Meter.Format(f.Used), f.Meter.Format(f.Held),
			estimate, f.Meter.Format(f.Limit), f.Meter.Format(f.Remaining), f.Unknown)
	}
	_ = table.Flush()
}

// window tells a window, and that it has no bound where it has none.
func window(w period.Window) string {
	start, end, brackets := "the beginning", "no end", "[)"
	if !w.Start.IsZero() {
		start = stamp(w.Start)
	}
	if !w.End.IsZero() {
		end = stamp(w.End)
	}
	if w.LookBack {
		brackets = "(]"
	}
	return brackets[:1] + start + ", " + end + brackets[1:]
}

// explanation is a decision as JSON. Money is a decimal text, every other
// amount a number, and what is absent was not known or does not apply.
type explanation struct {
	Allowed   bool                 `json:"allowed"`
	Action    string               `json:"action,omitempty"`
	Task      taskExplanation      `json:"task"`
	At        string               `json:"at"`
	Message   string               `json:"message"`
	Reason    string               `json:"reason,omitempty"`
	RetryAt   *string              `json:"retryAt"`
	Warnings  []string             `json:"warnings,omitempty"`
	Budgets   []verdictExplanation `json:"budgets"`
	HoldUntil *string              `json:"holdUntil,omitempty"`
	Policy    *policy.Verdict      `json:"policy,omitempty"`
}

type taskExplanation struct {
	UID       string            `json:"uid,omitempty"`
	Namespace string            `json:"namespace"`
	Name      string            `json:"name,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

type verdictExplanation struct {
	Namespace   string                `json:"namespace"`
	Name        string                `json:"name"`
	Action      string                `json:"action"`
	Admits      bool                  `json:"admits"`
	Degraded    string                `json:"degraded,omitempty"`
	Outside     string                `json:"outside,omitempty"`
	Group       string                `json:"group,omitempty"`
	Period      string                `json:"period,omitempty"`
	WindowStart *string               `json:"windowStart,omitempty"`
	WindowEnd   *string               `json:"windowEnd,omitempty"`
	Used        usage.Amounts         `json:"used,omitempty"`
	Charged     usage.Amounts         `json:"charged,omitempty"`
	Held        usage.Amounts         `json:"held,omitempty"`
	Estimate    usage.Amounts         `json:"estimate,omitempty"`
	Limit       usage.Amounts         `json:"limit,omitempty"`
	Remaining   usage.Amounts         `json:"remaining,omitempty"`
	Unknown     map[usage.Meter]int64 `json:"unknown,omitempty"`
	Causes      map[usage.Meter]Cause `json:"causes,omitempty"`
	Why         string                `json:"why,omitempty"`
	Remedy      string                `json:"remedy,omitempty"`
}

// MarshalJSON tells the decision in full, as [Decision.Explain] does.
func (d Decision) MarshalJSON() ([]byte, error) {
	e := explanation{
		Allowed: d.Allowed, Action: string(d.Action), At: stamp(d.At), Message: d.Message(), Reason: d.Reason(),
		Task: taskExplanation{
			UID: string(d.Task.UID), Namespace: d.Task.Namespace, Name: d.Task.Name, Labels: d.Labels,
		},
		RetryAt: some(d.RetryAt), Warnings: d.Warnings, Budgets: []verdictExplanation{},
		Policy: d.Policy,
	}
	if d.Hold != nil {
		e.HoldUntil = some(d.Hold.ExpiresAt)
	}
	for i := range d.Verdicts {
		e.Budgets = append(e.Budgets, d.Verdicts[i].explanation())
	}
	return json.Marshal(e)
}

func (v Verdict) explanation() verdictExplanation {
	e := verdictExplanation{
		Namespace: v.Budget.Namespace, Name: v.Budget.Name, Action: string(v.Action), Admits: v.Admits,
		Outside: string(v.Outside), Group: v.Group,
		WindowStart: some(v.Window.Start), WindowEnd: some(v.Window.End), Remedy: v.Remedy(),
	}
	if !v.Admits {
		e.Why = v.why()
	}
	if v.Fault != nil {
		e.Degraded = v.Fault.Reason
		return e
	}
	e.Period = v.Period.String()
	if len(v.Figures) == 0 {
		return e
	}
	e.Used, e.Charged, e.Held = usage.Amounts{}, usage.Amounts{}, usage.Amounts{}
	e.Estimate, e.Limit, e.Remaining = usage.Amounts{}, usage.Amounts{}, usage.Amounts{}
	e.Unknown, e.Causes = map[usage.Meter]int64{}, map[usage.Meter]Cause{}
	for _, f := range v.Figures {
		e.Used[f.Meter], e.Held[f.Meter] = f.Used, f.Held
		e.Limit[f.Meter], e.Remaining[f.Meter] = f.Limit, f.Remaining
		if f.Estimated {
			e.Estimate[f.Meter] = f.Estimate
		}
		if f.Charged > 0 {
			e.Charged[f.Meter] = f.Charged
		}
		if f.Unknown > 0 {
			e.Unknown[f.Meter] = f.Unknown
		}
		if f.Cause != "" {
			e.Causes[f.Meter] = f.Cause
		}
	}
	return e
}

// some gives a time as JSON should have it: null for none.
func some(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339Nano)
	return &text
}
