package usage

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Correct makes the record that corrects another: the figures of right stand in
// the place of the original's, in the same windows of the same budgets, and
// every other figure stays what it was. Nothing that was recorded is changed;
// the sum over both records is the right one.
//
// uid is the correction's own UID, and reason says why it was made; both are
// required. To correct a meter once more, correct the correction that put it
// right: a correction says nothing of other meters, so that those are put right
// by correcting the record itself.
func Correct(original Record, uid types.UID, right Amounts, reason string) (Record, error) {
	if err := original.Validate(); err != nil {
		return Record{}, fmt.Errorf("the record to be corrected: %w", err)
	}
	var faults []error
	if len(right) == 0 {
		faults = append(faults, errors.New("usage: required, at least one meter must be put right"))
	}
	if strings.TrimSpace(reason) == "" {
		faults = append(faults, errors.New("reason: required"))
	}
	correction := original.Clone()
	correction.UID, correction.Corrects, correction.Reason = uid, original.UID, reason
	correction.Usage, correction.Replaces, correction.Problems = Figures{}, Figures{}, nil
	for _, m := range right.Meters() {
		correction.Usage[m] = Figure{Amount: right[m], Basis: Reported}
		figure, counts := original.figure(m)
		if !counts {
			faults = append(faults, fmt.Errorf("usage: it says nothing of %s, correct %s instead", m, Quote(string(original.Corrects))))
			continue
		}
		correction.Replaces[m] = figure
	}
	faults = append(faults, correction.Validate())
	if err := errors.Join(faults...); err != nil {
		return Record{}, fmt.Errorf("correction of %s: %w", describe(original.Namespace, original.Name, original.UID), err)
	}
	return correction, nil
}

// figure gives what the record counts for on a meter, false if for nothing at
// all: that is so for what a correction does not name.
func (r Record) figure(m Meter) (Figure, bool) {
	if _, named := r.Usage[m]; !named && r.Corrects != "" {
		return Figure{}, false
	}
	return r.Usage.Of(m), true
}
