package usage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ResultNames says which of a task's string results report which meter.
type ResultNames map[string]Meter

// StandardResults are the names under which agents report their usage:
// cost-usd in dollars, and in tokens input-tokens, output-tokens,
// cache-read-tokens, cache-write-tokens and reasoning-tokens. The caller gets a
// map of its own and may add names to it.
func StandardResults() ResultNames {
	return ResultNames{
		"cost-usd":           CostUSD,
		"input-tokens":       InputTokens,
		"output-tokens":      OutputTokens,
		"cache-read-tokens":  CacheReadTokens,
		"cache-write-tokens": CacheWriteTokens,
		"reasoning-tokens":   ReasoningTokens,
	}
}

// Problem is a figure of a finished task that could not be had, told for the
// person who wants to know why the figure is unknown.
type Problem struct {
	// Meter is what stays unknown.
	Meter Meter `json:"meter"`
	// Source says where the figure was looked for, such as `result "cost-usd"`.
	Source string `json:"source"`
	// Reason says what is wrong and quotes the text that was found.
	Reason string `json:"reason"`
}

// String gives the problem as one line.
func (p Problem) String() string {
	return fmt.Sprintf("%s not known from %s: %s", p.Meter, p.Source, p.Reason)
}

// ReadResults reads what a task's string results report. An absent, empty or
// blank result reports nothing, "0" reports zero. A result that is there and
// cannot be read makes its meter unknown: it is absent from the amounts and a
// Problem quotes it. Two results for one meter that differ are a Problem too.
//
// A nil names stands for [StandardResults]. Results with other names are
// ignored here; [RecordUsage] tells of those that were meant. The problems are
// sorted by the name of their result.
func ReadResults(results map[string]string, names ResultNames) (Amounts, []Problem) {
	if names == nil {
		names = StandardResults()
	}
	amounts, unreadable := Amounts{}, map[Meter]bool{}
	var problems []Problem
	sorted := slices.AppendSeq(make([]string, 0, len(names)), maps.Keys(names))
	slices.Sort(sorted)
	for _, name := range sorted {
		text, meter := results[name], names[name]
		if strings.TrimSpace(text) == "" {
			continue
		}
		amount, err := parseResult(meter, text)
		if known, twice := amounts[meter]; err == nil && twice && known != amount {
			err = fmt.Errorf("%s contradicts another result, which says %s", Quote(text), meter.Format(known))
		}
		if err != nil {
			problems = append(problems, Problem{Meter: meter, Source: "result " + Quote(name), Reason: err.Error()})
			unreadable[meter] = true
			continue
		}
		amounts[meter] = amount
	}
	for meter := range unreadable {
		delete(amounts, meter)
	}
	return amounts, problems
}

// parseResult reads one result. A meter that the caller's names misspell can't
// be recorded, which is told like any other fault of the figure.
func parseResult(m Meter, text string) (int64, error) {
	if err := ValidateMeter(m); err != nil {
		return 0, fmt.Errorf("%s reports an illegal meter: %w", Quote(text), err)
	}
	return m.Parse(text)
}
