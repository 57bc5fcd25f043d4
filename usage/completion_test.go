package usage_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/usage"
)

var noon = time.Date(2026, time.March, 29, 12, 0, 0, 0, time.UTC)

// finished is a completion with all that is required.
func finished() usage.Completion {
	return usage.Completion{
		Task:           usage.Task{UID: "uid-1", Namespace: "team-a", Name: "fix-bug", Type: "claude-code", Model: "opus"},
		Phase:          usage.Succeeded,
		Labels:         map[string]string{"team": "red"},
		StartTime:      noon.Add(-90 * time.Second),
		CompletionTime: noon,
	}
}

func heldFor(c usage.Completion, amounts usage.Amounts) *usage.Hold {
	return &usage.Hold{
		UID: c.Task.UID, Namespace: c.Task.Namespace, Labels: map[string]string{"team": "at-admission"}, Amounts: amounts,
		AdmittedAt: noon.Add(-time.Hour), ExpiresAt: noon.Add(time.Hour),
	}
}

func reported(n int64) usage.Figure { return usage.Figure{Amount: n, Basis: usage.Reported} }

// TestRecordUsageFigures is row C4 of a record: what was not reported is no zero, and is priced, held or unknown. What budgets
// make of that is in the unknown cases of budget/testdata.
func TestRecordUsageFigures(t *testing.T) {
	unknown := usage.Figure{Basis: usage.Unknown}
	standing := func(n int64) usage.Figure { return usage.Figure{Amount: n, Basis: usage.Held} }
	priced := func(n int64) usage.Figure { return usage.Figure{Amount: n, Basis: usage.Priced} }
	prices := mustPrices(t, usage.Price{Model: "opus", PerMillionUSD: map[usage.Meter]string{
		usage.InputTokens: "2.50", usage.OutputTokens: "10", usage.CacheReadTokens: "0.25",
	}})
	const cost, in, out, read = usage.CostUSD, usage.InputTokens, usage.OutputTokens, usage.CacheReadTokens
	tokens := map[string]string{"input-tokens": "19800000", "output-tokens": "75000"}
	for name, c := range map[string]struct {
		change  func(*usage.Completion)
		want    usage.Figures // beside tasks 1 and seconds 90
		unknown []usage.Meter // of the problems
	}{
		"nothing is reported": {func(*usage.Completion) {}, nil, nil},
		"results are reported": {func(c *usage.Completion) {
			c.Results = map[string]string{"cost-usd": "0.25", "input-tokens": "0"}
		}, usage.Figures{cost: reported(250_000_000), in: reported(0)}, nil},
		"the host reports": {func(c *usage.Completion) {
			c.Reported = usage.Amounts{cost: 7, "pages": 3}
		}, usage.Figures{cost: reported(7), "pages": reported(3)}, nil},
		"host and results agree": {func(c *usage.Completion) {
			c.Results, c.Reported = map[string]string{"cost-usd": "0.000000007"}, usage.Amounts{cost: 7}
		}, usage.Figures{cost: reported(7)}, nil},
		"host and results contradict": {func(c *usage.Completion) {
			c.Results, c.Reported = map[string]string{"cost-usd": "0.1"}, usage.Amounts{cost: 7}
		}, usage.Figures{cost: unknown}, []usage.Meter{cost}},
		"a result that can't be read is not what the host says": {func(c *usage.Completion) {
			c.Results, c.Reported = map[string]string{"cost-usd": "abc"}, usage.Amounts{cost: 7}
		}, usage.Figures{cost: unknown}, []usage.Meter{cost}},
		"a result that can't be read is unknown": {func(c *usage.Completion) {
			c.Results = map[string]string{"cost-usd": "abc", "input-tokens": "5"}
		}, usage.Figures{cost: unknown, in: reported(5)}, []usage.Meter{cost}},
		"a negative figure of the host is unknown": {func(c *usage.Completion) {
			c.Reported = usage.Amounts{cost: -7, in: math.MinInt64}
		}, usage.Figures{cost: unknown, in: unknown}, []usage.Meter{cost, in}},
		"an illegal meter of the host is told and left out": {func(c *usage.Completion) {
			c.Reported = usage.Amounts{"a b": 7, "": 1, cost: 1}
		}, usage.Figures{cost: reported(1)}, []usage.Meter{"", "a b"}},
		"an illegal meter of a result is told and left out": {func(c *usage.Completion) {
			c.Results, c.ResultNames = map[string]string{"x": "1"}, usage.ResultNames{"x": "a b"}
		}, nil, []usage.Meter{"a b"}},
		"the hold stands in for what is absent": {func(c *usage.Completion) {
			c.Hold = heldFor(*c, usage.Amounts{cost: 5, in: 6})
			c.Results = map[string]string{"input-tokens": "7"}
		}, usage.Figures{cost: standing(5), in: reported(7)}, nil},
		"the hold stands in for what can't be read": {func(c *usage.Completion) {
			c.Hold = heldFor(*c, usage.Amounts{cost: 5})
			c.Results = map[string]string{"cost-usd": "abc"}
		}, usage.Figures{cost: standing(5)}, []usage.Meter{cost}},
		"a hold of zero stands in": {func(c *usage.Completion) {
			c.Hold = heldFor(*c, usage.Amounts{cost: 0})
		}, usage.Figures{cost: standing(0)}, nil},
		"a hold without amounts stands in for nothing": {func(c *usage.Completion) {
			c.Hold = heldFor(*c, nil)
		}, nil, nil},
		"an illegal amount of the hold is told and left out": {func(c *usage.Completion) {
			c.Hold = heldFor(*c, usage.Amounts{cost: -5, "a b": 1, in: 6})
		}, usage.Figures{in: standing(6)}, []usage.Meter{"a b", cost}},
		"the hold does not stand in for tasks and seconds, which are known": {func(c *usage.Completion) {
			c.Hold = heldFor(*c, usage.Amounts{usage.Tasks: 5, usage.Seconds: 6})
		}, nil, nil},
		"tokens are priced": {func(c *usage.Completion) {
			c.Results, c.Prices = tokens, prices
		}, usage.Figures{in: reported(19_800_000), out: reported(75_000), cost: priced(50_250_000_000)}, nil},
		"a price comes before the hold": {func(c *usage.Completion) {
			c.Results, c.Prices, c.Hold = tokens, prices, heldFor(*c, usage.Amounts{cost: 5})
		}, usage.Figures{in: reported(19_800_000), out: reported(75_000), cost: priced(50_250_000_000)}, nil},
		"a reported cost comes before a price": {func(c *usage.Completion) {
			c.Results = map[string]string{"cost-usd": "1", "input-tokens": "1", "output-tokens": "1"}
			c.Prices = prices
		}, usage.Figures{cost: reported(usage.USD), in: reported(1), out: reported(1)}, nil},
		"a cost that can't be read is priced, and told": {func(c *usage.Completion) {
			c.Results = map[string]string{"cost-usd": "abc", "input-tokens": "1000000", "output-tokens": "0"}
			c.Prices = prices
		}, usage.Figures{cost: priced(2_500_000_000), in: reported(1_000_000), out: reported(0)}, []usage.Meter{cost}},
		"no tokens, no price": {func(c *usage.Completion) { c.Prices = prices }, nil, nil},
		"tokens that can't be priced": {func(c *usage.Completion) {
			c.Results, c.Prices, c.Task.Model = tokens, prices, "sonnet"
		}, usage.Figures{in: reported(19_800_000), out: reported(75_000), cost: unknown}, []usage.Meter{cost}},
		"tokens that can't be priced, and a hold": {func(c *usage.Completion) {
			c.Results, c.Prices, c.Task.Model, c.Hold = tokens, prices, "sonnet", heldFor(*c, usage.Amounts{cost: 5})
		}, usage.Figures{in: reported(19_800_000), out: reported(75_000), cost: standing(5)}, []usage.Meter{cost}},
		"a kind of token that can't be read makes the cost unknown": {func(c *usage.Completion) {
			c.Results = map[string]string{"input-tokens": "1000000", "output-tokens": "0", "cache-read-tokens": "many"}
			c.Prices, c.Tokens = prices, usage.TokenCounts{Cached: usage.Separate}
		}, usage.Figures{in: reported(1_000_000), out: reported(0), read: unknown, cost: unknown}, []usage.Meter{read, cost}},
		"cached tokens and nobody says whether they are included": {func(c *usage.Completion) {
			c.Results = map[string]string{"input-tokens": "14", "output-tokens": "0", "cache-read-tokens": "1781487"}
			c.Prices = prices
		}, usage.Figures{in: reported(14), out: reported(0), read: reported(1_781_487), cost: unknown}, []usage.Meter{cost}},
		"cached tokens that are separate": {func(c *usage.Completion) {
			c.Results = map[string]string{"input-tokens": "14", "output-tokens": "0", "cache-read-tokens": "1781487"}
			c.Prices, c.Tokens = prices, usage.TokenCounts{Cached: usage.Separate}
		}, usage.Figures{in: reported(14), out: reported(0), read: reported(1_781_487), cost: priced(445_406_750)}, nil},
		"tasks and seconds can be reported": {func(c *usage.Completion) {
			c.Reported = usage.Amounts{usage.Tasks: 3, usage.Seconds: 4}
		}, usage.Figures{usage.Tasks: reported(3), usage.Seconds: reported(4)}, nil},
		"a start after the completion": {func(c *usage.Completion) {
			c.StartTime = noon.Add(time.Second)
		}, usage.Figures{usage.Seconds: unknown}, []usage.Meter{usage.Seconds}},
		"a start at the completion": {func(c *usage.Completion) {
			c.StartTime = noon
		}, usage.Figures{usage.Seconds: reported(0)}, nil},
		"sub-second times are floored before they are subtracted": {func(c *usage.Completion) {
			c.StartTime, c.CompletionTime = noon.Add(-1), noon.Add(999_999_999)
		}, usage.Figures{usage.Seconds: reported(1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			completion := finished()
			c.change(&completion)
			got, err := usage.RecordUsage(completion)
			if err != nil {
				t.Fatal(err)
			}
			want := usage.Figures{usage.Tasks: reported(1), usage.Seconds: reported(90)}
			maps.Copy(want, c.want)
			if diff := cmp.Diff(want, got.Usage); diff != "" {
				t.Errorf("figures (-want +got):\n%s", diff)
			}
			told := []usage.Meter{}
			for _, p := range got.Problems {
				told = append(told, p.Meter)
			}
			slices.Sort(told)
			slices.Sort(c.unknown)
			if diff := cmp.Diff(append([]usage.Meter{}, c.unknown...), told); diff != "" {
				t.Errorf("problems (-want +got):\n%s\n%v", diff, got.Problems)
			}
			again, err := usage.RecordUsage(completion)
			if err != nil || !got.Equal(again) || !cmp.Equal(got, again) {
				t.Errorf("the same completion gives another record: %v\n%s", err, cmp.Diff(got, again))
			}
		})
	}
}

func TestRecordUsageWithoutStart(t *testing.T) {
	c := finished()
	c.StartTime = time.Time{}
	got, err := usage.RecordUsage(c)
	if err != nil {
		t.Fatal(err)
	}
	if figure, ok := got.Usage[usage.Seconds]; ok {
		t.Errorf("seconds were made up: %v", figure)
	}
}

func TestRecordUsageSnapshot(t *testing.T) {
	c := finished()
	berlin := time.FixedZone("Berlin", 7200)
	c.AdmittedAt = noon.Add(-2*time.Minute + 5).In(berlin)
	c.CompletionTime = noon.Add(999_999_999).In(berlin)
	ttl := time.Hour
	c.TTL = &ttl
	want := usage.Record{
		Task: c.Task, Phase: usage.Succeeded, Labels: map[string]string{"team": "red"},
		AdmittedAt: noon.Add(-2 * time.Minute), StartTime: noon.Add(-90 * time.Second), CompletionTime: noon,
		Usage: usage.Figures{usage.Tasks: reported(1), usage.Seconds: reported(90)}, TTL: &ttl,
	}
	got, err := usage.RecordUsage(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.CompletionTime.Location() != time.UTC {
		t.Errorf("the completion is told in %s", got.CompletionTime.Location())
	}
	c.Labels["team"], ttl = "blue", time.Minute
	if got.Labels["team"] != "red" || *got.TTL != time.Hour {
		t.Error("the record shares what its caller changed")
	}
	c.Labels["\xff"], c.Labels["\xfe"] = "\xff", "b"
	for range 10 { // the same record each time
		got, err = usage.RecordUsage(c)
		if diff := cmp.Diff(map[string]string{"team": "blue", "\uFFFD": "\uFFFD"}, got.Labels); diff != "" || err != nil {
			t.Fatalf("labels that are no UTF-8: %v (-want +got):\n%s", err, diff)
		}
	}
	c.Hold = heldFor(c, nil)
	got, err = usage.RecordUsage(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Hold.Labels["team"] = "later"
	if got.Labels["team"] != "at-admission" || !got.AdmittedAt.Equal(noon.Add(-time.Hour)) {
		t.Errorf("the hold's snapshot was not taken: %v, %v", got.Labels, got.AdmittedAt)
	}
}

func TestRecordUsageRefuses(t *testing.T) {
	negative := -time.Second
	for reason, change := range map[string]func(*usage.Completion){
		"uid: required":                                              func(c *usage.Completion) { c.Task.UID = "" },
		"namespace: required":                                        func(c *usage.Completion) { c.Task.Namespace = "" },
		"completionTime: required":                                   func(c *usage.Completion) { c.CompletionTime = time.Time{} },
		"completionTime: the year 9999":                              func(c *usage.Completion) { c.CompletionTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) },
		"startTime: the year -4":                                     func(c *usage.Completion) { c.StartTime = time.Date(-4, 1, 1, 0, 0, 0, 0, time.UTC) },
		"admittedAt: the year 20000":                                 func(c *usage.Completion) { c.AdmittedAt = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC) },
		`phase: "" is not Succeeded`:                                 func(c *usage.Completion) { c.Phase = "" },
		`phase: "Running" is not`:                                    func(c *usage.Completion) { c.Phase = "Running" },
		"ttl: -1s is not positive":                                   func(c *usage.Completion) { c.TTL = &negative },
		"hold: it is of task with uid \"other\"":                     func(c *usage.Completion) { c.Hold = heldFor(*c, nil); c.Hold.UID = "other" },
		"hold: it is of task with uid \"uid-1\" in namespace team-b": func(c *usage.Completion) { c.Hold = heldFor(*c, nil); c.Hold.Namespace = "team-b" },
	} {
		c := finished()
		change(&c)
		got, err := usage.RecordUsage(c)
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want an error with %q", err, reason)
		}
		if diff := cmp.Diff(usage.Record{}, got); diff != "" {
			t.Errorf("%s: a record beside the error (-want +got):\n%s", reason, diff)
		}
	}
	_, err := usage.RecordUsage(usage.Completion{})
	for _, want := range []string{"uid", "namespace", "phase", "completionTime"} {
		if err == nil || !strings.Contains(err.Error(), want+": ") {
			t.Errorf("an empty completion: %v lacks %s", err, want)
		}
	}
}

