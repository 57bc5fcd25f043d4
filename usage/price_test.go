package usage_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/usage"
)

func mustPrices(tb testing.TB, list ...usage.Price) *usage.PriceList {
	tb.Helper()
	compiled, err := usage.CompilePrices(list)
	if err != nil {
		tb.Fatal(err)
	}
	return compiled
}

// inputPrice prices input tokens at so many dollars per million.
func inputPrice(model, usd string) usage.Price {
	return usage.Price{Model: model, PerMillionUSD: map[usage.Meter]string{usage.InputTokens: usd}}
}

func TestPricesArePickedBySpecificity(t *testing.T) {
	list := mustPrices(t,
		inputPrice("*", "1"), inputPrice("gpt-5*", "2"), inputPrice("gpt-5", "3"), inputPrice("gpt-*-mini", "4"), inputPrice("*-mini", "5"),
		inputPrice("a*b*c", "6"), inputPrice("x**z", "7"), inputPrice("é*", "8"), inputPrice("aa*", "9"), inputPrice("*aa", "10"),
	)
	for model, want := range map[string]int64{
		"gpt-5": 3, "gpt-5-turbo": 2, "gpt-5-mini": 4, "gpt-4-mini": 4, "phi-mini": 5, "-mini": 5, "GPT-5": 1, "": 1, "gpt-": 1,
		"abc": 6, "a-b-b-c": 6, "ac": 1, "abcd": 1, "acb": 1, "xz": 7, "x.z": 7, "x": 1, "élan": 8, "e": 1,
		"aa":  10, // two patterns of one length match: the first by name, "*aa"
		"aab": 9, "baa": 10,
	} {
		got, err := list.Cost(model, usage.Amounts{usage.InputTokens: 1_000_000}, usage.TokenCounts{})
		if err != nil || got != want*usage.USD {
			t.Errorf("%q: got %s, %v, want %d", model, usage.FormatUSD(got), err, want)
		}
	}
}

func TestPatternsEndInLinearTime(t *testing.T) {
	list := mustPrices(t, inputPrice(strings.Repeat("*a", 200)+"*b", "1"))
	if _, err := list.Cost(strings.Repeat("a", 1<<20), usage.Amounts{usage.InputTokens: 1}, usage.TokenCounts{}); err == nil {
		t.Error("a name without b matched")
	}
}

