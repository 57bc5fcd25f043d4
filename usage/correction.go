package usage

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// CorrectionUID is the UID of the record that corrects the one with this UID.
// There is one correction of a record, so that a correction that is made twice,
// in a retry or by two people, is a conflict and not taken twice.
func CorrectionUID(uid types.UID) types.UID { return uid + correctionSuffix }

const correctionSuffix = "-c"

// correctedBy is the UID of what a correction corrects.
func correctedBy(correction types.UID) types.UID {
	return types.UID(strings.TrimSuffix(string(correction), correctionSuffix))
}

// Correct makes the record that corrects another: the figures of right stand in
// the place of the original's, in the same windows of the same budgets, and
// every other figure stays what it was. Nothing that was recorded is changed;
// the sum over both records is the right one.
//
// reason says why it was made and is required. To correct once more, correct
// the correction, which names every meter that the original names.
func Correct(original Record, right Amounts, reason string) (Record, error) {
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
	correction.UID, correction.Corrects, correction.Reason = CorrectionUID(original.UID), original.UID, reason
	correction.Replaces, correction.Problems = Figures{}, nil
	if correction.Usage == nil {
		correction.Usage = Figures{}
	}
	for _, m := range right.Meters() {
		correction.Usage[m] = Figure{Amount: right[m], Basis: Reported}
	}
	for m := range correction.Usage {
		correction.Replaces[m] = original.Usage.Of(m)
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
