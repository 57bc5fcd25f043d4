package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/usage"
)

// find gives the story of the run that is to be explained: the one of that UID
// or name, and where none is named the one with the most to tell.
func (j *journal) find(wanted string) (*story, error) {
	if wanted == "" {
		return slices.MaxFunc(j.arrivals, (*story).compare), nil
	}
	for _, s := range j.arrivals {
		if string(s.run.UID) == wanted || s.run.Name == wanted {
			return s, nil
		}
	}
	return nil, fmt.Errorf("-explain: no run has the UID or the name %s", usage.Quote(wanted))
}

// compare orders stories by how much their decision tells: refused by many
// budgets, then judged by many, then asked often.
func (s *story) compare(other *story) int {
	a, b := s.decision(), other.decision()
	return cmp.Or(
		cmp.Compare(len(a.Refusals()), len(b.Refusals())),
		cmp.Compare(len(a.Verdicts), len(b.Verdicts)),
		cmp.Compare(s.asked, other.asked),
	)
}

// decision is the one that explains the run's fate: the first refusal of a run
// that had to wait.
func (s *story) decision() *budget.Decision {
	if s.refusal != nil {
		return s.refusal
	}
	return s.admitted
}
