package crds_test

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/bursar-dev/bursar/budget/install"
)

// A rule has a spec that it refuses, what the user reads, and the nearest spec that passes. Both are changes of one that is good.
type rule struct{ refused, says, passes string }

func (r rule) check(t *testing.T, resource, kind, name string, good object) {
	t.Helper()
	err := dryRun(t, resource, manifest(kind, name, good.with(t, r.refused)).json(t))
	if err == nil {
		t.Errorf("%s is accepted", r.refused)
	} else if !strings.Contains(err.Error(), r.says) {
		t.Errorf("%s: it says\n%v\nwant\n%s", r.refused, err, r.says)
	}
	if err := dryRun(t, resource, manifest(kind, name, good.with(t, r.passes)).json(t)); err != nil {
		t.Errorf("%s: %v", r.passes, err)
	}
}

const goodBudget = `{taskSelector: {}, period: {type: Daily}, maxCostUSD: "10"}`

func budgetRules() map[string]rule {
	return map[string]rule{
		"A1: a selector is required": {
			`{taskSelector: null}`, "spec.taskSelector: Required value", `{taskSelector: {}}`,
		},
		"A1: an operator is one of four": {
			`{taskSelector: {matchExpressions: [{key: team, operator: in, values: [a]}]}}`,
			"spec.taskSelector: Invalid value: an operator is one of In, NotIn, Exists and DoesNotExist",
			`{taskSelector: {matchExpressions: [{key: team, operator: In, values: [a]}]}}`,
		},
		"A1: In needs values": {
			`{taskSelector: {matchExpressions: [{key: team, operator: In}]}}`,
			"spec.taskSelector: Invalid value: In and NotIn need values",
			`{taskSelector: {matchExpressions: [{key: team, operator: Exists}]}}`,
		},
		"A1: DoesNotExist takes no values": {
			`{taskSelector: {matchExpressions: [{key: team, operator: DoesNotExist, values: [a]}]}}`,
			"spec.taskSelector: Invalid value: Exists and DoesNotExist take no values",
			`{taskSelector: {matchExpressions: [{key: team, operator: NotIn, values: [a]}]}}`,
		},
		"a period is required":      {`{period: null}`, "spec.period: Required value", `{}`},
		"a period needs a type":     {`{period: {}}`, "spec.period.type: Required value", `{period: {type: Hourly}}`},
		"types are written exactly": {`{period: {type: daily}}`, `spec.period.type: Unsupported value: "daily"`, `{period: {type: Daily}}`},
		"A3: at least one limit":    {`{maxCostUSD: null}`, "spec.maxCostUSD: Required value", `{maxCostUSD: null, maxInputTokens: 0}`},
		"A3: an empty list is no limit": {
			`{maxCostUSD: null, limits: []}`, "spec.limits in body should have at least 1 items", `{maxCostUSD: null, limits: [{meter: tasks, max: 0}]}`,
		},
		"A3: input tokens are not negative": {
			`{maxInputTokens: -1}`, "spec.maxInputTokens in body should be greater than or equal to 0", `{maxInputTokens: 0}`,
		},
		"A3: output tokens are not negative": {
			`{maxOutputTokens: -1}`, "spec.maxOutputTokens in body should be greater than or equal to 0", `{maxOutputTokens: 0}`,
		},
		"A3: tokens are whole": {`{maxInputTokens: 0.5}`, "spec.maxInputTokens in body must be of type int64", `{maxInputTokens: 1}`},
		"tokens fit 64 bits": {
			`{maxOutputTokens: 9223372036854775808}`, "spec.maxOutputTokens: Invalid value", `{maxOutputTokens: 9223372036854775807}`,
		},
		"A3: other limits are not negative": {
			`{limits: [{meter: tasks, max: -1}]}`, "spec.limits[0].max in body should be greater than or equal to 0", `{limits: [{meter: tasks, max: 0}]}`,
		},
		"a meter has a name":                  {`{limits: [{max: 1}]}`, "spec.limits[0].meter: Required value", `{limits: [{meter: a, max: 1}]}`},
		"a meter has a limit":                 {`{limits: [{meter: a}]}`, "spec.limits[0].max: Required value", `{limits: [{meter: a, max: 1}]}`},
		"a meter's name starts with a letter": {`{limits: [{meter: 1a, max: 1}]}`, "spec.limits[0].meter in body should match", `{limits: [{meter: a1, max: 1}]}`},
		"a meter's name is not long": {
			`{limits: [{meter: ` + strings.Repeat("a", 64) + `, max: 1}]}`, "spec.limits[0].meter: Too long", `{limits: [{meter: ` + strings.Repeat("a", 63) + `, max: 1}]}`,
		},
		"cost has a field of its own": {
			`{limits: [{meter: costUSD, max: 1}]}`, `spec.limits[0].meter: Invalid value: "costUSD": this meter has a field of its own: maxCostUSD`, `{limits: [{meter: costEUR, max: 1}]}`,
		},
		"input tokens have a field of their own": {
			`{limits: [{meter: tasks, max: 1}, {meter: inputTokens, max: 1}]}`, `spec.limits[1].meter: Invalid value: "inputTokens": this meter has a field of its own: maxInputTokens`, `{limits: [{meter: InputTokens, max: 1}]}`,
		},
		"output tokens have a field of their own": {
			`{limits: [{meter: outputTokens, max: 1}]}`, `spec.limits[0].meter: Invalid value: "outputTokens": this meter has a field of its own: maxOutputTokens`, `{limits: [{meter: output, max: 1}]}`,
		},
		"an estimate of cost has a field of its own": {
			`{defaultEstimate: {meters: [{meter: costUSD, amount: 1}]}}`, `spec.defaultEstimate.meters[0].meter: Invalid value: "costUSD": this meter has a field of its own: costUSD`, `{defaultEstimate: {costUSD: 1}}`,
		},
		"an estimate of input tokens has one, too": {
			`{defaultEstimate: {meters: [{meter: inputTokens, amount: 1}]}}`, `spec.defaultEstimate.meters[0].meter: Invalid value: "inputTokens": this meter has a field of its own: inputTokens`, `{defaultEstimate: {inputTokens: 1}}`,
		},
		"a meter is limited once": {
			`{limits: [{meter: a, max: 1}, {meter: a, max: 2}]}`, `spec.limits[1]: Duplicate value: {"meter":"a"}`, `{limits: [{meter: a, max: 1}, {meter: A, max: 2}]}`,
		},
		"A19: an action is one of two":   {`{action: block}`, `spec.action: Unsupported value: "block": supported values: "Block", "Warn"`, `{action: Block}`},
		"a policy for unknown usage":     {`{unknownUsage: Charge}`, `spec.unknownUsage: Unsupported value: "Charge": supported values: "ChargeHold", "Block", "Ignore"`, `{unknownUsage: Ignore}`},
		"groups are by label keys":       {`{groupBy: ["a b"]}`, "spec.groupBy[0] in body should match", `{groupBy: ["example.com/a_b"]}`},
		"groups are by each key once":    {`{groupBy: [a, a]}`, `spec.groupBy[1]: Duplicate value: "a"`, `{groupBy: [a, b]}`},
		"groups are by few keys":         {`{groupBy: [a, b, c, d, e, f, g, h, i]}`, "spec.groupBy: Too many: 9: must have at most 8 items", `{groupBy: [a, b, c, d, e, f, g, h]}`},
		"thresholds are above 0":         {`{thresholds: [0]}`, "spec.thresholds[0] in body should be greater than or equal to 1", `{thresholds: [1]}`},
		"thresholds are at most 100":     {`{thresholds: [101]}`, "spec.thresholds[0] in body should be less than or equal to 100", `{thresholds: [100]}`},
		"a threshold is there once":      {`{thresholds: [50, 50]}`, "spec.thresholds[1]: Duplicate value: 50", `{thresholds: [50, 51]}`},
		"A17: a lifetime is positive":    {`{recordTTLSeconds: 0}`, "spec.recordTTLSeconds in body should be greater than or equal to 1", `{recordTTLSeconds: 200000}`},
		"a lifetime fits 292 years":      {`{recordTTLSeconds: 9223372037}`, "spec.recordTTLSeconds in body should be less than or equal to 9223372036", `{recordTTLSeconds: 9223372036}`},
		"an estimate is not negative":    {`{defaultEstimate: {inputTokens: -1}}`, "spec.defaultEstimate.inputTokens in body should be greater than or equal to 0", `{defaultEstimate: {inputTokens: 0}}`},
		"an estimate of a meter, too":    {`{defaultEstimate: {meters: [{meter: a, amount: -1}]}}`, "spec.defaultEstimate.meters[0].amount in body should be", `{defaultEstimate: {meters: [{meter: a, amount: 0}]}}`},
		"an estimate fits 64 bits":       {`{defaultEstimate: {outputTokens: 10000000000000000000}}`, "spec.defaultEstimate.outputTokens in body must be of type int64", `{defaultEstimate: {outputTokens: 1}}`},
		"fields that are not there fail": {`{maxCost: 1}`, `unknown field "spec.maxCost"`, `{}`},
	}
}

