package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// readBudgets reads TaskBudgets from files and folders and compiles them. All
// faults of all files are reported.
func readBudgets(names []string) ([]*budget.Rule, error) {
	sources, err := readAll(names)
	if err != nil {
		return nil, err
	}
	var rules []*budget.Rule
	var faults []error
	first := map[types.NamespacedName]string{} // where a budget was seen
	for _, s := range sources {
		docs, err := documents(s)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if len(docs) == 0 {
			faults = append(faults, &fault{file: s.name, reason: "no TaskBudget is in it"})
		}
		for _, doc := range docs {
			rule, errs := compileBudget(&doc)
			if len(errs) == 0 && first[rule.Name()] != "" {
				errs = append(errs, doc.at(fault{field: "metadata.name", reason: "TaskBudget " +
					rule.Name().String() + " is there already, at " + first[rule.Name()]}))
			}
			if len(errs) > 0 {
				faults = append(faults, errs...)
				continue
			}
			first[rule.Name()] = doc.place("metadata.name")
			rules = append(rules, rule)
		}
	}
	return rules, errors.Join(faults...)
}

// compileBudget makes a rule of a manifest. budget.Compile finds what is wrong
// with it; an object in Go may lack its kind, a file may not.
func compileBudget(doc *document) (*budget.Rule, []error) {
	if another := doc.anotherKind(); another != nil {
		return nil, []error{another}
	}
	manifest, faults := decodeStrict[budgetv1alpha1.TaskBudget](doc.json)
	rule, more := judge(&manifest)
	return rule, doc.all(alongside(faults, more))
}

// judge compiles a manifest.
func judge(manifest *budgetv1alpha1.TaskBudget) (*budget.Rule, []fault) {
	var faults []fault
	for _, required := range []struct{ field, got string }{{"apiVersion", manifest.APIVersion}, {"kind", manifest.Kind}} {
		if required.got == "" {
			faults = append(faults, fault{field: required.field, reason: "required"})
		}
	}
	for _, problem := range validation.IsDNS1123Subdomain(manifest.Name) {
		if manifest.Name != "" { // Compile says so
			faults = append(faults, fault{field: "metadata.name", reason: problem})
		}
	}
	rule, invalid := budget.Compile(manifest)
	for _, f := range invalid {
		faults = append(faults, fault{field: f.Field, reason: f.ErrorBody()})
	}
	return rule, faults
}

// anotherKind is the one fault of a document that is no TaskBudget at all: what
// else is wrong with it as a TaskBudget helps nobody.
func (d *document) anotherKind() error {
	var head struct {
		Kind any `json:"kind"`
	}
	_ = json.Unmarshal(d.json, &head) // what is no object has no kind, and decoding says so
	switch head.Kind {
	case nil, "", "TaskBudget":
		return nil
	case "List":
		return d.at(fault{field: "kind", reason: "a List is not read: write each TaskBudget as a document of its own, after a line ---"})
	default:
		return d.at(fault{field: "kind", reason: fmt.Sprintf("%v is not read here, only TaskBudget", head.Kind)})
	}
}

// readPrices reads a price list: a YAML document with the one key prices.
func readPrices(name string) (*usage.PriceList, error) {
	s, err := read(name)
	if err != nil {
		return nil, err
	}
	docs, err := documents(s)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, &fault{file: name, reason: "want one document with a list of prices"}
	}
	file, faults := decodeStrict[struct {
		Prices []usage.Price `json:"prices"`
	}](docs[0].json)
	list, err := usage.CompilePrices(file.Prices)
	var more []fault
	switch {
	case len(file.Prices) == 0:
		more = append(more, fault{field: "prices", reason: "required, a list of at least one price"})
	case err != nil:
		for line := range strings.Lines(err.Error()) { // "prices[0].model: required"
			field, reason, _ := strings.Cut(strings.TrimSpace(line), ": ")
			more = append(more, fault{field: field, reason: reason})
		}
	}
	return list, errors.Join(docs[0].all(alongside(faults, more))...)
}
