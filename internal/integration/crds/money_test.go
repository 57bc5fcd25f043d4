package crds_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// Money is written as JSON here: what stands behind the colon is what the API server gets.
func TestMoneyIsReadAsItIsWritten(t *testing.T) {
	for written, want := range map[string]string{
		`0.5`: "0.5", `"0.5"`: "0.5", `1000m`: "1", `"1000m"`: "1", `5`: "5", `5.0`: "5", `0`: "0", `"0"`: "0", `12.50`: "12.5", `"12.50"`: "12.5",
		`1e-9`: "0.000000001", `"1e-9"`: "0.000000001", `1e3`: "1000", `"1e3"`: "1000", `"1k"`: "1000", `"+5"`: "5", `".5"`: "0.5", `"5."`: "5",
		`0.1`: "0.1", `"0.0000000001"`: "0.000000001", `"9223372036.854775807"`: "9223372036.854775807", `9223372036`: "9223372036",
	} {
		t.Run(written, func(t *testing.T) {
			namespace := shared.Namespace(t, nil)
			if written == `1000m` {
				written = `"1000m"` // what YAML makes of it
			}
			tb := &budgetv1alpha1.TaskBudget{}
			text := `{"apiVersion":"bursar.dev/v1alpha1","kind":"TaskBudget","metadata":{"name":"daily"},"spec":{"taskSelector":{},` +
				`"period":{"type":"Daily"},"maxCostUSD":` + written + `,"defaultEstimate":{"costUSD":` + written + `}}}`
			if err := send(t, "taskbudgets", namespace, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if err := shared.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "daily"}, tb); err != nil {
				t.Fatal(err)
			}
			rule, faults := budget.Compile(tb)
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			if got := usage.FormatUSD(rule.Limits()[0].Max); got != want {
				t.Errorf("a limit of %s, want %s", got, want)
			}
			if got := usage.FormatUSD(rule.Scope().Default[usage.CostUSD]); got != want {
				t.Errorf("an estimate of %s, want %s", got, want)
			}
			if err := shared.Client.Update(t.Context(), tb); err != nil {
				t.Errorf("what a Go program writes back is refused: %v", err)
			}
		})
	}
}

func TestMoneyThatIsRefused(t *testing.T) {
	const text, object, list = "in body should match", "should have at least 1 properties", "should have at least 1 items"
	for written, says := range map[string]string{
		`-0.5`: "should be greater than or equal to 0", `"-0.5"`: text, `-1`: "should be greater than or equal to 0", `"-1"`: text, `"-0"`: text,
		`"abc"`: text, `""`: text, `" 5"`: text, `"5 USD"`: text, `"$5"`: text, `"NaN"`: text, `"Inf"`: text, `"1e1.5"`: text, `"5,00"`: text, `"1_000"`: text,
		`"1Ki"`: text, `"1e999"`: text, `true`: "must not validate the schema (not)", `{}`: object, `{"a":1}`: "must have at most 0 items",
		`[]`: list, `["5"]`: "must have at most 0 items", `1e10`: "should be less than or equal to 9.223372036854774e+09",
	} {
		for field, spec := range map[string]string{
			"spec.maxCostUSD":              `{"taskSelector":{},"period":{"type":"Daily"},"maxCostUSD":` + written + `}`,
			"spec.defaultEstimate.costUSD": `{"taskSelector":{},"period":{"type":"Daily"},"maxInputTokens":1,"defaultEstimate":{"costUSD":` + written + `}}`,
		} {
			err := dryRun(t, "taskbudgets", []byte(
				`{"apiVersion":"bursar.dev/v1alpha1","kind":"TaskBudget","metadata":{"name":"daily"},"spec":`+spec+`}`))
			if err == nil || !strings.Contains(err.Error(), field) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %s: %v, want %s", field, written, err, says)
			}
		}
	}
}
