package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines makes runs of user u that take from one hour of 2026-03-06 to another,
// each told as "name start end".
func lines(runs ...string) string {
	var text strings.Builder
	for _, r := range runs {
		f := strings.Fields(r)
		text.WriteString(`{"uid":"` + f[0] + `","namespace":"agents","phase":"Failed","startTime":"2026-03-06T` + f[1] +
			`:00Z","completionTime":"2026-03-06T` + f[2] + `:00Z"}` + "\n")
	}
	return text.String()
}

func TestTheOrderInWhichTasksStart(t *testing.T) {
	for rule, c := range map[string]struct {
		runs []string
		want []string // records as "name start end", in the order of completion
		held []string // the runs that were refused at first, in the order of arrival
	}{
		"what completes at an instant makes room for what asks at it": {
			[]string{"b 10:00 11:00", "a 11:00 12:00"},
			[]string{"b 10:00 11:00", "a 11:00 12:00"}, nil,
		},
		"who waits is woken by a completion, in the order of arrival": {
			[]string{"c 10:00 11:00", "a 10:30 10:40", "b 10:20 10:30"},
			[]string{"c 10:00 11:00", "b 11:00 11:10", "a 11:10 11:20"}, []string{"b", "a"},
		},
		"of those that arrive together the lower UID is first": {
			[]string{"b 10:00 10:10", "a 10:00 10:20"},
			[]string{"a 10:00 10:20", "b 10:20 10:30"}, []string{"b"},
		},
		"who waits comes before who arrives": {
			[]string{"c 10:00 11:00", "b 10:30 10:40", "a 11:00 11:30"},
			[]string{"c 10:00 11:00", "b 11:00 11:10", "a 11:10 11:40"}, []string{"b", "a"},
		},
	} {
		t.Run(rule, func(t *testing.T) {
			inFolder(t, map[string]string{
				// One at a time: each holds all of what there is, and spends nothing.
				"budgets.yaml": spec("one", `taskSelector: {}, period: {type: Lifetime}, maxCostUSD: "1", `+
					`defaultEstimate: {costUSD: "1"}, unknownUsage: Ignore`),
				"runs.jsonl": lines(c.runs...),
			})
			var got []string
			j := played(t, "-budgets", "budgets.yaml", "-runs", "runs.jsonl").journal
			for _, r := range j.records {
				got = append(got, string(r.UID)+r.StartTime.Format(" 15:04")+r.CompletionTime.Format(" 15:04"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			var held []string
			for _, s := range j.arrivals {
				if s.refusal != nil {
					held = append(held, s.run.title())
				}
			}
			if diff := cmp.Diff(c.held, held); diff != "" {
				t.Errorf("held back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARunWithoutANameIsCalledByItsUID(t *testing.T) {
	inFolder(t, map[string]string{"runs.jsonl": lines("nameless 10:00 11:00")})
	if text := succeed(t, "-runs", "runs.jsonl"); !strings.Contains(text, "1 run reported nothing at all: nameless") {
		t.Errorf("it is not named in:\n%s", text)
	}
}
