package policy_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
)

func TestAParameterIsBoundToItsType(t *testing.T) {
	tests := map[string]struct {
		kind        policy.ParamType
		value, want any
	}{
		"an int":                          {policy.ParamInt, 7, int64(7)},
		"an int32":                        {policy.ParamInt, int32(-7), int64(-7)},
		"an int64":                        {policy.ParamInt, int64(math.MinInt64), int64(math.MinInt64)},
		"a uint64":                        {policy.ParamInt, uint64(math.MaxInt64), int64(math.MaxInt64)},
		"a whole number of JSON":          {policy.ParamInt, float64(7), int64(7)},
		"the largest whole number of one": {policy.ParamInt, float64(1 << 53), int64(1 << 53)},
		"a number of a decoder":           {policy.ParamInt, json.Number("9007199254740993"), int64(9007199254740993)},
		"a string":                        {policy.ParamString, "", ""},
		"a bool":                          {policy.ParamBool, true, true},
		"strings":                         {policy.ParamStrings, []string{"a", "b"}, []string{"a", "b"}},
		"strings of JSON":                 {policy.ParamStrings, []any{"a"}, []string{"a"}},
		"no strings":                      {policy.ParamStrings, []any{}, []string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := policy.BindParams(map[string]policy.Param{"x": {Type: test.kind}}, map[string]any{"x": test.value})
			if diff := cmp.Diff(map[string]any{"x": test.want}, got); err != nil || diff != "" {
				t.Errorf("%v, values (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestAParameterOfAnotherTypeIsRefused(t *testing.T) {
	tests := map[string]struct {
		kind  policy.ParamType
		value any
		want  string
	}{
		"text for an int":                {policy.ParamInt, "abc", `want int, have the text "abc"`},
		"digits for an int":              {policy.ParamInt, "12", `want int, have the text "12"`},
		"a fraction for an int":          {policy.ParamInt, 1.5, "want int, have float64 1.5"},
		"a number that floats round":     {policy.ParamInt, float64(1 << 54), "want int, have float64 1.8014398509481984e+16"},
		"no number":                      {policy.ParamInt, math.NaN(), "want int, have float64 NaN"},
		"a uint64 beyond int64":          {policy.ParamInt, uint64(math.MaxUint64), "want int, have uint64 18446744073709551615"},
		"a decoder's fraction":           {policy.ParamInt, json.Number("1.5"), "want int, have json.Number 1.5"},
		"null":                           {policy.ParamInt, nil, "want int, have nothing"},
		"a number for a string":          {policy.ParamString, 1, "want string, have int 1"},
		"a string that is too long":      {policy.ParamString, strings.Repeat("x", 1025), "has 1025 bytes, at most 1024 are allowed"},
		"a string that is no text":       {policy.ParamString, "\xff", "is not valid UTF-8"},
		"a word for a bool":              {policy.ParamBool, "true", `want bool, have the text "true"`},
		"one string for strings":         {policy.ParamStrings, "a", `want strings, have the text "a"`},
		"a list with a number":           {policy.ParamStrings, []any{"a", 1}, "item 1: want string, have int 1"},
		"a list that is too long":        {policy.ParamStrings, make([]any, 65), "65 strings, at most 64 are allowed"},
		"a declared type that is not so": {"money", 1, `type "money" does not exist: want int, string, bool or strings`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := policy.BindParams(map[string]policy.Param{"x": {Type: test.kind}}, map[string]any{"x": test.value})
			if err == nil || err.Error() != "parameter x: "+test.want || got != nil {
				t.Errorf("got %v and %v", got, err)
			}
		})
	}
}

func TestBindParams(t *testing.T) {
	declared := map[string]policy.Param{
		"max":    {Type: policy.ParamInt, Default: 3},
		"models": {Type: policy.ParamStrings},
	}
	got, err := policy.BindParams(declared, map[string]any{"models": []any{"a"}})
	if diff := cmp.Diff(map[string]any{"max": int64(3), "models": []string{"a"}}, got); err != nil || diff != "" {
		t.Errorf("%v, values (-want +got):\n%s", err, diff)
	}
	_, err = policy.BindParams(declared, map[string]any{"mx": 1, "max": nil})
	want := "parameter max: want int, have nothing\nparameter models: no value and no default\nparameter mx: is not declared"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	many := map[string]policy.Param{}
	for i := range policy.MaxParams + 1 {
		many[strconv.Itoa(i)] = policy.Param{Type: policy.ParamBool, Default: true}
	}
	if _, err := policy.BindParams(many, nil); err == nil || err.Error() != "65 parameters, at most 64 are allowed" {
		t.Errorf("got %v", err)
	}
}
