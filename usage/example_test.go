package usage_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/bursar-dev/bursar/period"
	"github.com/bursar-dev/bursar/usage"
)

func ExampleParseUSD() {
	nano, err := usage.ParseUSD(" 1e-05\n")
	fmt.Println(nano, err)
	_, err = usage.ParseUSD("5m")
	fmt.Println(err)
	// Output:
	// 10000 <nil>
	// "5m" is no dollar amount: want a plain decimal such as 0.25 or 1e-05, without suffix or separator
}

func ExampleReadResults() {
	amounts, problems := usage.ReadResults(map[string]string{
		"cost-usd":      "0.25",
		"input-tokens":  "0", // a reported zero, which is not the same as absent
		"output-tokens": "1,500",
	}, nil)
	fmt.Println(amounts)
	for _, p := range problems {
		fmt.Println(p)
	}
	// Output:
	// costUSD 0.25, inputTokens 0
	// outputTokens not known from result "output-tokens": "1,500" is no count: want digits only, such as 1500
}

func ExampleCompilePrices() {
	prices, err := usage.CompilePrices([]usage.Price{
		{Model: "*", PerMillionUSD: map[usage.Meter]string{usage.InputTokens: "5", usage.OutputTokens: "20"}},
		{Model: "opus*", PerMillionUSD: map[usage.Meter]string{
			usage.InputTokens: "2.50", usage.OutputTokens: "10", usage.CacheReadTokens: "0.25",
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tokens := usage.Amounts{usage.InputTokens: 14, usage.OutputTokens: 75_000, usage.CacheReadTokens: 1_781_487}
	cost, err := prices.Cost("opus-4", tokens, usage.TokenCounts{Cached: usage.Separate})
	fmt.Println(usage.FormatUSD(cost), err)
	_, err = prices.Cost("opus-4", tokens, usage.TokenCounts{})
	fmt.Println(err)
	// Output:
	// 1.19540675 <nil>
	// 1781487 cacheReadTokens: it is not said whether inputTokens include them: set Cached of the completion's Tokens to Included or Separate
}

func ExampleRecordUsage() {
	done := time.Date(2026, time.March, 29, 12, 0, 0, 0, time.UTC)
	record, err := usage.RecordUsage(usage.Completion{
		Task:           usage.Task{UID: "6c1b8f0e", Namespace: "team-a", Name: "fix-bug", Model: "opus"},
		Phase:          usage.Succeeded,
		Labels:         map[string]string{"team": "red"},
		StartTime:      done.Add(-90 * time.Second),
		CompletionTime: done,
		Results:        map[string]string{"cost-usd": "n/a", "input-tokens": "1500"},
		Hold: &usage.Hold{
			UID: "6c1b8f0e", Namespace: "team-a", Labels: map[string]string{"team": "red"},
			Amounts:    usage.Amounts{usage.CostUSD: usage.MustUSD("0.50")},
			AdmittedAt: done.Add(-2 * time.Minute), ExpiresAt: done.Add(time.Hour),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range record.Usage.Meters() {
		figure := record.Usage[m]
		fmt.Println(m, m.Format(figure.Amount), figure.Basis)
	}
	fmt.Println(record.Problems[0].Reason)
	// Output:
	// costUSD 0.5 Held
	// inputTokens 1500 Reported
	// seconds 90 Reported
	// tasks 1 Reported
	// "n/a" is no dollar amount: want a plain decimal such as 0.25 or 1e-05, without suffix or separator
}

func ExampleCorrect() {
	original := usage.Record{
		Task:           usage.Task{UID: "6c1b8f0e", Namespace: "team-a", Name: "fix-bug"},
		Phase:          usage.Succeeded,
		CompletionTime: time.Date(2026, time.March, 29, 12, 0, 0, 0, time.UTC),
		Usage:          usage.Figures{usage.CostUSD: {Amount: usage.MustUSD("300"), Basis: usage.Reported}},
	}
	correction, err := usage.Correct(original, usage.Amounts{usage.CostUSD: usage.MustUSD("3")}, "cents were read as dollars")
	if err != nil {
		fmt.Println(err)
		return
	}
	always, err := period.Compile(period.Spec{Type: period.Lifetime})
	if err != nil {
		fmt.Println(err)
		return
	}
	sum, err := usage.Sum([]usage.Record{correction, original}, nil, usage.Query{
		Scope: &usage.Scope{Namespace: "team-a", Selector: labels.Everything(), Period: always, Meters: []usage.Meter{usage.CostUSD}},
		Meter: usage.CostUSD,
		At:    original.CompletionTime,
	})
	fmt.Println(usage.FormatUSD(sum.Known), err)
	// Output:
	// 3 <nil>
}

func ExampleMemory() {
	daily, err := period.Compile(period.Spec{Type: period.Daily, Timezone: "Europe/Berlin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	scope := &usage.Scope{
		Name:      "team-a/per-user",
		Namespace: "team-a",
		Selector:  labels.Everything(),
		Period:    daily,
		GroupBy:   []string{"user"},
		Meters:    []usage.Meter{usage.CostUSD},
	}
	now := time.Date(2026, time.March, 29, 12, 0, 0, 0, time.UTC)
	ledger := usage.NewMemory(scope)
	err = ledger.Add(usage.Record{
		Task: usage.Task{UID: "a", Namespace: "team-a"}, Phase: usage.Succeeded, CompletionTime: now,
		Labels: map[string]string{"user": "u1"},
		Usage:  usage.Figures{usage.CostUSD: {Amount: usage.MustUSD("0.25"), Basis: usage.Reported}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := ledger.Hold(usage.Hold{
		UID: "b", Namespace: "team-a", Labels: map[string]string{"user": "u1"},
		Amounts: usage.Amounts{usage.CostUSD: usage.MustUSD("0.10")}, AdmittedAt: now, ExpiresAt: now.Add(time.Hour),
	}); err != nil {
		fmt.Println(err)
		return
	}
	for _, user := range []string{"u1", "u2"} {
		b, err := ledger.Used(usage.Query{Scope: scope, Labels: map[string]string{"user": user}, Meter: usage.CostUSD, At: now})
		fmt.Println(user, "used", usage.FormatUSD(b.Known), "held", usage.FormatUSD(b.Held), b.Window, err)
	}
	// Output:
	// u1 used 0.25 held 0.1 [2026-03-28T23:00:00Z, 2026-03-29T22:00:00Z) <nil>
	// u2 used 0 held 0 [2026-03-28T23:00:00Z, 2026-03-29T22:00:00Z) <nil>
}

// A controller that starts fills its ledger from the records that are stored.
func ExampleMemory_AddAll() {
	now := time.Date(2026, time.March, 29, 12, 0, 0, 0, time.UTC)
	ledger := usage.NewMemory()
	err := ledger.AddAll([]usage.Record{
		{Task: usage.Task{UID: "a", Namespace: "team-a", Name: "review"}, Phase: usage.Succeeded, CompletionTime: now},
		{Task: usage.Task{UID: "b", Namespace: "team-a", Name: "triage"}, Phase: usage.Succeeded}, // completed when?
		{Task: usage.Task{UID: "c", Namespace: "team-a", Name: "deploy"}, Phase: usage.Failed, CompletionTime: now},
	})
	records, _ := ledger.Len()
	fmt.Println(records, "records;", err)
	// Output:
	// 2 records; record of task team-a/triage (uid "b"): completionTime: required
}