func TestA1_A3_A17_A19_BudgetRules(t *testing.T) {
	for sentence, r := range budgetRules() {
		t.Run(sentence, func(t *testing.T) { r.check(t, "taskbudgets", "TaskBudget", "daily", parse(t, goodBudget)) })
	}
}

func TestA1_ABudgetNeedsASpec(t *testing.T) {
	for _, spec := range []string{`null`, `{}`} {
		err := dryRun(t, "taskbudgets", []byte(`{"apiVersion":"bursar.dev/v1alpha1","kind":"TaskBudget","metadata":{"name":"x"},"spec":`+spec+`}`))
		if err == nil || !strings.Contains(err.Error(), "spec") || !strings.Contains(err.Error(), "Required value") {
			t.Errorf("A1: spec %s: %v", spec, err)
		}
	}
	err := dryRun(t, "taskbudgets", []byte(`{"apiVersion":"bursar.dev/v1alpha1","kind":"TaskBudget","metadata":{"name":"x"}}`))
	if err == nil || !strings.Contains(err.Error(), "spec: Required value") {
		t.Errorf("A1: no spec: %v", err)
	}
}

// immutable are the words of the rules about changes, see TestRecordsAreImmutable and TestTheSnapshotOfAHoldIsImmutable.
var immutable = []string{recordIsImmutable, labelsAreImmutable}

