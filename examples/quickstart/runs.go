package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/usage"
)

// A finishedRun is a task that finished once, as a line of the file tells it. The demo
// lets it happen again, under budgets.
type finishedRun struct {
	UID            types.UID         `json:"uid"`
	Name           string            `json:"name"`
	Namespace      string            `json:"namespace"`
	Labels         map[string]string `json:"labels"`
	Type           string            `json:"type"`
	Model          string            `json:"model"`
	Phase          usage.Phase       `json:"phase"`
	StartTime      time.Time         `json:"startTime"`
	CompletionTime time.Time         `json:"completionTime"`
	Results        map[string]string `json:"results"`
}

// readRuns reads a JSON-lines file. The runs come in the order in which they
// arrive: by start, and by UID where they start together.
func readRuns(name string) ([]finishedRun, error) {
	s, err := read(name)
	if err != nil {
		return nil, err
	}
	var runs []finishedRun
	var faults []error
	line, first := 0, map[types.UID]int{}
	for text := range bytes.Lines(s.text) {
		line++
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		r, found := decodeStrict[finishedRun](text)
		found = alongside(found, r.faults())
		if earlier := first[r.UID]; earlier > 0 && r.UID != "" {
			found = append(found, fault{field: "uid", reason: fmt.Sprintf("%s is the run of line %d", usage.Quote(string(r.UID)), earlier)})
		}
		for _, f := range found {
			f.file, f.line = name, line
			faults = append(faults, &f)
		}
		first[r.UID] = line
		runs = append(runs, r)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	slices.SortFunc(runs, byArrival)
	return runs, nil
}

func byArrival(a, b finishedRun) int {
	return cmp.Or(a.StartTime.Compare(b.StartTime), cmp.Compare(a.UID, b.UID))
}

// faults lists what no run can be without.
func (r *finishedRun) faults() []fault {
	var faults []fault
	for _, required := range []struct {
		field  string
		absent bool
	}{
		{"uid", r.UID == ""},
		{"namespace", r.Namespace == ""},
		{"startTime", r.StartTime.IsZero()},
		{"completionTime", r.CompletionTime.IsZero()},
	} {
		if required.absent {
			faults = append(faults, fault{field: required.field, reason: "required"})
		}
	}
	if len(faults) == 0 {
		faults = r.timeFaults()
	}
	if r.Phase != usage.Succeeded && r.Phase != usage.Failed {
		faults = append(faults, fault{field: "phase", reason: fmt.Sprintf("%s is not %s or %s",
			usage.Quote(string(r.Phase)), usage.Succeeded, usage.Failed)})
	}
	return faults
}

// timeFaults lists what is wrong with times that are there.
func (r *finishedRun) timeFaults() []fault {
	var faults []fault
	for _, t := range []struct {
		field string
		value time.Time
	}{{"startTime", r.StartTime}, {"completionTime", r.CompletionTime}} {
		if year := t.value.UTC().Year(); year < 1 || year > 9998 {
			faults = append(faults, fault{field: t.field, reason: fmt.Sprintf("the year %d is outside 1 to 9998", year)})
		}
	}
	ran := r.CompletionTime.Sub(r.StartTime)
	switch {
	case len(faults) > 0:
	case ran < 0:
		faults = append(faults, fault{field: "completionTime", reason: fmt.Sprintf("%s is before startTime %s",
			r.CompletionTime.Format(time.RFC3339), r.StartTime.Format(time.RFC3339))})
	case ran > longestRun:
		faults = append(faults, fault{field: "completionTime", reason: fmt.Sprintf("%s is more than 100 years after startTime %s",
			r.CompletionTime.Format(time.RFC3339), r.StartTime.Format(time.RFC3339))})
	}
	return faults
}

// longestRun is how long a run can last: what a time.Duration counts, and a
// slip of the pen long before that.
const longestRun = 100 * 365 * 24 * time.Hour

// title is what a person calls the run.
func (r *finishedRun) title() string {
	if r.Name == "" {
		return string(r.UID)
	}
	return r.Name
}
