package policy

import "slices"

// Merge combines verdicts that were given apart, by the law of a Set: the
// strictest outcome, the least of each cap, every reason, and no part for the
// order. The revisions are kept, joined by "+" in their order of sorting. Of no
// verdict it is Pass.
func Merge(verdicts ...Verdict) Verdict {
	c := &combination{verdict: Pass()}
	var revisions []string
	omitted := 0
	for i := range verdicts {
		v := &verdicts[i]
		c.verdict.Outcome = min(c.verdict.Outcome, v.Outcome)
		c.verdict.RetryAfter = max(c.verdict.RetryAfter, v.RetryAfter)
		c.verdict.Caps = c.verdict.Caps.Merge(v.Caps)
		c.verdict.Reasons = append(c.verdict.Reasons, v.Reasons...)
		c.verdict.Warnings = append(c.verdict.Warnings, v.Warnings...)
		c.verdict.DryRun = append(c.verdict.DryRun, v.DryRun...)
		c.verdict.Skipped = append(c.verdict.Skipped, v.Skipped...)
		c.verdict.Errors = append(c.verdict.Errors, v.Errors...)
		c.label(v.Labels)
		omitted += v.Omitted
		if v.Revision != "" && !slices.Contains(revisions, v.Revision) {
			revisions = append(revisions, v.Revision)
		}
	}
	out := c.finish()
	out.Omitted += omitted
	slices.Sort(revisions)
	for i, r := range revisions {
		if i > 0 {
			out.Revision += "+"
		}
		out.Revision += r
	}
	return out
}