// Ten thousand labels and results are no reason to lose a record.
func TestRecordUsageOfMuch(t *testing.T) {
	c := finished()
	c.Results = map[string]string{"cost-usd": strings.Repeat("9", 1<<20)}
	for i := range 10_000 {
		key := strings.Repeat("k", i%50) + string(rune('a'+i%26)) + time.Duration(i).String()
		c.Labels[key], c.Results[key] = key, key
	}
	got, err := usage.RecordUsage(c)
	if err != nil || len(got.Problems) != 1 || len(got.Problems[0].String()) > 600 {
		t.Errorf("%v, %v", err, got.Problems)
	}
}

// TestRecordUsageTellsMisnamedResults: a result that nobody reads for the sake of
// a hyphen would leave its meter unknown without a reason.
func TestRecordUsageTellsMisnamedResults(t *testing.T) {
	c := finished()
	c.Results = map[string]string{
		"cost_usd": "0.25", "costusd": "0.3", "InputTokens": "5", "output-tokens": "7", "output_tokens": "9",
		"reasoning_tokens": " ", "response": "done", "costs-usd": "1",
	}
	record := mustRecord(t, c)
	var told []string
	for _, p := range record.Problems {
		told = append(told, p.String())
	}
	if diff := cmp.Diff([]string{
		`inputTokens not known from result "InputTokens": it is not read: the name is "input-tokens"`,
		`costUSD not known from result "cost_usd": it is not read: the name is "cost-usd"`,
	}, told); diff != "" {
		t.Error(diff)
	}
	c.Hold = heldFor(c, usage.Amounts{usage.CostUSD: 3})
	c.ResultNames = usage.ResultNames{"cost.usd": usage.CostUSD}
	record = mustRecord(t, c)
	if len(record.Problems) != 1 || record.Problems[0].Reason != `it is not read: the name is "cost.usd"` || record.Usage[usage.CostUSD].Basis != usage.Held {
		t.Errorf("with names of its own: %v, %v", record.Problems, record.Usage)
	}
}