// Every CEL rule of the resources' specs has a case above or below that hears it.
func TestEveryRuleHasACase(t *testing.T) {
	all := slices.Clone(immutable)
	for _, rules := range []map[string]rule{budgetRules(), periodRules(), recordRules(), holdRules()} {
		for _, r := range rules {
			all = append(all, r.says)
		}
	}
	heard := strings.Join(all, "\n")
	crds, err := install.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		delete(schema.Properties, "status") // the controller's
		words := messages(schema)
		if len(words) == 0 {
			t.Errorf("%s has no rule", crd.Name)
		}
		for _, message := range words {
			if !strings.Contains(heard, message) {
				t.Errorf("%s: no case hears %q", crd.Name, message)
			}
		}
	}
}

// messages are what the CEL rules of a schema say, at any depth.
func messages(schema *apiextensionsv1.JSONSchemaProps) []string {
	var found []string
	for _, r := range schema.XValidations {
		found = append(found, r.Message)
	}
	for _, property := range schema.Properties {
		found = append(found, messages(&property)...)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		found = append(found, messages(schema.Items.Schema)...)
	}
	return found
}

// A19: an action is an enum whose first value is Block, and what is not said is Block.
func TestA19_TheFirstActionIsBlock(t *testing.T) {
	crds, err := install.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		if crd.Spec.Names.Kind != "TaskBudget" {
			continue
		}
		action := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["action"]
		var values []string
		for _, value := range action.Enum {
			values = append(values, string(value.Raw))
		}
		if !slices.Equal(values, []string{`"Block"`, `"Warn"`}) {
			t.Errorf("A19: the actions are %v", values)
		}
	}
	if err := dryRun(t, "taskbudgets", manifest("TaskBudget", "x", parse(t, goodBudget).with(t, `{action: Block}`)).json(t)); err != nil {
		t.Error(err)
	}
}
