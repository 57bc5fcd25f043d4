package usage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/usage"
)

// resultCase is one case of testdata/usage.json.
type resultCase struct {
	ID      string            `json:"id"`
	Results map[string]string `json:"results"`
	Want    struct {
		CostNanoUSD  *int64        `json:"costNanoUSD"`
		InputTokens  *int64        `json:"inputTokens"`
		OutputTokens *int64        `json:"outputTokens"`
		Unknown      []usage.Meter `json:"unknown"`
	} `json:"want"`
}

func TestReadResultCases(t *testing.T) {
	data, err := os.ReadFile("testdata/usage.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Meta  map[string]string `json:"meta"`
		Cases []resultCase      `json:"cases"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			want := usage.Amounts{}
			for m, amount := range map[usage.Meter]*int64{
				usage.CostUSD: c.Want.CostNanoUSD, usage.InputTokens: c.Want.InputTokens, usage.OutputTokens: c.Want.OutputTokens,
			} {
				if amount != nil {
					want[m] = *amount
				}
			}
			got, problems := usage.ReadResults(c.Results, nil)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("amounts (-want +got):\n%s", diff)
			}
			compareProblems(t, c.Want.Unknown, problems)
			for _, p := range problems {
				if text := c.Results[strings.Trim(strings.TrimPrefix(p.Source, "result "), `"`)]; !strings.Contains(p.Reason, usage.Quote(text)) {
					t.Errorf("%s does not quote %q", p, text)
				}
			}
		})
	}
}

func compareProblems(t *testing.T, want []usage.Meter, problems []usage.Problem) {
	t.Helper()
	got := []usage.Meter{}
	for _, p := range problems {
		got = append(got, p.Meter)
	}
	if diff := cmp.Diff(append([]usage.Meter{}, want...), got); diff != "" {
		t.Errorf("unknown meters (-want +got):\n%s\n%v", diff, problems)
	}
}

func TestReadResults(t *testing.T) {
	names := usage.StandardResults()
	names["total_cost"] = usage.CostUSD
	names["pages"] = "pages"
	names["typo"] = "no meter"
	for name, c := range map[string]struct {
		results map[string]string
		names   usage.ResultNames
		want    usage.Amounts
		unknown []usage.Meter
	}{
		"no results":                      {nil, nil, usage.Amounts{}, nil},
		"a blank result reports nothing":  {map[string]string{"cost-usd": "", "input-tokens": " \n\u00a0\u3000"}, nil, usage.Amounts{}, nil},
		"all standard names":              {map[string]string{"cost-usd": "1", "input-tokens": "2", "output-tokens": "3", "cache-read-tokens": "4", "cache-write-tokens": "5", "reasoning-tokens": "6"}, nil, usage.Amounts{usage.CostUSD: usage.USD, usage.InputTokens: 2, usage.OutputTokens: 3, usage.CacheReadTokens: 4, usage.CacheWriteTokens: 5, usage.ReasoningTokens: 6}, nil},
		"names are exact":                 {map[string]string{"Cost-USD": "1", "\ncost-usd": "1", "cost_usd": "1"}, nil, usage.Amounts{}, nil},
		"other names alone":               {map[string]string{"cost-usd": "1", "pages": "7"}, usage.ResultNames{"pages": "pages"}, usage.Amounts{"pages": 7}, nil},
		"no names at all":                 {map[string]string{"cost-usd": "1"}, usage.ResultNames{}, usage.Amounts{}, nil},
		"two results agree":               {map[string]string{"cost-usd": "1.50", "total_cost": "1.5"}, names, usage.Amounts{usage.CostUSD: 1_500_000_000}, nil},
		"two results contradict":          {map[string]string{"cost-usd": "1", "total_cost": "2"}, names, usage.Amounts{}, []usage.Meter{usage.CostUSD}},
		"one of two can't be read":        {map[string]string{"cost-usd": "abc", "total_cost": "2"}, names, usage.Amounts{}, []usage.Meter{usage.CostUSD}},
		"the other of two can't be read":  {map[string]string{"cost-usd": "2", "total_cost": "abc"}, names, usage.Amounts{}, []usage.Meter{usage.CostUSD}},
		"one of two is blank":             {map[string]string{"cost-usd": "", "total_cost": "2"}, names, usage.Amounts{usage.CostUSD: 2 * usage.USD}, nil},
		"a name for an illegal meter":     {map[string]string{"typo": "2"}, names, usage.Amounts{}, []usage.Meter{"no meter"}},
		"a name for no meter":             {map[string]string{"x": "2"}, usage.ResultNames{"x": ""}, usage.Amounts{}, []usage.Meter{""}},
		"digits that are not ASCII":       {map[string]string{"input-tokens": "１２", "cost-usd": "٣"}, nil, usage.Amounts{}, []usage.Meter{usage.CostUSD, usage.InputTokens}},
		"invalid UTF-8":                   {map[string]string{"input-tokens": "\xff\xfe", "output-tokens": "1"}, nil, usage.Amounts{usage.OutputTokens: 1}, []usage.Meter{usage.InputTokens}},
		"a fraction of a token":           {map[string]string{"input-tokens": "1.5"}, nil, usage.Amounts{}, []usage.Meter{usage.InputTokens}},
		"more than an int64":              {map[string]string{"input-tokens": "9223372036854775808", "cost-usd": "1e10"}, nil, usage.Amounts{}, []usage.Meter{usage.CostUSD, usage.InputTokens}},
		"a megabyte of zeros":             {map[string]string{"input-tokens": strings.Repeat("0", 1<<20)}, nil, usage.Amounts{usage.InputTokens: 0}, nil},
		"a megabyte of garbage":           {map[string]string{"input-tokens": strings.Repeat("x", 1<<20)}, nil, usage.Amounts{}, []usage.Meter{usage.InputTokens}},
		"a megabyte of blanks is a blank": {map[string]string{"input-tokens": strings.Repeat(" ", 1<<20)}, nil, usage.Amounts{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := usage.ReadResults(c.results, c.names)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("amounts (-want +got):\n%s", diff)
			}
			compareProblems(t, c.unknown, problems)
			for _, p := range problems {
				if len(p.String()) > 600 {
					t.Errorf("a problem of %d bytes: %.200s", len(p.String()), p)
				}
			}
		})
	}
}

