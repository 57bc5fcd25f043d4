package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// MaxRetryAfter bounds the time that a hold may ask for.
const MaxRetryAfter = 366 * 24 * time.Hour

// combination gathers the verdicts of hooks. Whatever it does is independent
// of the order of add.
type combination struct {
	recording bool
	verdict   Verdict
}

func newCombination(in *Input) *combination {
	return &combination{recording: in != nil && in.Operation == RecordUsage, verdict: Pass()}
}

// add takes one hook's answer.
func (c *combination) add(b *Binding, v Verdict, err error) {
	name := b.Hook.Name()
	if bad := malformed(&v); bad != nil {
		err = errors.Join(err, &Fault{Code: CodeBadResult, Err: bad})
		v = Verdict{Reasons: strict(v.Reasons), Warnings: v.Warnings}
	}
	reasons := restrictions(&v, err)
	c.inherit(name, &v)
	c.record(name, v.Warnings, &c.verdict.Warnings, Allow)
	switch b.Enforcement {
	case Enforce:
		c.enforce(name, &v, reasons)
	case Warn:
		c.record(name, reasons, &c.verdict.Warnings, Allow)
	default:
		c.dryRun(name, reasons)
	}
	if b.Enforcement != DryRun {
		c.label(v.Labels)
	}
	if err != nil {
		c.fail(b, err)
	}
}

// inherit takes over what a set that is used as a hook has gathered.
func (c *combination) inherit(name string, v *Verdict) {
	for _, s := range v.Skipped {
		s.Policy = within(name, s.Policy)
		c.verdict.Skipped = append(c.verdict.Skipped, s)
	}
	for _, f := range v.Errors {
		f.Policy = within(name, f.Policy)
		c.verdict.Errors = append(c.verdict.Errors, f)
	}
	c.dryRun(name, v.DryRun)
}

// within names a policy of a set that is used as a hook.
func within(name, inner string) string {
	if inner == "" || inner == name {
		return name
	}
	return name + "/" + inner
}

// strict turns outcomes that do not exist into Deny.
func strict(reasons []Reason) []Reason {
	out := slices.Clone(reasons)
	for i := range out {
		if out[i].Outcome > Allow {
			out[i].Outcome = Deny
		}
	}
	return out
}

// restrictions are the reasons of a verdict that is not Allow, at least one,
// except that a verdict beside an error counts for its reasons alone.
func restrictions(v *Verdict, err error) []Reason {
	if len(v.Reasons) > 0 && (v.Outcome != Allow || err != nil) {
		return v.Reasons
	}
	if v.Outcome == Allow || err != nil {
		return nil
	}
	text := "the policy denies and gives no reason"
	if v.Outcome == Hold {
		text = "the policy holds off and gives no reason"
	}
	return []Reason{{Code: CodeDenied, Message: text, Outcome: v.Outcome}}
}

// enforce lets a verdict count.
func (c *combination) enforce(name string, v *Verdict, reasons []Reason) {
	c.verdict.Caps = c.verdict.Caps.Merge(v.Caps)
	if len(reasons) == 0 {
		return
	}
	worst := v.Outcome
	if worst == Allow {
		worst = Deny
	}
	for _, r := range reasons {
		worst = min(worst, r.Outcome)
	}
	c.verdict.Outcome = min(c.verdict.Outcome, worst)
	c.verdict.RetryAfter = max(c.verdict.RetryAfter, v.RetryAfter)
	for _, r := range reasons {
		if r.Outcome == Allow {
			r.Outcome = worst
		}
		c.verdict.Reasons = append(c.verdict.Reasons, tidy(name, r))
	}
}

// record appends reasons as sentences that do not act.
func (c *combination) record(name string, reasons []Reason, to *[]Reason, outcome Outcome) {
	for _, r := range reasons {
		r.Outcome = outcome
		*to = append(*to, tidy(name, r))
	}
}

func (c *combination) dryRun(name string, reasons []Reason) {
	for _, r := range reasons {
		c.verdict.DryRun = append(c.verdict.DryRun, tidy(name, r))
	}
}

// label merges labels. Two policies that disagree on a value are reported, and
// the lesser value stays, whatever the order.
func (c *combination) label(labels map[string]string) {
	for key, value := range labels {
		if c.verdict.Labels == nil {
			c.verdict.Labels = map[string]string{}
		}
		if old, taken := c.verdict.Labels[key]; taken && old != value {
			value = min(old, value)
			c.verdict.Warnings = append(c.verdict.Warnings, Reason{
				Policy: "policies", Code: "label-conflict", Outcome: Allow,
				Message: fmt.Sprintf("policies disagree on the label %s", key),
			})
		}
		c.verdict.Labels[key] = value
	}
}

// fail takes a hook's error as its binding says.
func (c *combination) fail(b *Binding, err error) {
	name := b.Hook.Name()
	for _, f := range faultsOf(err) {
		code := f.Code
		if !ValidCode(code) {
			code = CodePolicyError
		}
		c.verdict.Errors = append(c.verdict.Errors, Failure{Policy: name, Rule: f.Rule, Code: code, Message: Clean(f.Err.Error())})
		r := tidy(name, Reason{Code: code, Message: describe(name, code)})
		switch {
		case b.Enforcement == DryRun:
			c.verdict.DryRun = append(c.verdict.DryRun, r)
		case b.Enforcement == Warn, b.OnError == OnErrorWarn:
			r.Outcome = Allow
			c.verdict.Warnings = append(c.verdict.Warnings, r)
		default:
			c.verdict.Outcome = Deny
			c.verdict.Reasons = append(c.verdict.Reasons, r)
		}
	}
}

