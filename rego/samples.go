package rego

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar-dev/bursar/policy"
)

// sampleSteps bounds what the trials of all policies of a load may take
// together. What is left over is not tried: it is no fault to be many.
const sampleSteps = 20 * DefaultSteps

// try asks every policy about every sample and reports the first failure of
// each: a built-in that fails, a member that is malformed, too many steps.
func try(hooks []*Hook, samples []policy.Sample) policy.LoadErrors {
	var faults policy.LoadErrors
	var taken uint64
	for _, h := range hooks {
		for _, s := range samples {
			if taken > sampleSteps {
				return faults
			}
			b := newBudget(context.Background(), min(h.steps, sampleSteps))
			_, err := h.answer(&s.Input, b)
			taken += b.asked
			if err != nil && (b.left >= 0 || h.steps <= sampleSteps) { // else the host allows more than a trial may take
				faults = append(faults, h.failed(s, err))
				break
			}
		}
	}
	return faults
}

// failed places the failure of a sample: where it happened, if that is known,
// else at the first rule of the policy.
func (h *Hook) failed(s policy.Sample, err error) policy.LoadError {
	e := policy.LoadError{File: h.rules[0].file, Line: h.rules[0].line, Column: 1}
	text := err.Error()
	if placed, ok := errors.AsType[policy.LoadError](err); ok {
		e, text = placed, placed.Text
	}
	e.Text = fmt.Sprintf("policy %s cannot be evaluated for %s: %s", h.name, s.Text, text)
	return e
}