func TestReadManyResults(t *testing.T) {
	results, names := map[string]string{}, usage.ResultNames{}
	want := usage.Amounts{}
	for i := range 10_000 {
		name := fmt.Sprintf("result-%d", i)
		results[name], names[name] = strconv.Itoa(i), usage.Meter(fmt.Sprintf("m%d", i))
		want[names[name]] = int64(i)
	}
	got, problems := usage.ReadResults(results, names)
	if diff := cmp.Diff(want, got); diff != "" || problems != nil {
		t.Errorf("amounts (-want +got):\n%s\n%v", diff, problems)
	}
	if got, problems := usage.ReadResults(results, nil); len(got) != 0 || problems != nil {
		t.Errorf("results with other names were read: %v, %v", got, problems)
	}
}

func TestStandardResultsAreTheCallersOwn(t *testing.T) {
	usage.StandardResults()["cost-usd"] = usage.Tasks
	if got := usage.StandardResults()["cost-usd"]; got != usage.CostUSD {
		t.Errorf("cost-usd reports %s", got)
	}
}

func TestProblemIsOneLine(t *testing.T) {
	_, problems := usage.ReadResults(map[string]string{"cost-usd": "a\nb"}, nil)
	want := `costUSD not known from result "cost-usd": "a\nb" is no dollar amount: want a plain decimal such as 0.25 or 1e-05, without suffix or separator`
	if len(problems) != 1 || problems[0].String() != want {
		t.Errorf("got %v, want %s", problems, want)
	}
}

func FuzzReadResults(f *testing.F) {
	f.Add("0.25", "100", "0.25", "x")
	f.Add("abc", "1e3", "", " ")
	f.Add("１", "\xff", "0.250", "7")
	f.Fuzz(func(t *testing.T, cost, input, total, other string) {
		names := usage.StandardResults()
		names["total"] = usage.CostUSD
		results := map[string]string{"cost-usd": cost, "input-tokens": input, "total": total, "other": other}
		amounts, problems := usage.ReadResults(results, names)
		if err := amounts.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			if _, ok := amounts[p.Meter]; ok {
				t.Fatalf("%s is known and has a problem: %s", p.Meter, p)
			}
		}
		for m, texts := range map[usage.Meter][]string{usage.CostUSD: {cost, total}, usage.InputTokens: {input}} {
			_, known := amounts[m]
			troubled := slices.ContainsFunc(problems, func(p usage.Problem) bool { return p.Meter == m })
			blank := !slices.ContainsFunc(texts, func(text string) bool { return strings.TrimSpace(text) != "" })
			if blank == (known || troubled) {
				t.Fatalf("%s of %q: known %v, problem %v", m, texts, known, troubled)
			}
		}
	})
}

// clampInt64 is a + b, cut at the ends of int64, by way of big integers.
func clampInt64(a, b int64) int64 {
	sum := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
	switch {
	case sum.IsInt64():
		return sum.Int64()
	case sum.Sign() < 0:
		return -1 << 63
	default:
		return 1<<63 - 1
	}
}
