// Command crdfinish finishes the generated CRDs with what controller-gen has no marker for.
//
// Times: the API server takes more spellings of a date-time than Go programs can read, and an object that cannot be read
// stops every informer of its type. Each date-time below spec gets the pattern of RFC 3339.
//
// Money that people write: a resource.Quantity is generated as an integer or a string, which refuses `maxCostUSD: 12.50`, a
// JSON number with a fraction. There is no union of number and string in a structural schema, so the amounts below the
// spec of a TaskBudget get a schema without a type: a pattern holds strings, a minimum and a maximum hold numbers, and every
// other sort of value is refused by a constraint that it can't meet. CEL does not see such a field; that a budget needs a
// limit is said with "required" instead. Records, holds and status are written by programs and stay as generated.
//
//	crdfinish budget/v1alpha1/crds/*.yaml
package main

import (
	"errors"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "crdfinish:", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	if len(files) == 0 {
		return errors.New("name the files of the CRDs")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		finished, err := finish(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(file, finished, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// finish works on every version of a CRD.
func finish(text []byte) ([]byte, error) {
	var crd map[string]any
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, err
	}
	versions, _ := dig(crd, "spec")["versions"].([]any)
	if len(versions) == 0 {
		return nil, errors.New("no CRD: it has no spec.versions")
	}
	for _, version := range versions {
		v, _ := version.(map[string]any)
		spec := dig(v, "schema", "openAPIV3Schema", "properties", "spec")
		times("spec", spec)
		if dig(crd, "spec", "names")["kind"] != "TaskBudget" {
			continue
		}
		if err := money(spec); err != nil {
			return nil, err
		}
	}
	finished, err := yaml.Marshal(crd)
	return append([]byte("---\n"), finished...), err
}

// dig follows a path of maps; what is not there is an empty map.
func dig(m map[string]any, path ...string) map[string]any {
	for _, name := range path {
		next, ok := m[name].(map[string]any)
		if !ok {
			return map[string]any{}
		}
		m = next
	}
	return m
}

// rfc3339 is what encoding/json reads into a time; %s is the fraction of a second.
const rfc3339 = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.%s{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`

// times bounds each date-time at any depth. An anchor is in whole seconds, since windows are: CEL could say it in words, but
// only at a cost that the API server does not allow.
func times(name string, schema map[string]any) {
	if schema["format"] == "date-time" {
		digit := "[0-9]"
		if name == "anchor" {
			digit = "0"
		}
		schema["pattern"] = fmt.Sprintf(rfc3339, digit)
		schema["maxLength"] = len("2006-01-02T15:04:05.999999999+07:00")
	}
	for name, property := range dig(schema, "properties") {
		if p, ok := property.(map[string]any); ok {
			times(name, p)
		}
	}
	if items := dig(schema, "items"); len(items) > 0 {
		times(name, items)
	}
}

// money lets a person write every amount of a budget.
func money(spec map[string]any) error {
	properties := dig(spec, "properties")
	estimate := dig(properties, "defaultEstimate", "properties")
	spec["anyOf"] = []any{
		map[string]any{"required": []any{"maxCostUSD"}},
		map[string]any{"required": []any{"maxInputTokens"}},
		map[string]any{"required": []any{"maxOutputTokens"}},
		map[string]any{"required": []any{"limits"}, "properties": map[string]any{"limits": map[string]any{"minItems": 1}}},
	}
	return errors.Join(loosen(properties, "maxCostUSD"), loosen(estimate, "costUSD"))
}

// decimal is a dollar amount as text: no sign but a plus, a decimal suffix or exponent of Kubernetes, no binary suffix.
const decimal = `^\+?([0-9]{1,20}(\.[0-9]{0,30})?|\.[0-9]{1,30})([numkMGTPE]|[eE][+-]?[0-9]{1,2})?$`

// mostUSD is the largest number of dollars that fits 64 bits of nano-USD, as near below as a JSON number comes.
const mostUSD = 9223372036.854774

// loosen replaces the schema of a quantity.
func loosen(properties map[string]any, name string) error {
	quantity, ok := properties[name].(map[string]any)
	if !ok {
		return fmt.Errorf("it has no property %s", name)
	}
	properties[name] = map[string]any{
		"description":                          quantity["description"],
		"x-kubernetes-preserve-unknown-fields": true,
		"pattern":                              decimal,
		"minimum":                              0,
		"maximum":                              mostUSD,
		"not":                                  map[string]any{"enum": []any{true, false}},
		"maxItems":                             0,
		"minItems":                             1,
		"maxProperties":                        0,
		"minProperties":                        1,
	}
	return nil
}
