package usage_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/usage"
)

func TestAmountsAsJSON(t *testing.T) {
	for name, c := range map[string]struct {
		amounts usage.Amounts
		text    string
	}{
		"nothing known":     {nil, `null`},
		"nothing named":     {usage.Amounts{}, `{}`},
		"money and tokens":  {usage.Amounts{usage.CostUSD: 250_000_000, usage.InputTokens: 1500}, `{"costUSD":"0.25","inputTokens":1500}`},
		"a reported zero":   {usage.Amounts{usage.CostUSD: 0}, `{"costUSD":"0"}`},
		"the largest":       {usage.Amounts{"pages": math.MaxInt64}, `{"pages":9223372036854775807}`},
		"the largest money": {usage.Amounts{usage.CostUSD: math.MaxInt64}, `{"costUSD":"9223372036.854775807"}`},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(c.amounts)
			if err != nil || string(data) != c.text {
				t.Errorf("got %s, %v, want %s", data, err, c.text)
			}
			read := usage.Amounts{"stale": 1}
			if err := json.Unmarshal([]byte(c.text), &read); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.amounts, read); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAmountsReadFromJSON(t *testing.T) {
	for text, want := range map[string]usage.Amounts{
		`{"costUSD": 0.25}`:                     {usage.CostUSD: 250_000_000},
		`{"costUSD": 1e-05}`:                    {usage.CostUSD: 10_000},
		`{"costUSD": 0.1}`:                      {usage.CostUSD: 100_000_000},
		`{"inputTokens": "1500"}`:               {usage.InputTokens: 1500},
		`{"inputTokens" : 9223372036854775807}`: {usage.InputTokens: math.MaxInt64},
		`{"costUSD": "\u0031"}`:                 {usage.CostUSD: usage.USD},
		"{\n}":                                  {},
	} {
		var got usage.Amounts
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestAmountsRefuseJSON(t *testing.T) {
	for text, reason := range map[string]string{
		`[]`:                                   "array",
		`"1"`:                                  "string",
		`{"costUSD": "-1"}`:                    "costUSD: ",
		`{"costUSD": -1}`:                      "a sign",
		`{"costUSD": null}`:                    "want a number, not \"null\"",
		`{"costUSD": true}`:                    "want a number, not \"true\"",
		`{"costUSD": {"a": 1}}`:                "want a number",
		`{"costUSD": [1]}`:                     "want a number",
		`{"costUSD": ""}`:                      "it is empty",
		`{"inputTokens": 1.5}`:                 "inputTokens: ",
		`{"inputTokens": 1e3}`:                 "digits only",
		`{"inputTokens": 9223372036854775808}`: "more than",
		`{"": 1}`:                              "needs a name",
		`{"a b": 1}`:                           "only letters",
		`{"b": -1, "a": -1, "c": -1}`:          "a: ",
		`{"costUSD": 1, "a": 2, "costUSD": 5}`: `"costUSD" is there twice`,
		`{"a": 1, "\u0061": 1}`:                `"a" is there twice`,
		`{"costUSD": 1} x`:                     "invalid character",
	} {
		kept := usage.Amounts{"kept": 1}
		err := json.Unmarshal([]byte(text), &kept)
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want an error with %q", text, err, reason)
		}
		if diff := cmp.Diff(usage.Amounts{"kept": 1}, kept); diff != "" {
			t.Errorf("%s changed what was there (-want +got):\n%s", text, diff)
		}
	}
}

func FuzzAmountsJSON(f *testing.F) {
	for _, text := range []string{`null`, `{}`, `{"costUSD":"0.25","inputTokens":1500}`, `{"costUSD":1e-05}`, `{"a":"x"}`, `{"a":1,"a":2}`, `[`, `{"\xff":1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second usage.Amounts
		if json.Unmarshal(data, &first) != nil {
			return
		}
		if err := first.Validate(); err != nil {
			t.Fatalf("%q: read without an error: %v", data, err)
		}
		written, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", written, diff)
		}
	})
}

func TestAmountsOnText(t *testing.T) {
	a := usage.Amounts{usage.InputTokens: 1500, usage.CostUSD: 250_000_000}
	if got, want := a.String(), "costUSD 0.25, inputTokens 1500"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := usage.Amounts(nil).String(); got != "none" {
		t.Errorf("got %q, want none", got)
	}
	if diff := cmp.Diff([]usage.Meter{usage.CostUSD, usage.InputTokens}, a.Meters()); diff != "" {
		t.Errorf("meters (-want +got):\n%s", diff)
	}
}

func TestAmountsCloneSharesNothing(t *testing.T) {
	a := usage.Amounts{usage.Tasks: 1}
	b := a.Clone()
	b[usage.Tasks] = 2
	if a[usage.Tasks] != 1 {
		t.Error("the clone changed the original")
	}
	if usage.Amounts(nil).Clone() != nil {
		t.Error("the clone of nothing known knows something")
	}
}

func TestAmountsValidate(t *testing.T) {
	if err := (usage.Amounts{usage.Tasks: 0, usage.CostUSD: math.MaxInt64}).Validate(); err != nil {
		t.Error(err)
	}
	for reason, a := range map[string]usage.Amounts{
		"costUSD -0.5: must not be negative": {usage.CostUSD: -500_000_000, "z": -1},
		"needs a name":                       {"": 1},
		"only letters":                       {"a b": 1},
	} {
		if err := a.Validate(); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v: %v, want an error with %q", a, err, reason)
		}
	}
}

func TestSaturatingAdd(t *testing.T) {
	edges := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64(), rapid.SampledFrom(edges))
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		got, want := usage.SaturatingAdd(a, b), clampInt64(a, b)
		if got != want {
			t.Fatalf("%d + %d = %d, want %d", a, b, got, want)
		}
	})
}
