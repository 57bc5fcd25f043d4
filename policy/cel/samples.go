package cel

import (
	"context"
	"errors"

	"github.com/bursar-dev/bursar/policy"
)

// sampleCost bounds what all trials of one policy may cost together. A dearer
// policy is tried in part: it is no fault to be dear.
const sampleCost = 10 * policyCostLimit

// try evaluates every rule on every sample, changed so far that the rule looks
// at it, and reports the first failure of each rule.
func (c *compiler) try(samples []policy.Sample) {
	var spent uint64
	for i := range c.hook.rules {
		r := &c.hook.rules[i]
		for _, s := range samples {
			in := r.match.Fit(s.Input)
			if in.Check() != nil || spent > sampleCost { // no call can match the rule, or enough was tried
				continue
			}
			a := activation{in: &in, hook: c.hook, ctx: context.Background()}
			v := policy.Pass()
			err := a.apply(r, &v)
			spent += a.spent
			if err != nil {
				c.failed(r, s, err)
				break
			}
		}
	}
}

// failed records that a rule fails on a sample, at the place of the error.
func (c *compiler) failed(r *rule, s policy.Sample, err error) {
	path, line, column := r.when.path, 0, 0
	if placed, ok := errors.AsType[*placedError](err); ok {
		path, line, column, err = placed.path, placed.line, placed.column, placed.err
	}
	if line <= 0 {
		line, column = 0, 0
	}
	c.failAt(path, r.name, line, column, "cannot be evaluated for %s: %v", s.Text, err)
}
