package budget

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursar-dev/bursar/usage"
)

// maxMessage is the longest message, in bytes. A condition may have 32768.
const maxMessage = 4096

// Message says in one line why the task waits: each budget that refuses, with
// the figure and the limit. It is bounded; where not all budgets find room it
// says how many are left out. For an allowed task it says so.
func (d *Decision) Message() string {
	refusals := d.Refusals()
	switch {
	case d.Fault != "":
		return d.Fault
	case d.Allowed && d.Hold != nil && d.Hold.AdmittedAt.Before(d.At):
		return "Admitted already at " + stamp(d.Hold.AdmittedAt) + "."
	case d.Allowed && len(d.Verdicts) == 0:
		return "No budget is for this task."
	case d.Allowed:
		return "Every budget has room."
	case len(refusals) == 0:
		return "No decision was made."
	}
	var text strings.Builder
	for i := range refusals {
		part := refusals[i].String()
		if i > 0 && text.Len()+len(part) > maxMessage-len("; and 1000000 more budgets") {
			fmt.Fprintf(&text, "; and %d more budgets", len(refusals)-i)
			break
		}
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(part)
	}
	return bounded(text.String(), maxMessage)
}

// String says in one line what the budget says of the task.
func (v *Verdict) String() string {
	name := "TaskBudget " + v.Budget.String()
	if v.Group != "" {
		name += " for " + usage.Quote(v.Group)
	}
	switch {
	case v.Fault != nil:
		return fmt.Sprintf("%s cannot be evaluated (%s): %s", name, v.Fault.Reason, v.Fault.Message)
	case v.Outside == NotStarted:
		return fmt.Sprintf("%s admits nothing yet: its life starts at %s", name, stamp(deref(v.Period.Spec().StartsAt)))
	case v.Outside == Ended:
		return fmt.Sprintf("%s admits nothing any more: its life ended at %s", name, stamp(deref(v.Period.Spec().EndsAt)))
	case v.Admits:
		return name + " has room"
	}
	var causes []string
	for i := range v.Figures {
		if text := v.Figures[i].why(); text != "" {
			causes = append(causes, text)
		}
	}
	text := name + ": " + strings.Join(causes, ", ")
	if v.Window.End.IsZero() || v.Window.LookBack {
		return text + fmt.Sprintf(" (%s)", v.Period)
	}
	return text + fmt.Sprintf(" (%s, window ends at %s)", v.Period, stamp(v.Window.End))
}

// why says why a limit leaves no room, "" if it leaves some.
func (f *Figure) why() string {
	amount := f.Meter.Format
	switch f.Cause {
	case CauseZero:
		return fmt.Sprintf("%s limit is 0, which admits nothing", f.Meter)
	case CauseUnknown:
		text := fmt.Sprintf("%s is not known for %s", f.Meter, tasks(f.Unknown))
		if f.Uncharged > 0 {
			text += fmt.Sprintf(", and nothing was held for %d of them", f.Uncharged)
		}
		return text
	case CauseSpent:
		return fmt.Sprintf("%s used %s%s reaches the limit %s", f.Meter, amount(f.Used), f.held(), amount(f.Limit))
	case CauseEstimate:
		return fmt.Sprintf("%s used %s%s + estimate %s exceeds the limit %s",
			f.Meter, amount(f.Used), f.held(), amount(f.Estimate), amount(f.Limit))
	default:
		return ""
	}
}

func tasks(n int64) string {
	if n == 1 {
		return "1 finished task"
	}
	return fmt.Sprintf("%d finished tasks", n)
}

// held mentions holds where there are any.
func (f *Figure) held() string {
	if f.Held == 0 {
		return ""
	}
	return " + held " + f.Meter.Format(f.Held)
}

// Remedy says what the budget's owner can do about a refusal, "" where there is
// none to name.
func (v *Verdict) Remedy() string {
	switch {
	case v.Admits:
		return ""
	case v.Fault != nil && v.Fault.Reason == ReasonListError:
		return "find out why usage can't be read; it is tried again"
	case v.Fault != nil:
		return "correct the field of the TaskBudget that the message names"
	case v.Outside == NotStarted:
		return "wait, or move spec.period.startsAt"
	case v.Outside == Ended:
		return "move spec.period.endsAt, or delete the TaskBudget"
	}
	for i := range v.Figures {
		switch f := &v.Figures[i]; f.Cause {
		case CauseZero:
			return "raise the limit; 0 admits nothing"
		case CauseUnknown:
			return "report usage, price tokens with a price list, set spec.defaultEstimate, or choose another spec.unknownUsage"
		case CauseEstimate:
			if f.Estimate > f.Limit {
				return "raise the limit or lower the estimate: it exceeds the whole limit"
			}
		case CauseSpent:
		}
	}
	return "wait, or raise the limit"
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func deref(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// bounded cuts a text at a number of bytes, between characters.
func bounded(text string, limit int) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
