package usage

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Completion is everything that is known of a task that has finished. The zero
// value of each field but Task, Phase and CompletionTime is legal.
type Completion struct {
	// Task is the task. UID and Namespace are required.
	Task Task
	// Phase is how it ended.
	Phase Phase
	// Labels are the task's labels at its admission. If Hold is set, the
	// labels of the hold are taken instead: they were taken down earlier.
	Labels map[string]string
	// AdmittedAt, StartTime and CompletionTime are floored to whole seconds.
	// If Hold is set, its AdmittedAt is taken instead.
	AdmittedAt, StartTime, CompletionTime time.Time
	// Results are the task's string results, read with [ReadResults].
	Results map[string]string
	// ResultNames says how the results are named; nil for [StandardResults].
	ResultNames ResultNames
	// Reported is what the host knows as numbers. A figure that Results also
	// have must agree, or it is unknown; so is one that Results have and that
	// can't be read.
	Reported Amounts
	// Hold is what was set aside for the task, nil if that is not known.
	// Where nothing is reported, the hold's amount stands for it.
	Hold *Hold
	// Prices turns tokens into cost where no cost was reported; nil for none.
	Prices *PriceList
	// Tokens says how the token counts relate to each other, for Prices.
	Tokens TokenCounts
	// TTL is how long the record is to be kept; nil for ever.
	TTL *time.Duration
}

// RecordUsage makes the record of a finished task. It is pure: the same
// completion always gives the same record, so recording can be tried again
// until it has happened.
//
// What can't be read, priced or believed never stops a record, or the spend
// would be lost: it makes its meter Unknown, or Held where the task's hold has
// an amount, and a [Problem] tells it. Where there is no report at all the
// meter is Held too, or absent. [Tasks] is 1 and [Seconds] is derived from
// start and completion where they are not reported.
//
// An error means that there can be no such record: no UID, no namespace, no or
// an impossible time, no terminal phase, a TTL that is not positive, a hold of
// another task.
func RecordUsage(c Completion) (Record, error) {
	record := Record{
		Task:           c.Task,
		Phase:          c.Phase,
		Labels:         maps.Clone(c.Labels),
		AdmittedAt:     wholeSeconds(c.AdmittedAt),
		StartTime:      wholeSeconds(c.StartTime),
		CompletionTime: wholeSeconds(c.CompletionTime),
	}
	if c.TTL != nil {
		ttl := *c.TTL
		record.TTL = &ttl
	}
	var fault error
	if h := c.Hold; h != nil {
		record.Labels = maps.Clone(h.Labels)
		record.AdmittedAt = wholeSeconds(h.AdmittedAt)
		if h.UID != c.Task.UID || h.Namespace != c.Task.Namespace {
			fault = fmt.Errorf("hold: it is of task %s", describe(h.Namespace, h.Name, h.UID))
		}
	}
	record.cleanText()
	record.Usage, record.Problems = figures(c, record)
	if err := errors.Join(fault, record.Validate()); err != nil {
		return Record{}, err
	}
	return record, nil
}

// cleanText puts the replacement character where a text is no UTF-8, as storing
// it would: a record that comes back from its storage is the same record.
func (r *Record) cleanText() {
	for _, text := range []*string{&r.Name, &r.APIVersion, &r.Kind, &r.Type, &r.Model} {
		*text = strings.ToValidUTF8(*text, "\uFFFD")
	}
	for _, key := range slices.Sorted(maps.Keys(r.Labels)) { // where two become one, always the same
		value := r.Labels[key]
		if utf8.ValidString(key) && utf8.ValidString(value) {
			continue
		}
		delete(r.Labels, key)
		r.Labels[strings.ToValidUTF8(key, "\uFFFD")] = strings.ToValidUTF8(value, "\uFFFD")
	}
}

// wholeSeconds floors a time to what the API server keeps of it.
func wholeSeconds(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC().Truncate(time.Second)
}

