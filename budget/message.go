package budget

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

// maxMessage is the longest message, in bytes. A condition may have 32768.
const maxMessage = 4096

// Message says in one line why the task waits: each budget that refuses, with
// the figure and the limit, or what the policies say. It is bounded; where not
// all budgets find room it says how many are left out. For an allowed task it
// says so, and which budgets that only warn would have refused it.
func (d Decision) Message() string {
	switch {
	case d.Fault != "":
		return d.Fault
	case d.Allowed:
		return d.admission()
	case d.PolicyRefuses():
		return d.policyMessage()
	}
	refusals := d.Refusals()
	if len(refusals) == 0 {
		return "No decision was made."
	}
	return listed(refusals)
}

// listed tells verdicts in one line, as many as find room.
func listed(verdicts []Verdict) string {
	text := verdicts[0].String()
	for i := range verdicts[1:] {
		part := verdicts[i+1].String()
		if len(text)+len(part) > maxMessage-len("; and 1000000 more budgets") {
			text += fmt.Sprintf("; and %d more budgets", len(verdicts)-i-1)
			break
		}
		text += "; " + part
	}
	return bounded(text, maxMessage)
}

// admission says in one line why the task may start.
func (d Decision) admission() string {
	warners := d.Warners()
	switch {
	case d.resumed():
		return "Admitted already at " + stamp(d.Hold.AdmittedAt) + "."
	case len(d.Verdicts) == 0 && d.Task.Namespace != "":
		return "No budget is for this task. None of namespace " + bounded(d.Task.Namespace, maxValue) + " selects it."
	case len(d.Verdicts) == 0:
		return "No budget is for this task."
	case len(warners) > 0:
		return bounded("No budget refuses; only warning: "+listed(warners), maxMessage)
	default:
		return "Every budget has room."
	}
}

// resumed reports that the task is admitted with a hold that it had before. One
// of the same second tells itself where budgets refuse by now.
func (d Decision) resumed() bool {
	if d.Hold == nil {
		return false
	}
	before := d.Hold.AdmittedAt.Before(d.At.Truncate(time.Second)) // a stored hold has whole seconds
	return before || len(d.Refusals()) > 0
}

// String says in one line what the budget says of the task.
func (v Verdict) String() string {
	name := "TaskBudget " + v.Budget.String()
	if v.Group != "" {
		name += " for " + usage.Quote(v.Group)
	}
	switch {
	case v.Fault != nil:
		return fmt.Sprintf("%s cannot be evaluated (%s): %s", name, v.Fault.Reason, v.Fault.Message)
	case v.Outside != "":
		return name + " " + v.why()
	case v.Admits:
		return name + " has room"
	}
	return fmt.Sprintf("%s: %s (%s%s)", name, v.why(), v.Period, v.until())
}

// why says what keeps the budget from admitting the task.
func (v Verdict) why() string {
	switch {
	case v.Fault != nil:
		return v.Fault.Message
	case v.Outside == NotStarted:
		return "admits nothing yet: its life starts at " + stamp(deref(v.Period.Spec().StartsAt))
	case v.Outside == Ended:
		return "admits nothing any more: its life ended at " + stamp(deref(v.Period.Spec().EndsAt))
	}
	var causes []string
	for i := range v.Figures {
		if v.Figures[i].Cause != "" {
			causes = append(causes, v.Figures[i].String())
		}
	}
	return strings.Join(causes, ", ")
}

// until says when the window ends, where it ends by itself.
func (v Verdict) until() string {
	if !ends(v.Window) {
		return ""
	}
	return ", window ends at " + stamp(v.Window.End)
}

// String says how the limit stands and, where it leaves no room, why:
// "costUSD used 8 + held 1 of the limit 10".
func (f Figure) String() string {
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
		text := fmt.Sprintf("%s used %s%s reaches the limit %s", f.Meter, amount(f.Used), f.held(), amount(f.Limit))
		if f.neverFits() {
			text += ", and the estimate " + amount(f.Estimate) + " alone exceeds it"
		}
		return text
	case CauseEstimate:
		text := fmt.Sprintf("%s used %s%s + estimate %s exceeds the limit %s",
			f.Meter, amount(f.Used), f.held(), amount(f.Estimate), amount(f.Limit))
		if f.neverFits() {
			text += ", as the estimate alone does"
		}
		return text
	default:
		return fmt.Sprintf("%s used %s%s of the limit %s", f.Meter, amount(f.Used), f.held(), amount(f.Limit))
	}
}

// neverFits reports that no window makes room for the estimate.
func (f Figure) neverFits() bool { return f.Estimated && f.Estimate > f.Limit }

func tasks(n int64) string {
	if n == 1 {
		return "1 finished task"
	}
	return fmt.Sprintf("%d finished tasks", n)
}

// held mentions holds where there are any.
func (f Figure) held() string {
	if f.Held == 0 {
		return ""
	}
	return " + held " + f.Meter.Format(f.Held)
}

// Remedy says what the budget's owner can do about a refusal, "" where there is
// none to name.
func (v Verdict) Remedy() string {
	switch {
	case v.Admits:
		return ""
	case v.Fault != nil && v.Fault.Reason == ReasonPolicyNotAsked:
		return "decide with a Reviewer where budgets have policies"
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
		if remedy := v.Figures[i].remedy(); remedy != "" {
			return remedy
		}
	}
	if v.spentForGood() {
		return "raise the limit: there is no window after this one"
	}
	return "wait, or raise the limit"
}

// spentForGood reports a budget of one window only that has no room even when
// nothing is held any more.
func (v Verdict) spentForGood() bool {
	return v.Period.Kind() == period.Lifetime && slices.ContainsFunc(v.Figures, func(f Figure) bool {
		return f.Used >= f.Limit || f.Estimated && usage.SaturatingAdd(f.Used, f.Estimate) > f.Limit
	})
}

// remedy is what can be done beside waiting, "" where that is enough.
func (f Figure) remedy() string {
	switch {
	case f.Cause == CauseZero:
		return "raise the limit; 0 admits nothing"
	case f.Cause == CauseUnknown:
		return "report usage, price tokens with a price list, correct the record, or choose another spec.unknownUsage; ChargeHold needs a spec.defaultEstimate where nothing was held"
	case f.Cause != "" && f.neverFits():
		return "raise the limit or lower the estimate: it exceeds the whole limit"
	default:
		return ""
	}
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