func TestNoPrices(t *testing.T) {
	for name, list := range map[string]*usage.PriceList{"nil": nil, "zero": {}, "empty": mustPrices(t)} {
		_, err := list.Cost("opus", usage.Amounts{usage.InputTokens: 1}, usage.TokenCounts{})
		if err == nil || !strings.Contains(err.Error(), `no price for model "opus"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompilePricesReportsEveryFault(t *testing.T) {
	_, err := usage.CompilePrices([]usage.Price{
		inputPrice("ok", "1"),
		{PerMillionUSD: map[usage.Meter]string{usage.InputTokens: "1"}},
		{Model: "nothing"},
		inputPrice("ok", "2"),
		inputPrice("bad", "1Ki"),
		{Model: "seconds", PerMillionUSD: map[usage.Meter]string{usage.Seconds: "1"}},
		inputPrice("minus", "-1"),
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"prices[1].model: required", "prices[2].perMillionUSD: required", `prices[3].model: "ok" has a price already, in prices[0]`,
		`prices[4].perMillionUSD.inputTokens: "1Ki" is no dollar amount`, `prices[5].perMillionUSD: "seconds" is no kind of token`,
		`prices[6].perMillionUSD.inputTokens: "-1" is no dollar amount`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "prices[0]:") || strings.Contains(err.Error(), "prices[0].") {
		t.Errorf("%v blames a good price", err)
	}
}

// full prices every kind of token, each with another power of ten.
var full = usage.Price{Model: "full", PerMillionUSD: map[usage.Meter]string{
	usage.InputTokens: "1", usage.OutputTokens: "10", usage.CacheReadTokens: "100", usage.CacheWriteTokens: "1000", usage.ReasoningTokens: "10000",
}}

func TestCost(t *testing.T) {
	list := mustPrices(t, full,
		usage.Price{Model: "plain", PerMillionUSD: map[usage.Meter]string{usage.InputTokens: "1", usage.OutputTokens: "10"}},
		usage.Price{Model: "write-only", PerMillionUSD: map[usage.Meter]string{usage.OutputTokens: "10"}},
		usage.Price{Model: "cached-only", PerMillionUSD: map[usage.Meter]string{usage.CacheReadTokens: "100"}},
		usage.Price{Model: "write-cache", PerMillionUSD: map[usage.Meter]string{usage.InputTokens: "1", usage.CacheWriteTokens: "1000"}},
		usage.Price{Model: "free", PerMillionUSD: map[usage.Meter]string{usage.InputTokens: "0"}},
		usage.Price{Model: "dear", PerMillionUSD: map[usage.Meter]string{
			usage.InputTokens: "9223372036.854775807", usage.OutputTokens: "9223372036.854775807", usage.CacheReadTokens: "9223372036.854775807",
			usage.CacheWriteTokens: "9223372036.854775807", usage.ReasoningTokens: "9223372036.854775807",
		}},
	)
	included := usage.TokenCounts{Cached: usage.Included, Reasoning: usage.Included}
	separate := usage.TokenCounts{Cached: usage.Separate, Reasoning: usage.Separate}
	const in, out, read, write, think = usage.InputTokens, usage.OutputTokens, usage.CacheReadTokens, usage.CacheWriteTokens, usage.ReasoningTokens
	for name, c := range map[string]struct {
		model  string
		tokens usage.Amounts
		counts usage.TokenCounts
		want   string // dollars, or "error: " and what it says
	}{
		"the report of a session that cost 50.25":     {"plain", usage.Amounts{in: 19_800_000, out: 3_045_000}, usage.TokenCounts{}, "50.25"},
		"separate kinds add up":                       {"full", usage.Amounts{in: 1e6, out: 1e6, read: 1e6, write: 1e6, think: 1e6}, separate, "11111"},
		"included kinds are taken out of the whole":   {"full", usage.Amounts{in: 3e6, out: 2e6, read: 1e6, write: 1e6, think: 1e6}, included, "11111"},
		"all of the whole is included":                {"full", usage.Amounts{in: 2e6, out: 1e6, read: 1e6, write: 1e6, think: 1e6}, included, "11100"},
		"included without a price costs the whole":    {"plain", usage.Amounts{in: 3e6, out: 2e6, read: 1e6, think: 1e6}, included, "23"},
		"separate without a price is unknown":         {"plain", usage.Amounts{in: 3e6, out: 2e6, read: 1}, separate, "error: 1 cacheReadTokens have no price"},
		"unsaid inclusion is unknown":                 {"full", usage.Amounts{in: 3e6, out: 2e6, read: 1}, usage.TokenCounts{}, "error: not said whether inputTokens include"},
		"unsaid inclusion of reasoning is unknown":    {"full", usage.Amounts{in: 3e6, out: 2e6, think: 1}, usage.TokenCounts{Cached: usage.Included}, "error: not said whether outputTokens include"},
		"an inclusion that does not exist":            {"full", usage.Amounts{in: 3e6, out: 2e6, think: 1}, usage.TokenCounts{Reasoning: "Maybe"}, "error: not said whether"},
		"unsaid inclusion of nothing does not matter": {"full", usage.Amounts{in: 3e6, out: 2e6, read: 0, think: 0}, usage.TokenCounts{}, "23"},
		"a part larger than the whole":                {"full", usage.Amounts{in: 1, out: 1, read: 2}, included, "error: 2 cacheReadTokens can't be part of 1 inputTokens"},
		"parts larger than the whole":                 {"full", usage.Amounts{in: 3, out: 1, read: 2, write: 2}, included, "error: 2 cacheWriteTokens can't be part of 3 inputTokens"},
		"parts without a price larger than the whole": {"plain", usage.Amounts{in: 3, out: 1, read: 2, write: 2}, included, "error: 2 cacheWriteTokens can't be part of 3 inputTokens"},
		"a part without a price and one with":         {"write-cache", usage.Amounts{in: 3e6, read: 2e6, write: 1e6}, included, "1002"},
		"input has a price and was not reported":      {"plain", usage.Amounts{out: 1}, usage.TokenCounts{}, "error: inputTokens have a price"},
		"output has a price and was not reported":     {"plain", usage.Amounts{in: 1}, usage.TokenCounts{}, "error: outputTokens have a price"},
		"input has no price and was used":             {"write-only", usage.Amounts{in: 1, out: 1e6}, usage.TokenCounts{}, "error: 1 inputTokens have no price"},
		"input has no price and is zero":              {"write-only", usage.Amounts{in: 0, out: 1e6}, usage.TokenCounts{}, "10"},
		"all input came from the cache":               {"cached-only", usage.Amounts{in: 1e6, read: 1e6}, included, "100"},
		"a price of zero is a price":                  {"free", usage.Amounts{in: 1e9}, usage.TokenCounts{}, "0"},
		"no tokens cost nothing":                      {"plain", usage.Amounts{in: 0, out: 0}, usage.TokenCounts{}, "0"},
		"other meters play no part":                   {"plain", usage.Amounts{in: 1e6, out: 0, usage.Seconds: 9, usage.CostUSD: -7}, usage.TokenCounts{}, "1"},
		"it is rounded up once":                       {"plain", usage.Amounts{in: 1, out: 0}, usage.TokenCounts{}, "0.000001"},
		"a negative count":                            {"plain", usage.Amounts{in: -1, out: 0}, usage.TokenCounts{}, "error: -1 inputTokens: must not be negative"},
		"a negative count of a part":                  {"full", usage.Amounts{in: 1, out: 0, read: -1}, separate, "error: -1 cacheReadTokens: must not be negative"},
		"the dearest million":                         {"dear", usage.Amounts{in: 1e6, out: 0}, usage.TokenCounts{}, "9223372036.854775807"},
		"one token more":                              {"dear", usage.Amounts{in: 1e6, out: 1}, usage.TokenCounts{}, "error: more than 9223372036.854775807"},
		"one huge count":                              {"dear", usage.Amounts{in: math.MaxInt64, out: 0}, usage.TokenCounts{}, "error: more than 9223372036.854775807"},
		"five products that would wrap": {"dear", usage.Amounts{
			in: math.MaxInt64, out: math.MaxInt64, read: math.MaxInt64, write: math.MaxInt64, think: math.MaxInt64,
		}, separate, "error: more than 9223372036.854775807"},
		"five products that would wrap to little": {"dear", usage.Amounts{
			in: math.MaxInt64, out: math.MaxInt64, read: math.MaxInt64, write: math.MaxInt64, think: 10,
		}, separate, "error: more than 9223372036.854775807"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := list.Cost(c.model, c.tokens, c.counts)
			if reason, wanted := strings.CutPrefix(c.want, "error: "); wanted {
				if err == nil || !strings.Contains(err.Error(), reason) {
					t.Fatalf("got %s, %v, want an error with %q", usage.FormatUSD(got), err, reason)
				}
				return
			}
			if err != nil || usage.FormatUSD(got) != c.want {
				t.Fatalf("got %s, %v, want %s", usage.FormatUSD(got), err, c.want)
			}
		})
	}
}

// TestCostIsExact is row C3 of prices: the cost of separate kinds is the sum of the products, rounded up once.
func TestCostIsExact(t *testing.T) {
	kinds := []usage.Meter{usage.InputTokens, usage.OutputTokens, usage.CacheReadTokens, usage.CacheWriteTokens, usage.ReasoningTokens}
	rapid.Check(t, func(t *rapid.T) {
		tokens, perMillion, exact := usage.Amounts{}, map[usage.Meter]string{}, new(big.Rat)
		count := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, 1<<40), rapid.Int64Min(0))
		for _, m := range kinds {
			tokens[m] = count.Draw(t, "tokens")
			nano := count.Draw(t, "price")
			perMillion[m] = usage.FormatUSD(nano)
			exact.Add(exact, new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(tokens[m]), big.NewInt(nano)), big.NewInt(1_000_000)))
		}
		list, err := usage.CompilePrices([]usage.Price{{Model: "*", PerMillionUSD: perMillion}})
		if err != nil {
			t.Fatal(err)
		}
		want, rest := new(big.Int).QuoRem(exact.Num(), exact.Denom(), new(big.Int))
		want.Add(want, big.NewInt(int64(rest.Sign())))
		got, err := list.Cost("any", tokens, usage.TokenCounts{Cached: usage.Separate, Reasoning: usage.Separate})
		if want.IsInt64() != (err == nil) || err == nil && got != want.Int64() {
			t.Fatalf("%v at %v: got %d, %v, want %s", tokens, perMillion, got, err, want)
		}
	})
}

func FuzzCompilePrices(f *testing.F) {
	f.Add("gpt-5*", "2.50", "*", "1", "gpt-5-mini", int64(1000))
	f.Add("", "x", "a*b*", "1e-05", "ab", int64(-1))
	f.Add("**", "9223372036.854775807", "\xff", "0", "\xff", int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, first, firstUSD, second, secondUSD, model string, tokens int64) {
		list, err := usage.CompilePrices([]usage.Price{inputPrice(first, firstUSD), inputPrice(second, secondUSD)})
		if err != nil {
			if list != nil {
				t.Fatal("a list with faults is usable")
			}
			return
		}
		cost, err := list.Cost(model, usage.Amounts{usage.InputTokens: tokens}, usage.TokenCounts{})
		matched := matchesPattern(first, model) || matchesPattern(second, model)
		if err == nil && (cost < 0 || tokens < 0 || !matched) {
			t.Fatalf("%d tokens of %q cost %d, though it matches neither %q nor %q", tokens, model, cost, first, second)
		}
		if err != nil && matched && tokens == 0 {
			t.Fatalf("no tokens of %q: %v", model, err)
		}
	})
}

// matchesPattern is the naive twin of a price's pattern.
func matchesPattern(pattern, name string) bool {
	reachable := make([]bool, len(name)+1) // by what was read of the pattern
	reachable[0] = true
	for i := range len(pattern) {
		next := make([]bool, len(name)+1)
		for at := range reachable {
			switch {
			case pattern[i] == '*':
				next[at] = reachable[at] || at > 0 && next[at-1]
			case at > 0:
				next[at] = reachable[at-1] && name[at-1] == pattern[i]
			}
		}
		reachable = next
	}
	return reachable[len(name)]
}

func TestPatternsMatchLikeTheNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]{1,6}`).Draw(t, "pattern")
		model := rapid.StringMatching(`[ab]{0,8}`).Draw(t, "model")
		list, err := usage.CompilePrices([]usage.Price{inputPrice(pattern, "1")})
		if err != nil {
			t.Fatal(err)
		}
		_, err = list.Cost(model, usage.Amounts{usage.InputTokens: 1}, usage.TokenCounts{})
		if want := matchesPattern(pattern, model); (err == nil) != want {
			t.Fatalf("%q matches %q: %v, want %v", pattern, model, err, want)
		}
	})
}