// figures puts together what is known of a task: reported before priced before
// held.
func figures(c Completion, record Record) (Figures, []Problem) {
	read, problems := ReadResults(c.Results, c.ResultNames)
	figures := Figures{Tasks: {Amount: 1, Basis: Reported}}
	for m, amount := range read {
		figures[m] = Figure{Amount: amount, Basis: Reported}
	}
	for _, m := range c.Reported.Meters() {
		if reason := c.refuteReported(m, read); reason != "" {
			problems = append(problems, Problem{Meter: m, Source: "host", Reason: reason})
			continue
		}
		figures[m] = Figure{Amount: c.Reported[m], Basis: Reported}
	}
	for _, p := range problems {
		delete(figures, p.Meter)
		if ValidateMeter(p.Meter) == nil {
			figures[p.Meter] = Figure{Basis: Unknown}
		}
	}
	problems = priceTokens(c, figures, problems)
	problems = deriveSeconds(figures, record, problems)
	if c.Hold != nil {
		problems = figures.standIn(c.Hold.Amounts, problems)
	}
	return figures, append(problems, misnamed(c, figures)...)
}

// misnamed finds results that were not read, under a name that differs from the
// right one only in its case or its hyphens, where their meter is not known.
func misnamed(c Completion, figures Figures) []Problem {
	names := c.ResultNames
	if names == nil {
		names = StandardResults()
	}
	right := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		right[folded(name)] = name
	}
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(c.Results)) {
		_, read := names[name]
		meant, near := right[folded(name)]
		if read || !near || figures.Of(names[meant]).Basis.Known() || strings.TrimSpace(c.Results[name]) == "" {
			continue
		}
		problems = append(problems, Problem{Meter: names[meant], Source: "result " + Quote(name),
			Reason: "it is not read: the name is " + Quote(meant)})
		delete(right, folded(name)) // once is enough
	}
	return problems
}

// folded is a name without what people get wrong in names.
func folded(name string) string { return strings.ToLower(slips.Replace(name)) }

var slips = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")

// refuteReported says why a figure of the host can't be taken, "" if it can.
func (c Completion) refuteReported(m Meter, read Amounts) string {
	amount := c.Reported[m]
	if err := ValidateMeter(m); err != nil {
		return err.Error()
	}
	if amount < 0 {
		return fmt.Sprintf("it reports %s, which is negative", m.Format(amount))
	}
	if other, ok := read[m]; ok && other != amount {
		return fmt.Sprintf("it reports %s and the task's results %s", m.Format(amount), m.Format(other))
	}
	return ""
}

// standIn puts what a hold had set aside where nothing is known.
func (f Figures) standIn(held Amounts, problems []Problem) []Problem {
	for _, m := range held.Meters() {
		if f.Of(m).Basis.Known() {
			continue
		}
		figure := Figure{Amount: held[m], Basis: Held}
		if err := figure.validate(m); err != nil {
			problems = append(problems, Problem{Meter: m, Source: "hold", Reason: err.Error()})
			continue
		}
		f[m] = figure
	}
	return problems
}

// priceTokens prices the tokens of a task whose cost nobody could report.
func priceTokens(c Completion, figures Figures, problems []Problem) []Problem {
	if c.Prices == nil || figures.Of(CostUSD).Basis.Known() {
		return problems
	}
	tokens := figures.Amounts()
	if !hasTokens(tokens) {
		return problems
	}
	nano, err := c.Prices.Cost(c.Task.Model, tokens, c.Tokens)
	for _, m := range tokenMeters {
		if figure, reported := figures[m]; reported && !figure.Basis.Known() {
			err = fmt.Errorf("%s are not known", m) // they may cost something
		}
	}
	if err != nil {
		figures[CostUSD] = Figure{Basis: Unknown}
		return append(problems, Problem{Meter: CostUSD, Source: "price list", Reason: err.Error()})
	}
	figures[CostUSD] = Figure{Amount: nano, Basis: Priced}
	return problems
}

func hasTokens(amounts Amounts) bool {
	for _, m := range tokenMeters {
		if _, ok := amounts[m]; ok {
			return true
		}
	}
	return false
}

// deriveSeconds adds the running time of a task that was not reported.
func deriveSeconds(figures Figures, record Record, problems []Problem) []Problem {
	if _, reported := figures[Seconds]; reported || record.StartTime.IsZero() {
		return problems
	}
	seconds := record.CompletionTime.Unix() - record.StartTime.Unix()
	if seconds < 0 {
		figures[Seconds] = Figure{Basis: Unknown}
		return append(problems, Problem{Meter: Seconds, Source: "startTime", Reason: fmt.Sprintf(
			"%s is after completionTime %s", record.StartTime.Format(time.RFC3339), record.CompletionTime.Format(time.RFC3339))})
	}
	figures[Seconds] = Figure{Amount: seconds, Basis: Reported}
	return problems
}
