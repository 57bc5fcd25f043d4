package policytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bursar-dev/bursar/internal/policyfixture"
	"github.com/bursar-dev/bursar/policy"
)

// Base is the input that cases start from: the task refactor-1 of namespace
// agents, model opus, label team=a, an estimate of 2 USD, a pod of 2 cores and
// 4 GiB; one daily budget of 100 USD of which 50 are used; noon UTC on Monday
// 2026-03-02, half of the day gone.
func Base() policy.Input { return policyfixture.Base() }

// Apply returns the base input with changes: maps of keys, or of paths with
// dots, to values. Later changes win. The result is complete and checked.
func Apply(changes ...map[string]any) (policy.Input, error) {
	doc, err := document(Base())
	if err != nil {
		return policy.Input{}, err
	}
	for _, change := range changes {
		if err := merge(doc, change); err != nil {
			return policy.Input{}, err
		}
	}
	if err := fillBudgets(doc); err != nil {
		return policy.Input{}, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return policy.Input{}, err
	}
	var in policy.Input
	if err := strict(text, &in); err != nil {
		return policy.Input{}, fmt.Errorf("set: %w", advised(err))
	}
	in = in.Complete()
	err = in.Check()
	return in, err
}

func strict(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func document(value any) (map[string]any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	err = strict(text, &doc)
	return doc, err
}

// merge applies a change. The budget that policies see is the tightest of
// budgets, so that a change to it goes to the first of them.
func merge(doc, change map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(change)) {
		err := putPath(doc, key, change[key])
		if err != nil {
			return fmt.Errorf("set %s: %w", key, err)
		}
	}
	return nil
}

func putPath(doc map[string]any, key string, value any) error {
	path := strings.Split(key, ".")
	if path[0] != "budget" {
		return put(doc, "", path[0], path[1:], value)
	}
	first, err := firstBudget(doc)
	if err != nil {
		return err
	}
	if len(path) > 1 {
		return put(first, "budget", path[1], path[2:], value)
	}
	whole, ok := value.(map[string]any)
	if !ok {
		return errors.New("want a map")
	}
	return merge(first, whole)
}

func firstBudget(doc map[string]any) (map[string]any, error) {
	budgets, ok := doc["budgets"].([]any)
	if !ok || len(budgets) == 0 {
		return nil, errors.New("there are no budgets")
	}
	first, ok := budgets[0].(map[string]any)
	if !ok {
		return nil, errors.New("the first of budgets is not a map")
	}
	return first, nil
}

// named are the maps whose keys are names, which may be those of fields.
var named = map[string]bool{"labels": true, "annotations": true, "facts": true, "meters": true}

// put sets a value at a key of the map called parent and the path below it; maps
// are merged, and nil removes the key.
func put(doc map[string]any, parent, key string, below []string, value any) error {
	if advice := derived(key); advice != "" && !named[parent] {
		return fmt.Errorf("%s is computed: %s", key, advice)
	}
	inner, isMap := doc[key].(map[string]any)
	if len(below) > 0 {
		if !isMap {
			if doc[key] != nil {
				return fmt.Errorf("%s is not a map", key)
			}
			inner = map[string]any{}
			doc[key] = inner
		}
		return put(inner, key, below[0], below[1:], value)
	}
	if whole, both := value.(map[string]any); both && isMap {
		return putAll(inner, key, whole)
	}
	if value == nil {
		delete(doc, key)
		return nil
	}
	doc[key] = value
	if key == "limit" && doc["unlimited"] == true {
		doc["unlimited"] = false
	}
	return nil
}

func putAll(doc map[string]any, parent string, values map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := put(doc, parent, key, nil, values[key]); err != nil {
			return err
		}
	}
	return nil
}

// fillBudgets makes what a budget does not name unlimited.
func fillBudgets(doc map[string]any) error {
	budgets, _ := doc["budgets"].([]any)
	for i, b := range budgets {
		budget, ok := b.(map[string]any)
		if !ok {
			return fmt.Errorf("set budgets[%d]: want a map", i)
		}
		for _, name := range []string{"cost", "inputTokens", "outputTokens"} {
			if budget[name] == nil {
				budget[name] = map[string]any{"unlimited": true}
			}
		}
	}
	return nil
}