// TestPricesAreReadAsTextAndAsNumber: people write both in YAML.
func TestPricesAreReadAsTextAndAsNumber(t *testing.T) {
	var got []usage.Price
	text := `[{"model":"a","perMillionUSD":{"inputTokens":1.25,"outputTokens":"10"}},{"model":"b"}]`
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := []usage.Price{
		{Model: "a", PerMillionUSD: map[usage.Meter]string{usage.InputTokens: "1.25", usage.OutputTokens: "10"}},
		{Model: "b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		`{"model":"a","perMillionUSD":{"inputTokens":true}}`:                  `perMillionUSD: "inputTokens": want a price in dollars, not "true"`,
		`{"model":"a","perMillionUSD":{"inputTokens":null}}`:                  `perMillionUSD: "inputTokens": want a price in dollars, not "null"`,
		`{"model":"a","perMillionUSD":["1"]}`:                                 `perMillionUSD: json: cannot unmarshal array`,
		`{"model":"a","perMillionUSD":{"inputTokens":"1","inputTokens":"9"}}`: `perMillionUSD: "inputTokens" is there twice`,
		`{"model":"a","model":"b"}`:                                           `"model" is there twice`,
		`{"model":"a","Model":"b"}`:                                           `unknown field "Model"`,
		`{"model":1}`:                                                         `model: json: cannot unmarshal number`,
		`{"modell":"a"}`:                                                      `unknown field "modell"`,
		`["a"]`:                                                               `cannot unmarshal array`,
	} {
		var price usage.Price
		if err := json.Unmarshal([]byte(text), &price); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if diff := cmp.Diff(usage.Price{}, price); diff != "" {
			t.Errorf("%s left something behind: %s", text, diff)
		}
	}
}

// TestCostsThatAreTooLarge for an amount are refused, those of each kind of
// tokens and those of two kinds together.
func TestCostsThatAreTooLarge(t *testing.T) {
	const many = 9_000_000_000_000_000_000
	for _, c := range []struct {
		price    string
		in, out  int64
		tooLarge bool
	}{
		{"0.00062", many, 0, false},
		{"0.00062", many, many, true},
		{"0.00123", 0, many, true},
		{"0.00123", many, many, true},
		{"9000000000", many, many, true},
	} {
		prices := mustPrices(t, usage.Price{Model: "m", PerMillionUSD: map[usage.Meter]string{
			usage.InputTokens: c.price, usage.OutputTokens: c.price,
		}})
		_, err := prices.Cost("m", usage.Amounts{usage.InputTokens: c.in, usage.OutputTokens: c.out}, usage.TokenCounts{})
		if c.tooLarge != (err != nil) || c.tooLarge && !strings.Contains(err.Error(), "the tokens cost more than") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
