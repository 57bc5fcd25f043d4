package cel_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar-dev/bursar/internal/policyfixture"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/cel"
)

// Every field reads in CEL what the document's JSON has at the same place.
func TestTheDocumentIsTheStructsJSON(t *testing.T) {
	in := policyfixture.Draft()
	in.Task.Annotations = map[string]string{"note": "n"}
	in.Facts = map[string]string{"region": "eu"}
	in.Usage = policy.Amount{CostMicros: 3, InputTokens: 4, OutputTokens: 6, Source: "Reported", Known: true, CostKnown: true}
	in.Pod.EphemeralBytes, in.Pod.GPUs = 7, 8
	in.Budgets[0].Scope = "team=a"
	in.Budgets[0].Cost.Held = 9
	in.Budgets[0].Meters = map[string]policy.Measure{"gpu": policy.Limited(100, 11, 12)}
	in = in.Complete()
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var doc map[string]any
	if err := decoder.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	visit(doc, "", func(path, literal string) {
		n++
		if path == "now" {
			literal = "timestamp(" + literal + ")"
		}
		h, err := cel.CompileUntried(deny(path + " == " + literal))
		if err != nil {
			t.Error(err)
			return
		}
		if v, err := h.Evaluate(t.Context(), &in); err != nil || v.Outcome != policy.Deny {
			t.Errorf("%s is not %s: %v", path, literal, err)
		}
	})
	if n < 100 {
		t.Errorf("only %d fields were read", n)
	}
}

// visit calls leaf with the path of every scalar, as an expression, and its
// value as a literal.
func visit(value any, path string, leaf func(path, literal string)) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			at := strings.TrimPrefix(path+"."+key, ".")
			if parent := path[strings.LastIndexByte(path, '.')+1:]; parent == "labels" || parent == "annotations" || parent == "facts" || parent == "meters" {
				at = fmt.Sprintf("%s[%q]", path, key)
			}
			visit(inner, at, leaf)
		}
	case []any:
		for i, inner := range v {
			visit(inner, fmt.Sprintf("%s[%d]", path, i), leaf)
		}
	case string:
		leaf(path, strconv.Quote(v))
	default:
		leaf(path, fmt.Sprint(v))
	}
}