// describe says for a person what an error means; the detail is in Errors.
func describe(name, code string) string {
	switch code {
	case CodePolicyCost:
		return fmt.Sprintf("policy %q needed more steps than it is allowed", name)
	case CodePolicyTimeout:
		return fmt.Sprintf("policy %q did not answer in time", name)
	case CodeBadResult:
		return fmt.Sprintf("policy %q gave a malformed answer", name)
	case CodeInputTooLarge:
		return "the task is described by more data than policies may be shown"
	case CodeInvalidInput:
		return "the task could not be described to the policies"
	case CodeNotReady:
		return "policies are not loaded yet"
	case CodeStale:
		return "policies could not be reloaded for too long"
	}
	return fmt.Sprintf("policy %q could not be evaluated", name)
}

// refuse ends a combination before or instead of asking hooks.
func (c *combination) refuse(name, code string, err error) Verdict {
	c.verdict.Outcome = Deny
	c.verdict.Reasons = append(c.verdict.Reasons, Reason{Policy: name, Code: code, Message: describe(name, code)})
	c.verdict.Errors = append(c.verdict.Errors, Failure{Policy: name, Code: code, Message: Clean(err.Error())})
	return c.finish()
}

// interrupted ends a combination because the caller's context is done.
func (c *combination) interrupted(name string, err error) (Verdict, error) {
	v := c.refuse(name, CodePolicyTimeout, err)
	if c.recording {
		return v, nil
	}
	return v, err
}

// finish puts the verdict into its one order.
func (c *combination) finish() Verdict {
	v := &c.verdict
	if c.recording {
		for _, r := range v.Reasons {
			r.Outcome = Allow
			v.Warnings = append(v.Warnings, r)
		}
		v.Outcome, v.Reasons, v.Caps = Allow, nil, Caps{}
	}
	if v.Outcome != Hold {
		v.RetryAfter = 0
	}
	var cut [3]int
	v.Reasons, cut[0] = arrange(v.Reasons)
	v.Warnings, cut[1] = arrange(v.Warnings)
	v.DryRun, cut[2] = arrange(v.DryRun)
	v.Omitted = cut[0] + cut[1] + cut[2]
	slices.SortFunc(v.Skipped, func(a, b Skip) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Why, b.Why))
	})
	slices.SortFunc(v.Errors, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return *v
}

// arrange sorts reasons, folds equal ones and cuts the list, counting the cut.
// The strictest come first, so that the cut never loses them.
func arrange(reasons []Reason) ([]Reason, int) {
	if len(reasons) == 0 {
		return nil, 0
	}
	slices.SortFunc(reasons, compareReasons)
	reasons = slices.Compact(reasons)
	if len(reasons) <= MaxReasons {
		return reasons, 0
	}
	return reasons[:MaxReasons:MaxReasons], len(reasons) - MaxReasons
}

func compareReasons(a, b Reason) int {
	return cmp.Or(cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Policy, b.Policy),
		cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
}

// tidy makes a reason fit for a verdict.
func tidy(name string, r Reason) Reason {
	r.Policy = within(name, r.Policy)
	if !ValidCode(r.Code) {
		r.Code = CodeDenied
	}
	r.Message = Clean(r.Message)
	if r.Message == "" {
		r.Message = fmt.Sprintf("policy %q says %s", r.Policy, r.Code)
	}
	return r
}

// malformed says what is wrong with a verdict that a hook made.
func malformed(v *Verdict) error {
	if err := malformedOutcome(v); err != nil {
		return err
	}
	if v.RetryAfter < 0 || v.RetryAfter > MaxRetryAfter {
		return fmt.Errorf("retryAfter %s: must be between 0 and %s", v.RetryAfter, MaxRetryAfter)
	}
	for _, name := range CapFields() {
		if p := *v.Caps.field(name); p != nil && *p < 0 {
			return fmt.Errorf("cap %s: %d is negative", name, *p)
		}
	}
	return malformedLabels(v.Labels)
}

func malformedOutcome(v *Verdict) error {
	if v.Outcome > Allow {
		return fmt.Errorf("outcome %d does not exist", v.Outcome)
	}
	for _, r := range v.Reasons {
		if r.Outcome > Allow {
			return fmt.Errorf("outcome %d of a reason does not exist", r.Outcome)
		}
		if v.Outcome == Allow && r.Outcome != Allow {
			return fmt.Errorf("outcome Allow contradicts the reason %q", clip(r.Code))
		}
	}
	return nil
}

// malformedLabels names the first bad label in the order of keys.
func malformedLabels(labels map[string]string) error {
	if len(labels) > MaxLabels {
		return fmt.Errorf("%d labels, at most %d are allowed", len(labels), MaxLabels)
	}
	for _, key := range sortedKeys(labels) {
		if !ValidLabel(key, labels[key]) {
			return fmt.Errorf("label %q: %q is not a valid label", clip(key), clip(labels[key]))
		}
	}
	return nil
}
