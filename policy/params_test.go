package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
)

func TestBindParams(t *testing.T) {
	declared := map[string]policy.Param{
		"max":    {Type: policy.ParamInt, Default: 3},
		"models": {Type: policy.ParamStrings},
	}
	models := []any{"a", "b"}
	tests := map[string]struct {
		values map[string]any
		want   map[string]any
		err    string
	}{
		"a default is used":          {values: map[string]any{"models": models}, want: map[string]any{"max": int64(3), "models": []string{"a", "b"}}},
		"numbers of JSON count":      {values: map[string]any{"models": models, "max": float64(7)}, want: map[string]any{"max": int64(7), "models": []string{"a", "b"}}},
		"numbers of a decoder count": {values: map[string]any{"models": models, "max": json.Number("9007199254740993")}, want: map[string]any{"max": int64(9007199254740993), "models": []string{"a", "b"}}},
		"text is no number":          {values: map[string]any{"models": models, "max": "abc"}, err: `parameter max: want int, have the text "abc"`},
		"a fraction is no int":       {values: map[string]any{"models": models, "max": 1.5}, err: `parameter max: want int, have float64 1.5`},
		"a missing value":            {err: "parameter models: no value and no default"},
		"a misspelt name":            {values: map[string]any{"models": models, "mx": 1}, err: "parameter mx: is not declared"},
		"an item of another type":    {values: map[string]any{"models": []any{1}}, err: "parameter models: item 0: want string, have int 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := policy.BindParams(declared, test.values)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(test.err, text); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}
